import { ok, strictEqual, deepStrictEqual, throws, match, notStrictEqual, rejects } from 'node:assert/strict';
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import { type AccountId, parseAccountId } from '../../src/bot/commit-message.ts';
import { KeyRing, Sessions, readSecretFile } from '../../src/login/login.ts';
import { isFresh } from '../../src/login/session.ts';
import { noLogOuts } from '../support/no-log-outs.ts';
import { tempFolder } from '../support/temp-folder.ts';

const day = 86_400_000;
const secret = 'a secret of the tests, which is long enough';

describe('Sessions', () => {
  const begin = 1_700_000_000_000;
  let sessions: Sessions;
  const open = async (text: string): Promise<string | undefined> => (await sessions.open(text))?.session.id;

  beforeEach(() => {
    mock.timers.enable({ apis: ['Date'], now: begin });
    sessions = new Sessions(new KeyRing([secret]), 'https://login.example.org', noLogOuts());
  });

  afterEach(() => mock.timers.reset());

  it('hold who has logged in', async () => {
    const { text, seconds } = await sessions.begin(marge());
    strictEqual(seconds, 7 * 86_400);
    const { session, renewal } = (await sessions.open(text)) ?? {};
    strictEqual(session?.id, '2');
    strictEqual(session.name, 'Marge');
    strictEqual(session.loggedInAt, begin);
    strictEqual(renewal, undefined, 'a new one needs no renewal');
  });

  it('are known to every machine with the same secret', async () => {
    const { text } = await sessions.begin(marge());
    const other = new Sessions(new KeyRing([secret]), 'https://login.example.org', noLogOuts());
    strictEqual((await other.open(text))?.session.id, '2');
  });

  it('end a week after they were last used', async () => {
    const { text } = await sessions.begin(marge());
    mock.timers.tick(7 * day + 1000);
    strictEqual(await open(text), undefined);
  });

  it('are renewed by use, once a day at most', async () => {
    const { text } = await sessions.begin(marge());
    mock.timers.tick(day);
    strictEqual((await sessions.open(text))?.renewal, undefined);
    mock.timers.tick(5 * day);
    const { renewal } = (await sessions.open(text)) ?? {};
    ok(renewal);
    mock.timers.tick(5 * day);
    strictEqual(await open(text), undefined);
    strictEqual(await open(renewal.text), '2');
  });

  it('end a month after the login, however much they are used', async () => {
    let { text } = await sessions.begin(marge());
    for (let days = 0; days < 29; days++) {
      mock.timers.tick(day + 1000);
      text = (await sessions.open(text))?.renewal?.text ?? text;
    }
    const last = await sessions.open(text);
    strictEqual(last?.session.id, '2');
    mock.timers.tick(day);
    strictEqual(await open(text), undefined);
  });

  it('are sealed again when there is a newer key', async () => {
    const { text } = await sessions.begin(marge());
    const newer = 'a newer secret of thirty-two characters';
    sessions = new Sessions(new KeyRing([newer, secret]), 'https://login.example.org', noLogOuts());
    const { renewal } = (await sessions.open(text)) ?? {};
    sessions = new Sessions(new KeyRing([newer]), 'https://login.example.org', noLogOuts());
    strictEqual(await open(text), undefined);
    strictEqual(await open(renewal?.text ?? ''), '2');
  });

  it('of another provider are not opened', async () => {
    const { text } = await sessions.begin(marge());
    sessions = new Sessions(new KeyRing([secret]), 'https://other.example.org', noLogOuts());
    strictEqual(await open(text), undefined);
  });

  it('that are no sessions are not opened', async () => {
    const whole = { ...marge(), loggedInAt: begin };
    const parts = [{ id: 'x' }, { id: 2 }, { name: null }, { authenticatedAt: null }, { loggedInAt: null }];
    for (const value of [null, 1, ...parts.map((part) => ({ ...whole, ...part }))]) {
      const text = await new KeyRing([secret]).seal('session of https://login.example.org', value, 60);
      strictEqual(await sessions.open(text), undefined);
    }
  });

  it('are fresh for ten minutes after the account proved who it is, for reviews an hour', () => {
    for (const [act, minutes] of [
      ['token', 10],
      ['review', 60],
    ] as const) {
      ok(isFresh({ authenticatedAt: Date.now() - minutes * 60_000 + 1 }, act));
      ok(!isFresh({ authenticatedAt: Date.now() - minutes * 60_000 }, act));
    }
  });

  function marge(): { id: AccountId; name: string; authenticatedAt: number } {
    const id = parseAccountId('2');
    ok(id);
    return { id, name: 'Marge', authenticatedAt: begin };
  }
});

const newer = 'a newer secret of thirty-two characters';

describe('KeyRing', () => {
  it('opens what it sealed, and its text shows nothing of it', async () => {
    const keys = new KeyRing([newer]);
    const sealed = await keys.seal('test', { name: 'Marge' }, 60);
    deepStrictEqual((await keys.open('test', sealed))?.value, { name: 'Marge' });
    ok(!Buffer.from(sealed, 'base64url').includes('Marge'));
    ok(/^[\w.-]+$/.test(sealed), 'a cookie can hold it as it is');
  });

  it('opens nothing that was changed, cut or made up', async () => {
    const keys = new KeyRing([newer]);
    const sealed = await keys.seal('test', 1, 60);
    const [header = '', , ...rest] = sealed.split('.');
    const unsealed = Buffer.from('{"alg":"none"}').toString('base64url');
    const odd = '{"alg":"dir","enc":"A256GCM","kid":{"toString":0}}';
    for (const text of [
      '',
      'x',
      'a.b.c.d.e',
      sealed.slice(0, -3),
      // Of the last letter only two bits count.
      `${sealed.slice(0, -2)}${sealed.at(-2) === 'A' ? 'B' : 'A'}${sealed.at(-1)}`,
      `${unsealed}.e30.`,
      `${unsealed}..${rest.join('.')}`,
      `${Buffer.from(odd).toString('base64url')}..${rest.join('.')}`,
      `${header}..AAAA.AAAA.AAAA`,
      `${header}.${'A'.repeat(10_000)}`,
    ]) {
      strictEqual(await keys.open('test', text), undefined, text);
    }
  });

  it('cannot be without a secret', () => {
    throws(() => new KeyRing([]), RangeError);
  });
});

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
