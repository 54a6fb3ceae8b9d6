import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readConfig } from '../../src/app/config.ts';
import { isSecureOrigin } from '../../src/login/session.ts';

const client = { BOTSHELF_OAUTH_CLIENT_ID: 'us', BOTSHELF_OAUTH_CLIENT_SECRET: 'secret' };
const good = 'a'.repeat(32);

describe('the settings of the login', () => {
  it('are none when none is set', () => {
    strictEqual(readConfig({}).login, null);
    strictEqual(readConfig({ BOTSHELF_OAUTH_CLIENT_ID: ' ' }).login, null);
    deepStrictEqual(readConfig({}).secrets, []);
  });

  it('name Discord, which is known, or any provider of OpenID Connect by its issuer', () => {
    const [clientId, clientSecret] = ['us', 'secret'];
    deepStrictEqual(readConfig({ ...client, BOTSHELF_OAUTH_PROVIDER: 'Discord' }).login, {
      kind: 'discord',
      issuer: 'https://discord.com',
      clientId,
      clientSecret,
      idClaim: 'sub',
    });
    const issuer = 'https://login.example.org/realms/bots';
    deepStrictEqual(
      readConfig({ ...client, BOTSHELF_OAUTH_ISSUER: issuer, BOTSHELF_OAUTH_ID_CLAIM: 'discord_id' }).login,
      { kind: 'oidc', issuer, clientId, clientSecret, idClaim: 'discord_id' },
    );
  });

  it('have a ring of secrets, the newest first', () => {
    const newer = 'b'.repeat(40);
    deepStrictEqual(readConfig({ BOTSHELF_SECRET: ` ${newer},\n${good} ` }).secrets, [newer, good]);
  });

  it('work where cookies travel encrypted, or never leave the machine', () => {
    for (const url of ['https://a.example', 'http://localhost:8080', 'http://127.0.0.12:1', 'http://[::1]:1'])
      ok(isSecureOrigin(url), url);
    const others = ['http://a.example', 'ftp://localhost', 'http://192.168.0.1', 'http://localhost.example'];
    for (const url of [...others, 'http://evil-localhost', 'http://127.0.0.1.example'])
      ok(!isSecureOrigin(url), url);
  });
});
