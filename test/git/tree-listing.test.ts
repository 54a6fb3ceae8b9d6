import { deepStrictEqual, rejects } from 'node:assert/strict';
import { GitError } from '../../src/git/process/git-error.ts';
import { listFiles, listTrees } from '../../src/git/tree-listing.ts';
import { testRepository } from '../support/repository.ts';
import { openUntilEnd } from '../support/opened.ts';

describe('the listing of a commit', () => {
  const { folder, git } = testRepository({ 'a/x\ty': 'text', 'a/b/deep': '', 'c/d': 'd', top: 'top' });

  it('has what is directly in the named folders, with sizes', async () => {
    const entries = await listTrees(folder, 'HEAD', ['a', 'c']);
    deepStrictEqual(
      entries.map(({ mode, path, size }) => [mode, path, size]),
      [
        ['040000', 'a/b', 0],
        ['100644', 'a/x\ty', 4],
        ['100644', 'c/d', 1],
      ],
    );
    deepStrictEqual(entries[2]?.id, git('rev-parse', 'HEAD:c/d'));
  });

  it('is empty for no folder, and for one that the commit does not have', async () => {
    deepStrictEqual(await listTrees(folder, 'HEAD', []), []);
    deepStrictEqual(await listTrees(folder, 'HEAD', ['missing']), []);
  });

  it('has every file where all are listed', async () => {
    const repository = await openUntilEnd(folder);
    const paths = (await listFiles(repository, 'HEAD')).map(({ path }) => path);
    await rejects(listFiles(repository, 'f'.repeat(40)), GitError);
    deepStrictEqual(paths, ['.gitignore', 'a/b/deep', 'a/x\ty', 'c/d', 'top']);
  });
});
