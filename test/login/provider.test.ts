import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { mock } from 'node:test';
import { type AuthorizationRequest, Provider } from '../../src/login/provider.ts';
import type { Account, LoginError, LoginErrorKind } from '../../src/login/session.ts';
import { startDiscord } from '../support/discord.ts';
import { eventually } from '../support/eventually.ts';
import { readCases } from '../support/fixture-lines.ts';
import { type Mood, startProvider } from '../support/login-provider.ts';
import { Visitor } from '../support/visitor.ts';

const baseUrl = 'http://localhost:1';
const redirectUri = `${baseUrl}/login/callback`;
const tight = { time: 1000, bytes: 20_000 };

describe('Provider', () => {
  describe('of OpenID Connect', () => {
    it('returns the account, its name and when it proved who it is', async () => {
      const real = await startProvider(baseUrl, { clientAuthMethods: ['client_secret_basic'] });
      const provider = new Provider(real.settings, redirectUri);
      const { id, name, authenticatedAt } = await logIn(provider, '42');
      strictEqual(provider.name, new URL(real.issuer).host);
      ok(real.requests.includes('POST /token Basic'));
      strictEqual(id, '42');
      strictEqual(name, 'Person 42');
      ok(Math.abs(Date.now() - authenticatedAt) < 60_000);
    });

    it('gets the secret in the way that it asks for, and the id is taken from the claim that is set', async () => {
      const method = 'client_secret_post';
      const real = await startProvider(baseUrl, {
        client: { token_endpoint_auth_method: method },
        clientAuthMethods: [method],
        claims: { name: 'Marge', discord_id: '43' },
      });
      const provider = new Provider({ ...real.settings, idClaim: 'discord_id' }, redirectUri);
      strictEqual((await logIn(provider, 'marge@example.org')).id, '43');
      ok(real.requests.includes('POST /token'));
    });

    it('reads the metadata once an hour for many logins, and keeps them while it is away', async () => {
      const real = await startProvider(baseUrl);
      const provider = new Provider(real.settings, redirectUri);
      const countReads = (): number =>
        real.requests.filter((line) => line.includes('openid-configuration')).length;
      await Promise.all([provider.begin(), provider.begin()]);
      await logIn(provider, '42');
      strictEqual(countReads(), 1);
      const now = performance.now() + 3_600_000;
      const clock = mock.method(performance, 'now', () => now);
      try {
        real.answer('/.well-known', 'with HTML');
        await provider.begin();
        strictEqual(countReads(), 2);
        real.answer('/.well-known', 'well');
        for (let i = 0; i < 2; i++) await provider.begin();
        strictEqual(countReads(), 3);
      } finally {
        clock.mock.restore();
      }
    });

    it('takes a name apart that would break a page, and has another or the id where there is none', async () => {
      for (const [claims, expected] of [
        [{ name: ` \u202eEvil\n\u0000 name ${'x'.repeat(80)}` }, `Evil name ${'x'.repeat(50)}`],
        [{ name: '\n', preferred_username: 'marge' }, 'marge'],
        [{ name: 7 }, '42'],
      ] as const) {
        const real = await startProvider(baseUrl, { claims });
        strictEqual((await logIn(new Provider(real.settings, redirectUri), '42')).name, expected);
        // The account's page is read only if the token has no name.
        strictEqual(real.requests.includes('GET /me Bearer'), expected === '42');
      }
    });

    it('that has no page of accounts is believed for what is in its token', async () => {
      const real = await startProvider(baseUrl, { claims: { name: 7 }, hasUserInfo: false });
      const { id, name } = await logIn(new Provider(real.settings, redirectUri), '42');
      deepStrictEqual([id, name], ['42', '42']);
    });

    for (const claim of [undefined, 42, '', '4 2', '123456789012345678901', null, ['42']]) {
      it(`refuses an account whose id is ${JSON.stringify(claim) ?? 'missing'}`, async () => {
        const real = await startProvider(baseUrl, { claims: { account: claim } });
        const provider = new Provider({ ...real.settings, idClaim: 'account' }, redirectUri);
        await rejects(logIn(provider, '42'), { kind: 'no-account' satisfies LoginErrorKind });
      });
    }

    it('that is another than its address says is not trusted', async () => {
      const real = await startProvider(baseUrl);
      const issuer = real.issuer.replace('127.0.0.1', 'localhost');
      const provider = new Provider({ ...real.settings, issuer }, redirectUri);
      await rejects(provider.begin(), { kind: 'invalid-response' });
    });
  });

  describe('that redirects a person back', () => {
    it('with an error: the person or the provider refused, it is away, or does not know this service', async () => {
      const real = await startProvider(baseUrl);
      const provider = new Provider(real.settings, redirectUri);
      const { request } = await provider.begin();
      for (const { input: error, expected } of readCases('login-errors')) {
        const parameters = new URLSearchParams({ error, state: request.state, iss: real.settings.issuer });
        await rejects(provider.finish(parameters, request), { kind: expected[0] }, error);
      }
    });

    it('asks who they are again where another account is wanted', async () => {
      const provider = new Provider((await startProvider(baseUrl)).settings, redirectUri);
      const asked = async (asAnother?: boolean): Promise<URLSearchParams> =>
        new URL((await provider.begin(asAnother)).url).searchParams;
      strictEqual((await asked(true)).get('prompt'), 'login');
      strictEqual((await asked()).get('prompt'), null);
      strictEqual((await asked()).get('max_age'), '300');
      strictEqual((await asked()).get('scope'), 'openid profile');
    });
  });

  describe('that does not respond correctly', () => {
    for (const mood of [
      'not at all',
      'without end',
      'with status 500',
      'with status 500 and JSON',
      'with HTML',
    ] satisfies Mood[]) {
      it(`is away when it answers ${mood}, until it does`, async () => {
        const real = await startProvider(baseUrl);
        const provider = new Provider(real.settings, redirectUri, tight);
        real.answer('/.well-known', mood);
        await rejects(provider.begin(), { kind: 'unavailable' });
        real.answer('/.well-known', 'well');
        await eventually(async () => strictEqual((await logIn(provider, '42')).id, '42'));
      });

      it(`is away when it answers ${mood} where tokens or accounts are requested @slow`, async () => {
        for (const path of ['/token', '/me']) {
          const real = await startProvider(baseUrl);
          const provider = new Provider(real.settings, redirectUri, tight);
          await eventually(async () => await provider.begin());
          real.answer(path, mood);
          await rejects(logIn(provider, '42'), { kind: 'unavailable' }, path);
        }
      });
    }

    it('is away when nothing listens there', async () => {
      const real = await startProvider(baseUrl);
      await real.leave();
      await rejects(new Provider(real.settings, redirectUri).begin(), { kind: 'unavailable' });
    });
  });

  describe('Discord', () => {
    it('returns the account from /users/@me, and asks for consent again', async () => {
      const discord = await startDiscord(baseUrl);
      const provider = new Provider(discord.settings, redirectUri);
      const account = await throughDiscord(provider);
      strictEqual(provider.name, 'Discord');
      strictEqual(account.id, '80351110224678912');
      strictEqual(account.name, 'Nelly');
      ok(Math.abs(Date.now() - account.authenticatedAt) < 60_000);
      strictEqual(new URL((await provider.begin(true)).url).searchParams.get('prompt'), 'consent');
      const [asked] = discord.asked;
      deepStrictEqual(
        ['scope', 'prompt', 'code_challenge_method', 'response_type', 'nonce'].map((name) =>
          asked?.get(name),
        ),
        ['identify', 'consent', 'S256', 'code', null],
      );
    });

    for (const [userStatus, user, expected] of [
      [200, { id: '42', username: 'nelly', global_name: null }, 'nelly'],
      [200, null, 'unavailable'],
      [200, 'x', 'unavailable'],
      [200, { id: 42 }, 'no-account'],
      [500, { message: '500: Internal Server Error', code: 0 }, 'unavailable'],
      [500, { id: '42' }, 'unavailable'],
    ] as const)
      it(`that responds with ${userStatus} and ${JSON.stringify(user)} leads to ${expected}`, async () => {
        const discord = Object.assign(await startDiscord(baseUrl), { user, userStatus });
        const account = throughDiscord(new Provider(discord.settings, redirectUri));
        const result = account.then(
          ({ name }) => name,
          ({ kind }: LoginError) => kind,
        );
        strictEqual(await result, expected);
      });

    it('that does not take the secret is the operator’s to mend', async () => {
      const discord = await startDiscord(baseUrl);
      const provider = new Provider({ ...discord.settings, clientSecret: 'wrong' }, redirectUri);
      await rejects(throughDiscord(provider), ({ name, kind, message, cause }: LoginError) => {
        deepStrictEqual([name, kind], ['LoginError', 'misconfigured']);
        match(message, /^Discord does not accept this service/);
        return cause instanceof Error;
      });
      const real = await startProvider(baseUrl, { clientAuthMethods: ['client_secret_basic'] });
      const other = new Provider({ ...real.settings, clientSecret: 'x' }, redirectUri);
      await rejects(logIn(other, '42'), { kind: 'misconfigured' });
    });

    it('takes a code once, and with the verifier of its login alone', async () => {
      const discord = await startDiscord(baseUrl);
      const provider = new Provider(discord.settings, redirectUri);
      const { request, parameters } = await back(provider);
      const other = await provider.begin();
      const mixed: AuthorizationRequest = { ...request, verifier: other.request.verifier };
      await rejects(provider.finish(parameters, mixed), { kind: 'stale' });
      strictEqual((await provider.finish(parameters, request)).name, 'Nelly');
      await rejects(provider.finish(parameters, request), { kind: 'stale' });
    });
  });
});

async function logIn(provider: Provider, account: string): Promise<Account> {
  const { url, request } = await provider.begin();
  const visitor = new Visitor();
  visitor.stopBefore = baseUrl;
  const { url: returned } = await visitor.logIn(await visitor.go(url), account);
  return await provider.finish(returned.searchParams, request);
}

async function throughDiscord(provider: Provider): Promise<Account> {
  const { request, parameters } = await back(provider);
  return await provider.finish(parameters, request);
}

async function back(
  provider: Provider,
): Promise<{ request: AuthorizationRequest; parameters: URLSearchParams }> {
  const { url, request } = await provider.begin();
  const visitor = new Visitor();
  visitor.stopBefore = baseUrl;
  return { request, parameters: (await visitor.go(url)).url.searchParams };
}
