import { ok, strictEqual } from 'node:assert/strict';
import { mock } from 'node:test';
import { type AccountId, parseAccountId } from '../../src/bot/commit-message.ts';
import { KeyRing, isFresh, Sessions } from '../../src/login/login.ts';

const day = 86_400_000;
const secret = 'a secret of the tests, which is long enough';

describe('Sessions', () => {
  const begin = 1_700_000_000_000;
  let sessions: Sessions;
  const open = async (text: string): Promise<string | undefined> => (await sessions.open(text))?.session.id;

  beforeEach(() => {
    mock.timers.enable({ apis: ['Date'], now: begin });
    sessions = new Sessions(new KeyRing([secret]), 'https://login.example.org');
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
    sessions = new Sessions(new KeyRing([newer, secret]), 'https://login.example.org');
    const { renewal } = (await sessions.open(text)) ?? {};
    sessions = new Sessions(new KeyRing([newer]), 'https://login.example.org');
    strictEqual(await open(text), undefined);
    strictEqual(await open(renewal?.text ?? ''), '2');
  });

  it('of another provider are not opened', async () => {
    const { text } = await sessions.begin(marge());
    sessions = new Sessions(new KeyRing([secret]), 'https://other.example.org');
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

  it('are fresh for ten minutes after the account proved who it is', () => {
    const session = { ...marge(), loggedInAt: begin };
    ok(isFresh({ ...session, authenticatedAt: Date.now() - 9 * 60_000 }));
    ok(!isFresh({ ...session, authenticatedAt: Date.now() - 10 * 60_000 }));
  });

  function marge(): { id: AccountId; name: string; authenticatedAt: number } {
    const id = parseAccountId('2');
    ok(id);
    return { id, name: 'Marge', authenticatedAt: begin };
  }
});
