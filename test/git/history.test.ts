import { strictEqual, deepStrictEqual, rejects, ok } from 'node:assert/strict';
import { rmSync, symlinkSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isAncestor, diffTrees, parseRawDiff, readChangeLog } from '../../src/git/history.ts';
import { GitError } from '../../src/git/run-git.ts';
import { openUntilEnd } from '../support/opened.ts';
import { gitSync } from '../support/run-sync.ts';
import { testRepository, repositoryIn, type TestRepository } from '../support/repository.ts';
import { commitHugeTree } from '../support/huge-tree.ts';
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

const [a, b] = ['a', 'b'].map((digit) => digit.repeat(40));
const zeros = '0'.repeat(40);

describe('the parser of raw diffs', () => {
  it('reads new, changed, removed and moved files, paths with any byte but NUL, and each parent of a merge', () => {
    const output = `:000000 100644 ${zeros} ${a} A\0new\0:100644 100755 ${a} ${b} M\0a\tb\nc: d\0:100644 000000 ${b} ${zeros} D\0gone\0:100644 100644 ${a} ${b} R095\0from\0to\0first\0\n:100644 100644 ${a} ${b} M\0x\0second\0::100644 000000 100644 ${a} ${zeros} ${b} MA\0y\0`;
    const [fileA, fileB] = [a, b].map((id) => ({ mode: '100644', id }));
    const entries = parseRawDiff(output).map((entry) => {
      return [entry.header, entry.previousPath, entry.path, entry.before, entry.after, entry.status];
    });
    deepStrictEqual(entries, [
      ['', 'new', 'new', [null], fileA, 'A'],
      ['', 'a\tb\nc: d', 'a\tb\nc: d', [fileA], { mode: '100755', id: b }, 'M'],
      ['', 'gone', 'gone', [fileB], null, 'D'],
      ['', 'from', 'to', [fileA], fileB, 'R095'],
      ['first', 'x', 'x', [fileA], fileB, 'M'],
      ['second', 'y', 'y', [fileA, null], fileB, 'MA'],
    ]);
    deepStrictEqual(parseRawDiff(''), []);
  });
});

describe('the difference of two commits', () => {
  it('has each file with its mode and blob before and after, a rename as a removal and a new file', async () => {
    const { folder, git, commit } = testRepository({ 'a/b.md': 'text', moved: 'moved', 'tab\tä': 'x' });
    git('mv', 'moved', 'elsewhere');
    rmSync(join(folder, 'a/b.md'));
    symlinkSync('elsewhere', join(folder, 'link'));
    commit({ 'tab\tä': 'y' });
    const changes = await diffTrees(await openUntilEnd(folder), 'HEAD~', 'HEAD');
    const blob = (name: string): string => git('rev-parse', name);
    deepStrictEqual(changes, [
      { path: 'a/b.md', before: { mode: '100644', id: blob('HEAD~:a/b.md') }, after: null },
      { path: 'elsewhere', before: null, after: { mode: '100644', id: blob('HEAD:elsewhere') } },
      { path: 'link', before: null, after: { mode: '120000', id: blob('HEAD:link') } },
      { path: 'moved', before: { mode: '100644', id: blob('HEAD~:moved') }, after: null },
      {
        path: 'tab\tä',
        before: { mode: '100644', id: blob('HEAD~:tab\tä') },
        after: { mode: '100644', id: blob('HEAD:tab\tä') },
      },
    ]);
  });

  it('is all files in the first commit', async () => {
    const { folder } = testRepository({ 'a/x\ty': 'text', 'a/b/deep': '', 'c/d': 'd', top: 'top' });
    const repository = await openUntilEnd(folder);
    const paths = (await diffTrees(repository, null, 'HEAD')).map(({ path }) => path);
    deepStrictEqual(paths, ['.gitignore', 'a/b/deep', 'a/x\ty', 'c/d', 'top']);
    await rejects(diffTrees(repository, null, 'f'.repeat(40)), { code: 'missing-object' });
  });

  it('is refused before it is read whole where it has hundreds of thousands of files, of which trees share all', async () => {
    const repo = testRepository({ file: 'text' });
    commitHugeTree(repo, 'folder', 'huge');
    const repository = await openUntilEnd(repo.folder);
    for (const [from, to] of [
      ['main', 'huge'],
      ['huge', 'main'],
    ] as const)
      await rejects(diffTrees(repository, from, to), { code: 'diff-too-large' });
    await rejects(diffTrees(repository, null, 'huge'), { code: 'diff-too-large' });
  });

  it('is an error where a tree ends in the middle of an entry', async () => {
    const { folder } = testRepository({ file: 'text' });
    const args = ['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'];
    const repository = await openUntilEnd(folder);
    for (const input of ['100644', '100644 file', '100644 file\0short']) {
      const tree = gitSync({ args, cwd: folder, input }).trim();
      await rejects(diffTrees(repository, 'HEAD', tree), /is damaged/);
    }
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
