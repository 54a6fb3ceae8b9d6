import { deepStrictEqual, rejects } from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { diffTrees, parseRawDiff } from '../../src/git/history.ts';
import { openRepository } from '../../src/git/repository.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';

const [a, b, c] = ['a', 'b', 'c'].map((digit) => digit.repeat(40));
const zeros = '0'.repeat(40);

describe('the parser of raw diffs', () => {
  it('reads new, changed and removed files, and paths with any byte but NUL', () => {
    const output = `:000000 100644 ${zeros} ${a} A\0new\0:100644 100755 ${a} ${b} M\0a\tb\nc: d\0:100644 000000 ${b} ${zeros} D\0gone\0`;
    deepStrictEqual(
      parseRawDiff(output).map(({ path, before, after, status }) => [path, before, after, status]),
      [
        ['new', [null], { mode: '100644', id: a }, 'A'],
        ['a\tb\nc: d', [{ mode: '100644', id: a }], { mode: '100755', id: b }, 'M'],
        ['gone', [{ mode: '100644', id: b }], null, 'D'],
      ],
    );
  });

  it('reads both paths of a move, and what follows it', () => {
    const output = `:100644 100644 ${a} ${b} R095\0from\0to\0:100644 100644 ${a} ${c} M\0next\0`;
    deepStrictEqual(
      parseRawDiff(output).map(({ path, previousPath }) => [path, previousPath]),
      [
        ['to', 'from'],
        ['next', 'next'],
      ],
    );
  });

  it('reads one file for each parent of a merge, below the header of its commit', () => {
    const output = `first\0\n:100644 100644 ${a} ${b} M\0x\0second\0::100644 000000 100644 ${a} ${zeros} ${c} MA\0y\0`;
    deepStrictEqual(
      parseRawDiff(output).map(({ header, path, before, after }) => [header, path, before, after?.id]),
      [
        ['first', 'x', [{ mode: '100644', id: a }], b],
        ['second', 'y', [{ mode: '100644', id: a }, null], c],
      ],
    );
  });

  it('reads nothing where nothing differs', () => {
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

  it('is refused before it is read whole where it has hundreds of thousands of files @long', async () => {
    const { folder, git } = testRepository({ file: 'text' });
    const repository = await openRepository(folder);
    // The same file 260 times in the same folder 260 times, with long names.
    let entry = `100644 blob ${git('rev-parse', 'HEAD:file')}`;
    for (let depth = 0; depth < 2; depth++) {
      const entries = Array.from({ length: 260 }, (_, i) => `${entry}\t${String(i).padEnd(220, '-')}\n`);
      entry = `040000 tree ${(await repository.run(['mktree'], { input: entries.join('') })).trim()}`;
    }
    const tree = entry.slice(-40);
    await rejects(diffTrees(repository, 'HEAD', tree), { code: 'diff-too-large' });
  });
});
