import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { ConfigError, readConfig } from '../src/config.ts';
import { testRepository } from './support/repository.ts';
import { mainPage, pagePath } from './support/sample.ts';
import { startServiceProcess } from './support/service-process.ts';

describe('the configuration of a remote', () => {
  it('is none unless there is one', () => {
    strictEqual(readConfig({}).remote, null);
  });

  it('has what is set, and defaults for the rest', () => {
    deepStrictEqual(readConfig({ BOTSHELF_REMOTE: 'origin', BOTSHELF_ACK: 'remote' }).remote, {
      remote: 'origin',
      branch: null,
      syncSeconds: 60,
      pushSeconds: 10,
      ack: 'remote',
      webhookSecret: null,
    });
  });

  it('names every fault, and what to give', () => {
    for (const [env, fault] of [
      [{ BOTSHELF_REMOTE: '--upload-pack=x' }, /BOTSHELF_REMOTE begins with -/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_BRANCH: 'a b' }, /BOTSHELF_BRANCH is "a b"/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_ACK: 'never' }, /set it to "local" or "remote"/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_SYNC_SECONDS: '0' }, /BOTSHELF_SYNC_SECONDS is "0"/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_WEBHOOK_SECRET: '15 characters .' }, /_SECRET has fewer than 16/],
      [{ BOTSHELF_WEBHOOK_SECRET: 'x' }, /BOTSHELF_WEBHOOK_SECRET is set, but BOTSHELF_REMOTE is not/],
    ] as const) {
      throws(
        () => readConfig(env),
        (error) => {
          match(error instanceof ConfigError ? error.message : '', fault);
          return true;
        },
      );
    }
  });
});

describe('the contact for security', () => {
  it('is a URI; a mail address becomes one', () => {
    const contactOf = (value: string): string | null =>
      readConfig({ BOTSHELF_SECURITY_CONTACT: value }).securityContact;
    strictEqual(readConfig({}).securityContact, null);
    strictEqual(contactOf('security@example.org'), 'mailto:security@example.org');
    strictEqual(contactOf('mailto:security@example.org'), 'mailto:security@example.org');
    strictEqual(contactOf('https://example.org/security'), 'https://example.org/security');
  });

  it('is refused where it is neither a mail address nor a link', () => {
    for (const value of [
      'nobody',
      'http://example.org',
      'javascript:alert(1)',
      'https://a b',
      'a@b.c\nExpires: x',
    ])
      throws(
        () => readConfig({ BOTSHELF_SECURITY_CONTACT: value }),
        /BOTSHELF_SECURITY_CONTACT is .*: give a/,
      );
  });
});

describe('a variable of the environment that means nothing', () => {
  const list = fileURLToPath(new URL('docs/configuration.md', import.meta.resolve('#package')));
  const documented = readFileSync(list, 'utf8').match(/(?<=^- `)BOTSHELF_\w+/gm) ?? [];

  it('is reported with the nearest known name; a documented one is not', () => {
    ok(documented.length > 20);
    const values = { BOTSHELF_REMOTE: 'origin', BOTSHELF_ACK: 'local', BOTSHELF_STATE_SECNODS: '5' };
    deepStrictEqual(readConfig({ ...values, HOME: '/', BOTSHELF_CATALOG: 'x' }).unknown, [
      'BOTSHELF_STATE_SECNODS is set, but there is no such setting: did you mean BOTSHELF_STATE_SECONDS?',
      'BOTSHELF_CATALOG is set, but there is no such setting: did you mean BOTSHELF_CATALOGUE?',
    ]);
    deepStrictEqual(readConfig(Object.fromEntries(documented.map((name) => [name, '']))).unknown, []);
  });

  it('is logged at the start', async () => {
    const { folder } = testRepository({ [pagePath('1')]: mainPage() });
    const service = await startServiceProcess(folder, { BOTSHELF_PORT: '80' });
    service.expectLog(/BOTSHELF_PORT is set, but there is no such setting/);
    await service.end('SIGTERM');
  });
});

describe('the port for probes', () => {
  it('is another one than the port for everything else', () => {
    throws(
      () => readConfig({ PORT: '81', BOTSHELF_PROBE_PORT: '81' }),
      /BOTSHELF_PROBE_PORT is 81, as PORT is/,
    );
  });
});
