import { deepStrictEqual, rejects } from 'node:assert/strict';
import { Closers } from '../../src/lib/closers.ts';

describe('the closers of a service', () => {
  it('close the last part first, and all of them where some fail', async () => {
    const closed: string[] = [];
    const closers = new Closers();
    for (const name of ['lock', 'state', 'server']) {
      const close = (): void => {
        closed.push(name);
        if (name !== 'lock') throw new Error(`${name} failed`);
      };
      closers.own({ close });
    }
    await rejects(closers.close(), { name: 'AggregateError', message: 'server failed; state failed' });
    deepStrictEqual(closed, ['server', 'state', 'lock']);
    await closers.close();
    deepStrictEqual(closed.length, 3, 'each closes once');
  });
});
