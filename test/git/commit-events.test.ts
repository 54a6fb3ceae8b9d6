import { deepStrictEqual } from 'node:assert/strict';
import { CommitEvents } from '../../src/git/branch-feed.ts';
import { recordedLog } from '../support/recorded-log.ts';

describe('the events of commits', () => {
  it('reach every subscriber in order, also behind one that fails, which is logged', () => {
    const log = recordedLog();
    const commits = new CommitEvents(log);
    const seen: string[] = [];
    commits.subscribe(({ commit }) => seen.push(`first ${commit}`));
    commits.subscribe(() => {
      throw new Error('no');
    });
    commits.subscribe(({ commit }) => seen.push(`last ${commit}`));
    commits.publish({ ref: 'state', commit: 'a' });
    deepStrictEqual(seen, ['first a', 'last a']);
    deepStrictEqual(log.lines, ['error: a subscriber to commits failed']);
  });
});
