import { rejects, strictEqual } from 'node:assert/strict';
import { readConfirmedTime, readRef, stateRef, updateRefs } from '../../src/git/refs.ts';
import type { Repository } from '../../src/git/repository.ts';
import { GitError } from '../../src/git/run-git.ts';
import { atTime } from '../support/at-time.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';

const main = 'refs/heads/main';
const base = 'refs/botshelf/remote/base';

describe('refs that move together', () => {
  let repository: Repository;
  let [from, to] = ['', ''];
  beforeEach(async () => {
    const clone = testRepository({ file: 'text' });
    from = clone.git('rev-parse', 'HEAD');
    to = clone.git('commit-tree', 'HEAD^{tree}', '-p', 'HEAD', '-m', 'Next');
    repository = await openUntilEnd(clone.folder);
  });
  const updates = (): Map<string, { from: string | null; to: string }> =>
    new Map([
      [main, { from, to }],
      [base, { from: null, to }],
    ]);

  it('have moved where git has moved the first and failed at the second, which is tried again', async () => {
    let calls = 0;
    const run: Repository['run'] = async (args, options) => {
      if (args[0] !== 'update-ref' || ++calls > 1) return await repository.run(args, options);
      const [first = ''] = String(options?.input).split('update refs/botshelf');
      await repository.run(args, { ...options, input: first });
      throw new GitError(args, 128, "fatal: couldn't set 'refs/botshelf/remote/base'");
    };
    await updateRefs({ ...repository, run }, updates());
    strictEqual(await readRef(repository, main), to);
    strictEqual(await readRef(repository, base), to);
  });

  it('stay where they are when one of them is elsewhere', async () => {
    const wrong = new Map([...updates(), [base, { from: to, to: from }]]);
    await rejects(updateRefs(repository, wrong), { code: 'ref-conflict' });
    strictEqual(await readRef(repository, main), from);
  });
});

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
