import { match, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readSecretFile } from '../../src/login/login.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('readSecretFile', () => {
  it('makes a secret once, for the service’s account alone', async () => {
    const folder = tempFolder();
    const secret = await readSecretFile(folder);
    match(secret, /^[0-9a-f]{64}$/);
    strictEqual(statSync(join(folder, 'cookie-secret')).mode & 0o777, 0o600);
    strictEqual(await readSecretFile(folder), secret);
    notStrictEqual(await readSecretFile(tempFolder()), secret);
    writeFileSync(join(folder, 'cookie-secret'), `${'x'.repeat(32)}\n`);
    strictEqual(await readSecretFile(folder), 'x'.repeat(32));
    strictEqual(readdirSync(folder).length, 1);
  });

  it('makes another secret for one that a crash has torn', async () => {
    const folder = tempFolder();
    writeFileSync(join(folder, 'cookie-secret'), 'abc');
    const secret = await readSecretFile(folder);
    match(secret, /^[0-9a-f]{64}$/);
    strictEqual(await readSecretFile(folder), secret);
    strictEqual(readdirSync(folder).length, 1);
  });

  it('fails when it cannot be read', async () => {
    const folder = tempFolder();
    mkdirSync(join(folder, 'cookie-secret'));
    await rejects(readSecretFile(folder), { code: 'EISDIR' });
  });
});
