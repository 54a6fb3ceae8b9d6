import { join } from 'node:path';
import { type BranchConsumer, BranchFeed } from '../../src/git/branch-feed.ts';
import { silentLog } from '../../src/lib/log.ts';
import { openerOf } from './opened.ts';
import { tempFolder } from './temp-folder.ts';

/**
 * Returns a function that brings a consumer to the branch of the repository of a folder, as a service does from its start.
 * @param file what is kept between starts; nothing by default
 */
export function followBranch(
  folder: string,
  consumer: BranchConsumer,
  file = join(tempFolder(), 'branch'),
): () => Promise<void> {
  const feed = new BranchFeed({ file, repositoryOpener: openerOf(folder), log: silentLog });
  feed.add(consumer);
  return async () => await feed.look(consumer);
}
