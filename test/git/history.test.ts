import { strictEqual, deepStrictEqual, rejects, ok } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAncestor, readChangeLog, readConfirmedTime } from '../../src/git/history.ts';
import { stateRef } from '../../src/git/refs.ts';
import { GitError } from '../../src/git/run-git.ts';
import { atTime } from '../support/at-time.ts';
import { openUntilEnd } from '../support/opened.ts';
import { gitSync } from '../support/run-sync.ts';
import { testRepository, repositoryIn, type TestRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

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

describe('the files that a history of a folder removed', () => {
  const repository = testRepository({
    'top/b*/one': '1',
    'top/b*/two': '2',
    'top/b*/both': '3',
    'top/b*/stays': '4',
    'top/bots/other': '5',
  });
  const { git, commit } = repository;
  git('rm', '-q', 'top/b*/one', 'top/bots/other');
  const first = commit({}, 'Remove one');
  git('switch', '-q', '-c', 'side');
  git('rm', '-q', 'top/b*/two');
  const side = commit({}, 'Remove two beside');
  git('switch', '-q', 'main');
  commit({ 'top/b*/short': '6' }, 'Add for a moment');
  git('mv', 'top/b*/short', 'top/b*/moved');
  const moved = commit({}, 'Move');
  git('merge', '-q', '--no-ff', '--no-commit', 'side');
  git('rm', '-q', 'top/b*/both');
  const merge = commit({}, 'Merge, and remove one that both sides have');

  async function removed(
    { folder }: TestRepository,
    signal = new AbortController().signal,
  ): Promise<string[]> {
    const found: string[] = [];
    const commits = { from: undefined, to: 'HEAD', folder: 'top/b*' };
    const file = join(tempFolder(), 'log');
    for await (const { path, commit, after, line } of readChangeLog(
      await openUntilEnd(folder),
      commits,
      file,
      signal,
    ))
      if (after === null) found.push(`${commit} ${path} ${line}`);
    return found.toSorted();
  }

  it('are found in all of the history, merges and moves too, in the named folder only', async () => {
    deepStrictEqual(
      await removed(repository),
      [
        `${first} top/b*/one branch`,
        `${side} top/b*/two side`,
        `${moved} top/b*/short branch`,
        `${merge} top/b*/both side`,
        `${merge} top/b*/both merge`,
        `${merge} top/b*/two merge`,
      ].toSorted(),
    );
  });

  it('are those of the commits that a shallow clone has', async () => {
    const folder = tempFolder();
    git('clone', '-q', '--depth=2', `file://${repository.folder}`, join(folder, 'clone'));
    const clone = repositoryIn(join(folder, 'clone'));
    deepStrictEqual(await removed(clone), [
      `${merge} top/b*/both merge`,
      `${merge} top/b*/both side`,
      `${merge} top/b*/two merge`,
    ]);
  });

  it('are read from a file that is gone when the reader stops early', async () => {
    const commits = { from: undefined, to: 'HEAD', folder: 'top/b*' };
    const folder = tempFolder();
    const { signal } = new AbortController();
    const log = readChangeLog(await openUntilEnd(repository.folder), commits, join(folder, 'log'), signal);
    ok((await log.next()).value);
    deepStrictEqual(readdirSync(folder), ['log']);
    await log.return(undefined);
    deepStrictEqual(readdirSync(folder), []);
  });

  it('are searched for until the signal aborts', async () => {
    await rejects(removed(repository, AbortSignal.abort()), GitError);
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
