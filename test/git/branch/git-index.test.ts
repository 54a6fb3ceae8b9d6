import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { mkdirSync } from 'node:fs';
import { copyIndex, readIndex, swapIndex, unmerged } from '../../../src/git/branch/git-index.ts';
import type { Repository } from '../../../src/git/repository.ts';
import { testRepository, type TestRepository } from '../../support/repository.ts';
import { openUntilEnd } from '../../support/opened.ts';

describe('the index', () => {
  let clone: TestRepository;
  let repository: Repository;
  beforeEach(async () => {
    clone = testRepository({ a: 'a', b: 'b', 'x/y': 'y' });
    repository = await openUntilEnd(clone.folder);
    mkdirSync(repository.staging, { recursive: true });
  });

  it('is read at the named paths, a staged file as it is staged', async () => {
    clone.write('b', 'staged');
    clone.git('add', 'b');
    const odd = 'with\nnewline';
    clone.write(odd, 'odd');
    clone.git('add', odd);
    deepStrictEqual(
      await readIndex(repository, ['b', 'missing', odd, 'x/y']),
      new Map([
        ['b', clone.git('hash-object', 'b')],
        ['missing', null],
        [odd, clone.git('hash-object', odd)],
        ['x/y', clone.git('rev-parse', 'HEAD:x/y')],
      ]),
    );
    deepStrictEqual(await readIndex(repository, []), new Map());
  });

  it('names a path that is in conflict', async () => {
    clone.git('switch', '-q', '-c', 'side');
    clone.commit({ a: 'side' });
    clone.git('switch', '-q', 'main');
    clone.commit({ a: 'main' });
    clone.tryGit('merge', 'side');
    deepStrictEqual((await readIndex(repository, ['a', 'b'])).get('a'), unmerged);
  });

  it('has new, changed and removed entries after the swap, and is untouched until then', async () => {
    const id = clone.git('rev-parse', 'HEAD:b');
    const before = clone.git('ls-files', '--stage');
    await copyIndex(repository, [
      { path: 'x', after: { mode: '100755', id } },
      { path: 'a', after: { mode: '100644', id } },
      { path: 'b', after: null },
      { path: 'x/y', after: null },
    ]);
    strictEqual(clone.git('ls-files', '--stage'), before);
    await swapIndex(repository);
    const entries = clone.git('ls-files', '--stage').split('\n').slice(1);
    deepStrictEqual(entries, [`100644 ${id} 0\ta`, `100755 ${id} 0\tx`]);
  });

  it('still notices a file of the same size that was written right before the copy', async () => {
    clone.git('status');
    clone.write('a', 'A');
    await copyIndex(repository, [
      { path: 'b', after: { mode: '100644', id: clone.git('rev-parse', 'HEAD:b') } },
    ]);
    await swapIndex(repository);
    strictEqual(clone.status(), 'M a');
  });
});
