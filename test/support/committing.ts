import { join } from 'node:path';
import { Committer, type CommitterOptions } from '../../src/git/commit/committer.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { silentLog } from '../../src/lib/log.ts';

/** A committer on a folder of a repository; it is closed when the tests of the file are over. */
export function committerOn(
  catalogue: string,
  options: Partial<Pick<CommitterOptions, 'log' | 'lockPatience'>> = {},
): Committer {
  const repositoryOpener = new RepositoryOpener(catalogue);
  const committer = new Committer({
    repositoryOpener,
    var: join(catalogue, 'var'),
    log: silentLog,
    ...options,
  });
  closing.push(async () => {
    await committer.close();
    repositoryOpener.close();
  });
  return committer;
}

const closing: (() => Promise<void>)[] = [];

after('close the committers', async () => {
  await Promise.all(closing.splice(0).map(async (close) => await close()));
});
