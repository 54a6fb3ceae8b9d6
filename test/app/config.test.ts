import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../src/app/config.ts';
import { UserError } from '../../src/lib/errors.ts';
import { isSecureOrigin } from '../../src/login/session.ts';
import { botshelf } from '../support/command-line.ts';
import { readCases } from '../support/fixture-lines.ts';
import { tempFolder } from '../support/temp-folder.ts';

const list = fileURLToPath(new URL('docs/configuration.md', import.meta.resolve('#package')));
const documented = readFileSync(list, 'utf8').match(/(?<=^- `)BOTSHELF_\w+/gm) ?? [];

describe('a setting that cannot be used', () => {
  for (const { input, expected } of readCases('config-faults'))
    it(`is named, with what to give and no secret: ${input}`, () => {
      throws(
        () => readConfig(JSON.parse(input) as NodeJS.ProcessEnv),
        (error) => {
          ok(error instanceof UserError);
          deepStrictEqual(error.message.split('\n'), expected);
          return true;
        },
      );
    });
});

describe('a setting that can be used', () => {
  for (const { title, input, expected } of readCases('config-values'))
    it(`is read: ${title}`, () => {
      const config: Readonly<Record<string, unknown>> = {
        ...readConfig(JSON.parse(input) as NodeJS.ProcessEnv),
      };
      for (const line of expected) {
        const [, name = '', value = ''] = /^(\w+) (.+)$/.exec(line) ?? [];
        deepStrictEqual(config[name], JSON.parse(value), name);
      }
    });
});

describe('an address of which the login may set cookies', () => {
  it('is https, or on this machine', () => {
    for (const url of ['https://a.example', 'http://localhost:8080', 'http://127.0.0.12:1', 'http://[::1]:1'])
      ok(isSecureOrigin(url), url);
    const others = ['http://a.example', 'ftp://localhost', 'http://192.168.0.1', 'http://localhost.example'];
    for (const url of [...others, 'http://evil-localhost', 'http://127.0.0.1.example'])
      ok(!isSecureOrigin(url), url);
  });
});

describe('a secret from a file', () => {
  const folder = tempFolder();
  const file = (name: string, content: string | Buffer): string => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  const secret = 'a-secret-of-more-than-32-characters';

  it('is read from the file that NAME_FILE names, for each setting that holds one', () => {
    const config = readConfig({
      BOTSHELF_SECRET_FILE: file('seal', `${secret}, ${secret}2\n`),
      BOTSHELF_REMOTE_FILE: file('remote', 'https://shelf:key@git.example.org/bots.git\r\n'),
      BOTSHELF_WEBHOOK_SECRET_FILE: file('webhook', ` ${secret}\n\n`),
      BOTSHELF_OAUTH_PROVIDER: 'discord',
      BOTSHELF_OAUTH_CLIENT_ID: '1',
      BOTSHELF_OAUTH_CLIENT_SECRET_FILE: file('client', secret),
    });
    deepStrictEqual(
      [config.secrets, config.remote?.remote, config.remote?.webhookSecret, config.login?.clientSecret],
      [[secret, `${secret}2`], 'https://shelf:key@git.example.org/bots.git', ` ${secret}\n`, secret],
    );
    deepStrictEqual(config.unknown, []);
  });

  it('is read from a credential of systemd with the name of the setting', () => {
    file('BOTSHELF_SECRET', secret);
    deepStrictEqual(readConfig({ CREDENTIALS_DIRECTORY: folder }).secrets, [secret]);
  });

  it('stops the start, in one sentence without the secret, where it cannot be used or is given twice', () => {
    file('BOTSHELF_WEBHOOK_SECRET', secret);
    mkdirSync(join(folder, 'folder'));
    execFileSync('mkfifo', [join(folder, 'pipe')]);
    for (const [name, content] of Object.entries({
      empty: '\n',
      large: 'x'.repeat(16_385),
      nul: `${secret}\0`,
    }))
      file(name, content);
    file('bytes', Buffer.from([0xff, 0xfe]));
    for (const { input, expected } of readCases('secret-faults'))
      throws(
        () => readConfig(JSON.parse(input.replaceAll('FOLDER', folder)) as NodeJS.ProcessEnv),
        (error) => {
          const message = error instanceof UserError ? error.message.replaceAll(folder, 'FOLDER') : '';
          ok(message.includes(expected.join()) && !message.includes(secret), message);
          return !message.includes('\n');
        },
      );
  });

  it('ends the service with status 2 where it cannot be read', async () => {
    const run = await botshelf(folder, ['serve'], { env: { BOTSHELF_SECRET_FILE: '/no/file' } });
    deepStrictEqual([run.code, run.stderr.match(/\n/g)?.length], [2, 1]);
    match(run.stderr, /^BOTSHELF_SECRET_FILE cannot be used: /);
  });

  it('is documented for each setting that holds one', () => {
    const read: string[] = [];
    readConfig(new Proxy({}, { get: (_, name) => void read.push(String(name)) }));
    const names = documented.filter((name) => name.endsWith('_FILE'));
    deepStrictEqual(names.toSorted(), [...new Set(read)].filter((name) => name.endsWith('_FILE')).toSorted());
  });
});

describe('botshelf settings', () => {
  it('lists every setting that the configuration reads, with its default, and no other', async () => {
    const read: string[] = [];
    readConfig(new Proxy({}, { get: (_, name) => void read.push(String(name)) }));
    const { stdout } = await botshelf(tempFolder(), ['settings']);
    const listed = stdout.match(/^[A-Z_]+$/gm) ?? [];
    const others = new Set(['CREDENTIALS_DIRECTORY', 'JOURNAL_STREAM', 'NODE_ENV', 'NOTIFY_SOCKET']);
    deepStrictEqual(listed.toSorted(), [...new Set(read)].filter((name) => !others.has(name)).toSorted());
    match(stdout, /^PORT\n {2}8080: the port to listen on/m);
  });

  it('has what is in force and where it is from, and never a secret', async () => {
    const file = join(tempFolder(), 'webhook');
    writeFileSync(file, 'word-of-sixteen-letters');
    const env = {
      PORT: '9090',
      BOTSHELF_REMOTE: 'https://homer:hush@git.example.org/a.git',
      BOTSHELF_WEBHOOK_SECRET_FILE: file,
    };
    const { stdout } = await botshelf(tempFolder(), ['settings'], { env });
    const now = (name: string): string | undefined =>
      new RegExp(`^${name}\\n(?: {2}.*\\n)*? {2}now: (.*)$`, 'm').exec(stdout)?.[1];
    deepStrictEqual(
      ['PORT', 'HOST', 'BOTSHELF_REMOTE', 'BOTSHELF_WEBHOOK_SECRET', 'BOTSHELF_WEBHOOK_SECRET_FILE'].map(now),
      [
        '9090, from the environment',
        'the default',
        'set, from the environment',
        'set, from BOTSHELF_WEBHOOK_SECRET_FILE',
        `${file}, from the environment`,
      ],
    );
    strictEqual(/hush|word-of/.exec(stdout), null);
  });

  it('is named by the help of serve with the most used ones', async () => {
    const { stdout } = await botshelf(tempFolder(), ['serve', '--help']);
    match(stdout, /botshelf settings lists/);
    for (const [name] of stdout.matchAll(/\bBOTSHELF_[A-Z_]+/g))
      ok(new Set<string>(documented).has(name), name);
    match((await botshelf(tempFolder(), ['demo', '--help'])).stdout, /settings are HOST and PORT/);
  });
});

describe('a variable of the environment that means nothing', () => {
  it('is reported with the nearest known name; a documented one is not', () => {
    ok(documented.length > 20);
    const values = { BOTSHELF_REMOTE: 'origin', BOTSHELF_ACK: 'local', BOTSHELF_STATE_SECNODS: '5' };
    deepStrictEqual(readConfig({ ...values, HOME: '/', BOTSHELF_CATALOG: 'x' }).unknown, [
      'BOTSHELF_STATE_SECNODS is set, but there is no such setting: did you mean BOTSHELF_STATE_SECONDS?',
      'BOTSHELF_CATALOG is set, but there is no such setting: did you mean BOTSHELF_CATALOGUE?',
    ]);
    deepStrictEqual(readConfig(Object.fromEntries(documented.map((name) => [name, '']))).unknown, []);
  });
});
