import { deepStrictEqual, rejects } from 'node:assert/strict';
import { join } from 'node:path';
import { GitError } from '../../src/git/process/git-error.ts';
import { listRemovedFiles } from '../../src/git/removed-files.ts';
import { repositoryIn, type TestRepository, testRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { openUntilEnd } from '../support/opened.ts';

describe('the files that commits removed', () => {
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
    for await (const files of listRemovedFiles(await openUntilEnd(folder), 'top/b*', signal))
      for (const { path, time } of files) found.push(`${time} ${path}`);
    return found.toSorted();
  }

  function removal(id: string, path: string): string {
    return `${git('show', '-s', '--format=%ct', id)} ${path}`;
  }

  it('are found in all of the history, merges and moves too, in the named folder only', async () => {
    deepStrictEqual(
      await removed(repository),
      [
        removal(first, 'top/b*/one'),
        removal(side, 'top/b*/two'),
        removal(moved, 'top/b*/short'),
        removal(merge, 'top/b*/both'),
      ].toSorted(),
    );
  });

  it('are those of the commits that a shallow clone has', async () => {
    const folder = tempFolder();
    git('clone', '-q', '--depth=2', `file://${repository.folder}`, join(folder, 'clone'));
    const clone = repositoryIn(join(folder, 'clone'));
    deepStrictEqual(await removed(clone), [removal(merge, 'top/b*/both')]);
  });

  it('are none before the first commit', async () => {
    const folder = tempFolder();
    git('init', '-q', folder);
    deepStrictEqual(await removed(repositoryIn(folder)), []);
  });

  it('are searched for until the signal aborts', async () => {
    await rejects(removed(repository, AbortSignal.abort()), GitError);
  });
});
