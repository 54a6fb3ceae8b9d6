import { deepStrictEqual } from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { diffTrees } from '../../src/git/file-change.ts';
import { openRepository } from '../../src/git/repository.ts';
import { testRepository } from '../support/repository.ts';

describe('the difference of two commits', () => {
  it('has each file with its mode and blob before and after, a rename as a removal and a new file', async () => {
    const { folder, git, commit } = testRepository({ 'a/b.md': 'text', moved: 'moved', 'tab\tä': 'x' });
    git('mv', 'moved', 'elsewhere');
    rmSync(join(folder, 'a/b.md'));
    symlinkSync('elsewhere', join(folder, 'link'));
    commit({ 'tab\tä': 'y' });
    const repository = await openRepository(folder);
    const changes = await diffTrees(repository, 'HEAD~', 'HEAD');
    repository.objects.close();
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
});
