import type { Log } from '../log.ts';
import type { Change, FileEdit } from './batch-plan.ts';
import type { Pending } from './pending.ts';

/**
 * A file that a commit of ours replaces, on its way to work tree and index.
 * @param changes all changes of the batch, with paths from the top of the repository
 * @param again asks for one of them once more
 */
export function pendingEdit(
  edit: FileEdit,
  commit: string,
  changes: readonly Change[],
  again: (change: Change) => Promise<unknown>,
  log: Log,
): Pending {
  const { path, before, after } = edit;
  const its = changes.filter((change) => change.path === path);
  return {
    path,
    known: [before],
    after,
    commit,
    torn: false,
    changes: its,
    edit: async (current) => {
      try {
        return Buffer.from(edit.apply(current.toString()));
      } catch (error) {
        log.warn(
          { path, err: error },
          'the file has edits that our change cannot be made in: they are left as they are',
        );
        return undefined;
      }
    },
    again: () => {
      for (const change of its) {
        again(change).catch((error: unknown) =>
          log.error({ path, err: error }, 'a change that was taken back by accident could not be made again'),
        );
      }
    },
  };
}
