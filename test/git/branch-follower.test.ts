import { strictEqual } from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { BranchFollower } from '../../src/git/branch-follower.ts';
import { silentLog } from '../../src/lib/log.ts';
import { openerOf } from '../support/opened.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('a follower of the branch', () => {
  it('keeps nothing for looks that are over, as it looks every two seconds for months', async () => {
    const enough = new AbortController();
    let looks = 0;
    class Counter extends BranchFollower {
      async look(): Promise<void> {
        looks++;
        if (looks === 50) enough.abort();
        // Once it waits.
        else setImmediate(() => this.lookNow());
      }
    }
    const follower = new Counter({
      repositoryOpener: openerOf(tempFolder()),
      log: silentLog,
      failed: String,
      ended: '',
    });
    const kept = countKept(follower.signal);
    follower.start();
    await once(enough.signal, 'abort');
    strictEqual(countKept(follower.signal), kept);
    await follower.close();
    strictEqual(looks, 50);
  });
});

/** Counts what a signal keeps: its listeners, and the signals that Node makes of it, which only its own fields tell. */
function countKept(signal: AbortSignal): number {
  let count = getEventListeners(signal, 'abort').length;
  for (const key of Object.getOwnPropertySymbols(signal)) {
    const field: unknown = Reflect.get(signal, key);
    // Node's own sets are not instances of Set.
    if (typeof field === 'object' && field !== null && 'size' in field) count += Number(field.size);
  }
  return count;
}
