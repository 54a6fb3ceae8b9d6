import { match, ok, strictEqual } from 'node:assert/strict';
import { readConfig } from '../../src/app/config.ts';
import { createRemoteNotice } from '../../src/sync/sync.ts';

describe('the notice that a clone is not in step with its Git host', () => {
  const origin = { remote: 'https://shelf:key@git.example.org/bots.git', branch: 'main', prefix: '' };

  const env = { BOTSHELF_BASE_URL: 'https://bots.example.org' };

  it('names the setting and the remote, without its password', () => {
    const notice = createRemoteNotice(readConfig(env), origin) ?? '';
    match(
      notice,
      /origin \(https:\/\/git\.example\.org\/bots\.git\), but BOTSHELF_REMOTE is not set: merged/,
    );
    ok(!notice.includes('key'));
  });

  it('is not there with the setting, without an origin, and for somebody who edits the catalogue or tries the service in a fresh clone', () => {
    strictEqual(createRemoteNotice(readConfig({ ...env, BOTSHELF_REMOTE: 'origin' }), origin), null);
    strictEqual(createRemoteNotice(readConfig(env), null), null);
    strictEqual(createRemoteNotice(readConfig({ ...env, BOTSHELF_DEV: 'on' }), origin), null);
    strictEqual(createRemoteNotice(readConfig({}), origin), null);
  });
});
