import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import { type Config, ConfigError, readConfig } from '../../src/app/config.ts';
import { isSecureOrigin } from '../../src/login/settings.ts';

const client = { BOTSHELF_OAUTH_CLIENT_ID: 'us', BOTSHELF_OAUTH_CLIENT_SECRET: 'secret' };
const good = 'a'.repeat(32);

describe('the settings of the login', () => {
  it('are none when none is set', () => {
    strictEqual(readConfig({}).login, null);
    strictEqual(readConfig({ BOTSHELF_OAUTH_CLIENT_ID: ' ' }).login, null);
    deepStrictEqual(readConfig({}).secrets, []);
  });

  it('name Discord, which is known', () => {
    deepStrictEqual(readConfig({ ...client, BOTSHELF_OAUTH_PROVIDER: 'Discord' }).login, {
      kind: 'discord',
      issuer: 'https://discord.com',
      clientId: 'us',
      clientSecret: 'secret',
      idClaim: 'sub',
    } satisfies Config['login']);
  });

  it('name any provider of OpenID Connect by its issuer', () => {
    const { login } = readConfig({
      ...client,
      BOTSHELF_OAUTH_ISSUER: 'https://login.example.org/realms/bots',
      BOTSHELF_OAUTH_ID_CLAIM: 'discord_id',
    });
    deepStrictEqual(login, {
      kind: 'oidc',
      issuer: 'https://login.example.org/realms/bots',
      clientId: 'us',
      clientSecret: 'secret',
      idClaim: 'discord_id',
    } satisfies Config['login']);
  });

  for (const [env, ...expected] of [
    [
      { BOTSHELF_OAUTH_PROVIDER: 'github' },
      /PROVIDER is "github": give "discord"/,
      /CLIENT_ID/,
      /CLIENT_SECRET/,
    ],
    [{ BOTSHELF_OAUTH_PROVIDER: 'discord' }, /CLIENT_ID is not set/, /CLIENT_SECRET is not set/],
    [{ BOTSHELF_OAUTH_CLIENT_ID: 'us', BOTSHELF_OAUTH_PROVIDER: 'discord' }, /CLIENT_SECRET is not set/],
    [{ ...client, BOTSHELF_OAUTH_ID_CLAIM: 'sub' }, /BOTSHELF_OAUTH_PROVIDER is not set/],
    [
      {
        ...client,
        BOTSHELF_OAUTH_PROVIDER: 'discord',
        BOTSHELF_OAUTH_ISSUER: 'https://a.example',
        BOTSHELF_OAUTH_ID_CLAIM: 'sub',
      },
      /ISSUER is for another/,
    ],
    [
      { ...client, BOTSHELF_OAUTH_PROVIDER: 'discord', BOTSHELF_OAUTH_ID_CLAIM: 'x' },
      /ID_CLAIM is for another/,
    ],
    [{ ...client, BOTSHELF_OAUTH_ISSUER: 'http://login.example.org' }, /ISSUER is "http:\/\/login/],
    [{ ...client, BOTSHELF_OAUTH_ISSUER: 'login.example.org' }, /ISSUER is "login/],
    [{ ...client, BOTSHELF_OAUTH_ISSUER: 'https://a.example/?x' }, /ISSUER is/],
    [
      { ...client, BOTSHELF_OAUTH_ISSUER: 'https://a.example', BOTSHELF_OAUTH_ID_CLAIM: 'a b' },
      /ID_CLAIM is "a b"/,
    ],
    [{ BOTSHELF_SECRET: 'short' }, /SECRET has a secret of fewer than 32/],
    [{ BOTSHELF_SECRET: `${good},short` }, /SECRET has a secret of fewer/],
    [{ BOTSHELF_SECRET: `${good} ${good}` }, /SECRET has a secret twice/],
  ] as const satisfies readonly (readonly [Record<string, string>, ...RegExp[]])[]) {
    it(`are refused as ${JSON.stringify(env)}, each fault by its name`, () => {
      throws(
        () => readConfig(env),
        (error) => {
          ok(error instanceof ConfigError);
          strictEqual(error.faults.length, expected.length, error.message);
          for (const [i, words] of expected.entries()) match(error.faults[i] ?? '', words);
          ok(!error.message.includes('short') && !error.message.includes(good), 'a secret is not shown');
          return true;
        },
      );
    });
  }

  it('have a ring of secrets, the newest first', () => {
    const newer = 'b'.repeat(40);
    deepStrictEqual(readConfig({ BOTSHELF_SECRET: ` ${newer},\n${good} ` }).secrets, [newer, good]);
  });

  it('work where cookies travel encrypted, or never leave the machine', () => {
    for (const url of ['https://a.example', 'http://localhost:8080', 'http://127.0.0.12:1', 'http://[::1]:1'])
      ok(isSecureOrigin(url), url);
    for (const url of [
      'http://a.example',
      'ftp://localhost',
      'http://192.168.0.1',
      'http://localhost.example',
      'http://evil-localhost',
      'http://127.0.0.1.example',
    ])
      ok(!isSecureOrigin(url), url);
  });
});
