import { strictEqual } from 'node:assert/strict';
import { isAncestor } from '../../src/git/history.ts';
import { openUntilEnd } from '../support/opened.ts';
import { gitSync } from '../support/run-sync.ts';
import { testRepository } from '../support/repository.ts';

describe('the history of a commit', () => {
  it('has what came before it, also where the clock of a machine was a day behind @slow', async () => {
    const { folder, git } = testRepository({ file: 'text' });
    const start = Math.floor(Date.now() / 1000);
    const commit = (seconds: number): string => {
      const args = ['commit', '-q', '--allow-empty', '-m', 'Change'];
      const env = { ...process.env, GIT_COMMITTER_DATE: `@${start + seconds} +0000` };
      gitSync({ args, cwd: folder, env });
      return git('rev-parse', 'HEAD');
    };
    const first = commit(10);
    const late = Array.from({ length: 10 }, (_, i) => commit(i - 86_400));
    const tip = late.at(-1) ?? '';
    strictEqual(git('rev-list', '--count', first, `^${tip}`), '2', 'Git is not wrong about it any more');
    const repository = await openUntilEnd(folder);
    for (const [ancestor, descendant, expected] of [
      [first, tip, true],
      [tip, first, false],
      [tip, tip, true],
    ] as const)
      strictEqual(await isAncestor(repository, ancestor, descendant), expected);
    git('checkout', '-q', '--orphan', 'other');
    strictEqual(await isAncestor(repository, first, commit(20)), false);
  });
});
