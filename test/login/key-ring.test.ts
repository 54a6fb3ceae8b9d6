import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import { mock } from 'node:test';
import { KeyRing } from '../../src/login/login.ts';
import { atTime } from '../support/at-time.ts';

const old = 'an old secret of thirty-two characters';
const newer = 'a newer secret of thirty-two characters';

describe('KeyRing', () => {
  it('opens what it sealed, and its text shows nothing of it', async () => {
    const keys = new KeyRing([newer]);
    const sealed = await keys.seal('test', { name: 'Marge' }, 60);
    deepStrictEqual((await keys.open('test', sealed))?.value, { name: 'Marge' });
    ok(!Buffer.from(sealed, 'base64url').includes('Marge'));
    ok(/^[\w.-]+$/.test(sealed), 'a cookie can hold it as it is');
  });

  it('opens with an old key, and seals with the newest one', async () => {
    const sealed = await new KeyRing([old]).seal('test', 1, 60);
    const both = new KeyRing([newer, old]);
    strictEqual((await both.open('test', sealed))?.newest, false);
    const again = await both.seal('test', 1, 60);
    strictEqual((await both.open('test', again))?.newest, true);
    strictEqual((await new KeyRing([newer]).open('test', again))?.value, 1);
  });

  it('opens nothing of a key that was taken out', async () => {
    const sealed = await new KeyRing([old]).seal('test', 1, 60);
    strictEqual(await new KeyRing([newer]).open('test', sealed), undefined);
  });

  it('opens for no other purpose', async () => {
    const keys = new KeyRing([newer]);
    strictEqual(await keys.open('session', await keys.seal('login', 1, 60)), undefined);
  });

  it('opens nothing whose time is over', async () => {
    const keys = new KeyRing([newer]);
    await atTime(1_700_000_000_000, async () => {
      const sealed = await keys.seal('test', 1, 60);
      mock.timers.tick(59_000);
      strictEqual((await keys.open('test', sealed))?.value, 1);
      mock.timers.tick(2000);
      strictEqual(await keys.open('test', sealed), undefined);
    });
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
