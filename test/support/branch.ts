import { join } from 'node:path';
import { type BranchConsumer, BranchFeed } from '../../src/git/branch/feed.ts';
import { type Log, silentLog } from '../../src/lib/log.ts';
import { cleanUp } from './cleanup.ts';
import { openerOf } from './opened.ts';
import { tempFolder } from './temp-folder.ts';

/** The feed of the branch of a folder; it is closed when the test is over. */
export function branchFeedOf(
  folder: string,
  log: Log = silentLog,
  file = join(tempFolder(), 'branch'),
): BranchFeed {
  const feed = new BranchFeed({ file, repositoryOpener: openerOf(folder), log });
  cleanUp(async () => await feed.close());
  return feed;
}

/**
 * Returns a function that brings a consumer to the branch of the repository of a folder, as a service does from its start.
 * @param file what is kept between starts; nothing by default
 */
export function followBranch(folder: string, consumer: BranchConsumer, file?: string): () => Promise<void> {
  const feed = branchFeedOf(folder, silentLog, file);
  feed.add(consumer);
  return async () => await feed.look(consumer);
}
