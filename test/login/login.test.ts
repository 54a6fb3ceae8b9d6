import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { silentLog } from '../../src/lib/log.ts';
import { DemoProvider } from '../../src/login/demo-provider.ts';
import { Login } from '../../src/login/login.ts';
import { type IdentityProvider, Provider } from '../../src/login/provider.ts';
import { LoginError, type LoginErrorKind, parseReturnPath } from '../../src/login/session.ts';
import { atTime } from '../support/at-time.ts';
import { fixtureLines } from '../support/fixture-lines.ts';
import { noLogOuts } from '../support/no-log-outs.ts';
import { type RecordedLog, recordedLog } from '../support/recorded-log.ts';
import { accountId } from '../support/sample.ts';

describe('the age of an account', () => {
  const findCreation = (kind: 'discord' | 'oidc'): number | undefined => {
    const login = { kind, issuer: 'https://discord.com', clientId: 'a', clientSecret: 'b', idClaim: 'sub' };
    const options = {
      provider: new Provider(login, 'https://a.example/login/callback'),
      secrets: ['x'.repeat(32)],
      logOuts: noLogOuts(),
      baseUrl: 'https://a.example',
      log: silentLog,
    };
    return new Login(options).findCreation(accountId('175928847299117063'));
  };

  it('is in the id of an account of Discord, and of no other', () => {
    strictEqual(new Date(findCreation('discord') ?? 0).toISOString(), '2016-04-30T11:18:25.796Z');
    strictEqual(findCreation('oidc'), undefined);
  });
});

describe('a login', () => {
  const people = new DemoProvider();
  const [marge] = people.people;
  const back = new URLSearchParams({ account: marge?.id ?? '' });
  let log: RecordedLog;
  const loginAt = (baseUrl = 'https://a.example/shelf', provider: IdentityProvider = people): Login =>
    new Login({ provider, secrets: ['x'.repeat(32)], baseUrl, logOuts: noLogOuts(), log });
  const failing = (reason: unknown): IdentityProvider => ({
    kind: 'oidc',
    name: 'Example',
    issuer: 'https://example.org',
    begin: async () => await Promise.reject(reason),
    finish: async () => await Promise.reject(reason),
  });
  beforeEach(() => {
    log = recordedLog();
  });

  it('leads to the session of the person, and back to the page where it began', async () => {
    const login = loginAt();
    strictEqual(login.provider, 'Demo');
    strictEqual(login.basePath, '/shelf');
    const { url, cookie } = await login.begin('/shelf/bots/42/token', false);
    strictEqual(url, '/login/people');
    strictEqual(cookie.seconds, 600);
    const { session, to } = await login.finish(back, cookie.text);
    strictEqual(to, '/shelf/bots/42/token');
    strictEqual((await login.sessions.open(session.text))?.session.id, marge?.id);
    for (const path of ['//evil.example', undefined])
      strictEqual((await login.finish(back, (await login.begin(path, false)).cookie.text)).to, '/shelf/');
  });

  it('of a demo is that of the person who was chosen, and of no other', async () => {
    const { url, request } = await people.begin();
    deepStrictEqual([url, request], ['/login/people', { state: '', verifier: '', nonce: null }]);
    for (const { id, name } of people.people) {
      const account = await people.finish(new URLSearchParams({ account: id }));
      deepStrictEqual([account.id, account.name], [id, name]);
    }
    for (const account of ['', '1'])
      await rejects(people.finish(new URLSearchParams({ account })), { kind: 'denied' });
    await rejects(people.finish(new URLSearchParams()), { kind: 'denied' });
  });

  it('hands on whether another account is wanted, and the request of the provider', async () => {
    const asked: unknown[] = [];
    const request = { state: 'a', verifier: 'b', nonce: 'c' };
    const login = loginAt('https://a.example', {
      ...failing(undefined),
      begin: async (asAnother) => {
        asked.push(asAnother);
        return await Promise.resolve({ url: 'https://example.org/', request });
      },
      finish: async (...all) => {
        asked.push(...all);
        return await people.finish(back);
      },
    });
    const { cookie } = await login.begin('/docs', true);
    strictEqual((await login.finish(back, cookie.text)).to, '/docs');
    deepStrictEqual(asked, [true, back, request]);
  });

  it('is over after ten minutes, and only the browser that began it can finish it', async () => {
    const login = loginAt();
    const stale = { kind: 'stale' satisfies LoginErrorKind };
    await rejects(login.finish(back, undefined), stale);
    await rejects(login.finish(back, 'made up'), stale);
    const session = await login.sessions.begin({ ...(await people.finish(back)) });
    await rejects(login.finish(back, session.text), stale);
    const { cookie } = await login.begin('/', false);
    await atTime(Date.now() + 601_000, async () => await rejects(login.finish(back, cookie.text), stale));
  });

  it('needs https, or this machine', async () => {
    strictEqual(loginAt('http://localhost:8080').disabledReason, null);
    const login = loginAt('http://a.example');
    match(login.disabledReason ?? '', /needs https, and this service is at http:\/\/a\.example/);
    await rejects(login.begin('/', false), { kind: 'misconfigured' satisfies LoginErrorKind });
  });

  it('that fails is logged once where the operator can mend it, with the reasons and nothing else', async () => {
    const fields: unknown[] = [];
    log.warn = (more: object, message: string) => void (fields.push(more), log.lines.push(message));
    const secret = Object.assign(new Error('no such client', { cause: new Error('y'.repeat(400)) }), {
      error: 'invalid_client',
      secret: 'not shown',
    });
    for (const kind of ['unavailable', 'invalid-response', 'misconfigured'] as const) {
      const error = new LoginError(kind, `it is ${kind}`, { cause: secret });
      const login = loginAt('https://a.example', failing(error));
      for (let i = 0; i < 2; i++) await rejects(login.begin('/', false), { kind });
      deepStrictEqual(log.lines.splice(0), [`a login failed: it is ${kind}`]);
      deepStrictEqual(fields.splice(0), [
        { login: kind, because: ['invalid_client: no such client', 'y'.repeat(300)] },
      ]);
    }
    const kinds = ['denied', 'stale', 'no-account'] as const;
    for (const error of [...kinds.map((kind) => new LoginError(kind, 'no')), new Error('no')])
      await rejects(loginAt('https://a.example', failing(error)).begin('/', false), error);
    deepStrictEqual(log.lines, []);
  });

  it('that fails on the way back is logged too, with five reasons at most', async () => {
    let cause: unknown = { error: 'no error' };
    for (let n = 7; n > 0; n--) cause = Object.assign(new Error(`${n}`, { cause }), { error: n });
    const begin = people.begin.bind(people);
    const login = loginAt('https://a.example', {
      ...failing(new LoginError('unavailable', 'it is away', { cause })),
      begin,
    });
    const fields: unknown[] = [];
    log.warn = (more: object) => void fields.push(more);
    const { cookie } = await login.begin('/', false);
    await rejects(login.finish(back, cookie.text), { kind: 'unavailable' });
    deepStrictEqual(fields, [{ login: 'unavailable', because: ['1', '2', '3', '4', '5'] }]);
  });
});

describe('returnPath', () => {
  it('is a page of the site, as it was requested', () => {
    for (const path of fixtureLines('return-paths-valid.txt')) strictEqual(parseReturnPath(path), path);
  });

  it('is below the path of the public address', () => {
    strictEqual(parseReturnPath('/shelf/bots/42/token', '/shelf'), '/shelf/bots/42/token');
    for (const text of [undefined, '/', '/bots/42', '/shelf/login', '/shelfs/docs', '/shelf//evil.example'])
      strictEqual(parseReturnPath(text, '/shelf'), '/shelf/');
  });

  it('is the front page for anything else', () => {
    const long = [`/${'a'.repeat(81)}`, `/?${'a'.repeat(1001)}`];
    const texts = fixtureLines('return-paths-invalid.txt').map((line) => JSON.parse(line) as string);
    for (const text of [undefined, ...long, ...texts]) strictEqual(parseReturnPath(text), '/', text);
  });
});
