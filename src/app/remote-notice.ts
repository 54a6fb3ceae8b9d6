import type { Config } from './config.ts';
import type { Origin } from '../git/origin.ts';
import { removeCredentials } from '../git/process/git-error.ts';

/**
 * Returns a sentence for the operator of a clone that is not kept in step with its Git host; null where it is, where
 * there is no host, while somebody edits the catalogue with BOTSHELF_DEV, and for a trial, which has no public address.
 */
export function createRemoteNotice(
  { remote, dev, isBaseUrlSet }: Pick<Config, 'remote' | 'dev' | 'isBaseUrlSet'>,
  origin: Origin | null,
): string | null {
  if (origin === null || remote !== null || dev || !isBaseUrlSet) return null;
  return (
    `the clone has the remote origin (${removeCredentials(origin.remote)}), but BOTSHELF_REMOTE is not set: ` +
    'merged pull requests do not arrive here and posts are not pushed; set BOTSHELF_REMOTE=origin, ' +
    'or run "git remote remove origin" where this clone stands alone'
  );
}
