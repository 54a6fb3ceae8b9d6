import { deepStrictEqual, match, strictEqual, throws } from 'node:assert/strict';
import { ConfigError, readConfig } from '../src/config.ts';

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
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_ACK: 'never' }, /give "local" or "remote"/],
      [{ BOTSHELF_REMOTE: 'o', BOTSHELF_SYNC_SECONDS: '0' }, /BOTSHELF_SYNC_SECONDS is "0"/],
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
