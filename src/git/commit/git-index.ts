import { constants } from 'node:fs';
import { copyFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../system-error.ts';
import { objectId } from '../object-id.ts';
import type { Repository } from '../repository.ts';
import { type FileChange, type GitFile, parseRawDiff, rawDiff, type unmerged } from './file-change.ts';

/** Path → what the index has there, of the paths at which it is not as a commit has it. */
export type StagedFiles = ReadonlyMap<string, GitFile | null | typeof unmerged>;

/**
 * What is staged: where the index differs from the commit `tip`, null being the empty history. `paths` is a hint of
 * where to look; of other paths nothing needs to be told.
 * @throws {GitExit}
 */
export async function readStaged(
  repository: Repository,
  tip: string | null,
  paths: readonly string[],
): Promise<StagedFiles> {
  const commit = tip ?? objectId('tree', Buffer.alloc(0), repository.hash);
  // Git compares every path with every limit: beyond some hundreds it is faster without.
  const limits = paths.length <= mostLimits ? ['--', ...paths] : [];
  const output = await repository.run([
    '--literal-pathspecs',
    'diff-index',
    '--cached',
    ...rawDiff,
    commit,
    ...limits,
  ]);
  return new Map(parseRawDiff(output).map(({ path, after }) => [path, after]));
}

const mostLimits = 300;

/**
 * Makes a copy of the index in which these files are as they become, and which `swapIndex` puts in the index's place.
 * To be called with the index locked. Entries lack the times of their files, so that git compares contents.
 * @throws {GitExit} and system errors
 */
export async function copyIndex(
  repository: Repository,
  changes: readonly Pick<FileChange, 'path' | 'after'>[],
): Promise<void> {
  const index = join(repository.gitDir, 'index');
  const copy = copyOf(repository);
  // Only a git of ours that was killed can have left them.
  await Promise.all([copy, `${copy}.lock`].map(async (path) => await rm(path, { force: true })));
  const size = await copyWithTime(index, copy);
  // Of a large index git rewrites all for every change, unless it is split in a large part and a small one.
  const split = size > largestWhole ? ['--split-index'] : [];
  const none = { mode: '0', id: '0'.repeat(repository.hash === 'sha1' ? 40 : 64) };
  // What goes makes room for what comes: a file where a folder was.
  const inOrder = changes.toSorted((a, b) => Number(b.after === null) - Number(a.after === null));
  const input = inOrder.map(({ path, after }) => {
    const { mode, id } = after ?? none;
    return `${mode} ${id}\t${path}\0`;
  });
  await repository.run(['update-index', ...split, '-z', '--index-info'], {
    input: input.join(''),
    indexFile: copy,
  });
}

/** Bytes above which an index is made a split one. libgit2 cannot read a split index, so small ones stay whole. */
const largestWhole = 4_000_000;

/** Puts the copy in the place of the index. @throws a system error */
export async function swapIndex(repository: Repository): Promise<void> {
  await rename(copyOf(repository), join(repository.gitDir, 'index'));
}

function copyOf({ staging }: Repository): string {
  return join(staging, 'index');
}

/**
 * Copies the index, if there is one, and returns its bytes. The copy must not look younger than the index: git takes
 * files that are as old as it, or younger, for possibly changed, and would trust them otherwise.
 */
async function copyWithTime(index: string, copy: string): Promise<number> {
  try {
    const { mtimeMs, size } = await stat(index);
    await copyFile(index, copy, constants.COPYFILE_FICLONE);
    const before = Math.floor(mtimeMs - 1) / 1000;
    await utimes(copy, before, before);
    return size;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return 0;
    throw error;
  }
}
