import { join } from 'node:path';
import { Committer } from '../../src/git/commit/committer.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { type Log, silentLog } from '../../src/log.ts';

/** A committer on a folder of a repository; it is closed when the tests of the file are over. */
export function committerOn(
  catalogue: string,
  log: Log = silentLog,
  varFolder = join(catalogue, 'var'),
): Committer {
  const repositoryOpener = new RepositoryOpener(catalogue);
  const committer = new Committer({ repositoryOpener, var: varFolder, log });
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
