import { strictEqual } from 'node:assert/strict';
import { readConfirmedTime, stateRef } from '../../src/git/repository.ts';
import { atTime } from '../support/at-time.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';

const start = 1_700_000_000_000;
const day = 86_400_000;

describe('the time by which things are deleted for their age', () => {
  it('is that of the clock where there is no commit', async () => {
    const { folder, git } = testRepository({ 'a.txt': '1\n' });
    git('checkout', '-q', '--orphan', 'other');
    const repository = await openUntilEnd(folder);
    await atTime(start, async () => strictEqual(await readConfirmedTime(repository), start));
  });

  it('is at most a day after the newest commit of branch and state', async () => {
    const { folder, commitAll, git } = testRepository({ 'a.txt': '1\n' });
    const repository = await openUntilEnd(folder);
    const [first = ''] = commitAll([{ files: { 'b.txt': '' }, at: start / 1000 }]);
    const [second = ''] = commitAll([{ files: { 'c.txt': '' }, at: start / 1000 + 1000 }]);
    git('reset', '-q', '--hard', first);
    await atTime(start + day, async () => strictEqual(await readConfirmedTime(repository), start + day));
    await atTime(start + 365 * day, async () => {
      strictEqual(await readConfirmedTime(repository), start + day);
      git('update-ref', stateRef, second);
      strictEqual(await readConfirmedTime(repository), start + day + 1_000_000);
    });
  });
});
