import { readFile } from 'node:fs/promises';
import { join as joinPath } from 'node:path';
import type { Change } from './batch-plan.ts';
import { blobId } from './object-id.ts';
import type { Repository } from './repository.ts';
import { join, type Unsettled } from './unsettled.ts';

/** A path that work tree and index may not have yet, and what to do where a person has edited it. */
export interface Pending extends Unsettled {
  /** The last of our commits with it, null where a crash has left it, or where others made the change. */
  readonly commit: string | null;
  /** A crash may have torn the file. */
  readonly torn: boolean;
  /** Makes our change in another text of the file; undefined where that cannot be done. */
  edit(current: Buffer): Promise<Buffer | undefined>;
  /** Our changes, to be made once more where they are taken back by accident; none after a crash. */
  readonly changes: readonly Change[];
  /** Asks for these changes once more, in a new commit. */
  again(): void;
}

/** Both as one: the later commit is on top of the earlier. */
export function joined(earlier: Pending, later: Pending): Pending {
  const edit = async (current: Buffer): Promise<Buffer | undefined> => {
    const first = await earlier.edit(current);
    return await later.edit(first ?? current);
  };
  const again = (): void => {
    earlier.again();
    later.again();
  };
  return { ...join(earlier, later), edit, again, changes: [...earlier.changes, ...later.changes] };
}

/** Whether a person's commit has taken a change back by accident: the file at the tip, `id`, is what it was before. */
export async function wasTakenBack(
  repository: Repository,
  tip: string | null,
  entry: Pending,
  id: string | null,
): Promise<boolean> {
  const { commit, after, known } = entry;
  if (commit === null || tip === null || tip === commit || id === after || !known.includes(id)) return false;
  return (await hasCommit(repository, tip, commit)) && (await hasFile(repository, entry));
}

async function hasCommit(repository: Repository, tip: string, commit: string): Promise<boolean> {
  return (await repository.run(['rev-list', '--count', '--max-count=1', commit, `^${tip}`])).trim() === '0';
}

async function hasFile({ folder, hash }: Repository, { path, after }: Pending): Promise<boolean> {
  const content = await readFile(joinPath(folder, path)).catch(() => undefined);
  return content !== undefined && blobId(content, hash) === after;
}
