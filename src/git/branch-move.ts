import { join } from 'node:path';
import { foldersUpTo, fsyncFolders } from './durable.ts';
import { TipMoved } from './fast-import.ts';
import { GitExit } from './git-exit.ts';
import type { Repository } from './repository.ts';

/** A move of the branch to a commit that is there already, such as a merge. */
export interface BranchMove {
  readonly commit: string;
  /** Refs that move with it, in one transaction: ref → commit. */
  readonly refs: ReadonlyMap<string, string>;
}

/** A file that is another in a second commit. Paths are from the top of the repository. */
export interface MovedFile {
  readonly path: string;
  /** Null where there is no file. */
  readonly before: GitFile | null;
  readonly after: GitFile | null;
}

export interface GitFile {
  readonly mode: string;
  readonly id: string;
}

/** What differs between two commits or trees, renames taken for a removal and a new file. @throws {GitExit} */
export async function movedFiles(repository: Repository, from: string, to: string): Promise<MovedFile[]> {
  const fields = (await repository.run([...diffTree, from, to])).split('\0');
  const files: MovedFile[] = [];
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const [oldMode = '', mode = '', oldId = '', id = ''] = (fields[i] ?? '').slice(1).split(' ');
    files.push({
      path: fields[i + 1] ?? '',
      before: oldMode === none ? null : { mode: oldMode, id: oldId },
      after: mode === none ? null : { mode, id },
    });
  }
  return files;
}

const diffTree = ['diff-tree', '-r', '-z', '--raw', '--no-renames', '--no-abbrev'];

const none = '000000';

/**
 * Moves refs in one transaction, durably: ref → where it is, null where it must not exist, and where it goes.
 * @throws {TipMoved} when one of them is elsewhere: nothing has changed
 * @throws {GitExit}
 */
export async function moveRefs(
  repository: Repository,
  moves: ReadonlyMap<string, { readonly from: string | null; readonly to: string }>,
): Promise<void> {
  const zeros = '0'.repeat(repository.hash === 'sha1' ? 40 : 64);
  const lines = [...moves].map(([ref, { from, to }]) => `update ${ref}\0${to}\0${from ?? zeros}\0`);
  try {
    await repository.run(['update-ref', '-z', '--stdin'], { input: lines.join('') });
  } catch (error) {
    if (!(error instanceof GitExit) || error.notStarted) throw error;
    for (const [ref, { from, to }] of moves) {
      const now = (await repository.objects.readOne(ref))?.id ?? null;
      if (now !== from && now !== to) throw new TipMoved(ref);
    }
    throw error;
  }
  const { commonDir } = repository;
  await fsyncFolders([...moves.keys()].flatMap((ref) => foldersUpTo(commonDir, join(commonDir, ref))));
}
