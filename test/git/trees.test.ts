import { deepStrictEqual, rejects } from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { diffTrees, parseRawDiff } from '../../src/git/trees.ts';
import { commitHugeTree } from '../support/huge-tree.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';
import { gitSync } from '../support/run-sync.ts';

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
