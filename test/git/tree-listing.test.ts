import { deepStrictEqual, rejects } from 'node:assert/strict';
import { listFiles } from '../../src/git/history.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';

describe('the listing of a commit', () => {
  const { folder } = testRepository({ 'a/x\ty': 'text', 'a/b/deep': '', 'c/d': 'd', top: 'top' });

  it('has every file', async () => {
    const repository = await openUntilEnd(folder);
    const paths = (await listFiles(repository, 'HEAD')).map(({ path }) => path);
    await rejects(listFiles(repository, 'f'.repeat(40)), { code: 'missing-object' });
    deepStrictEqual(paths, ['.gitignore', 'a/b/deep', 'a/x\ty', 'c/d', 'top']);
  });
});
