import { createHash } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../../lib/errors.ts';
import { copyWithTime } from '../../lib/files.ts';
import { isGitFailure } from '../run-git.ts';
import type { Repository } from '../repository.ts';
import { isIndexMissing, type FileChange } from '../trees.ts';

/** Path → its blob in the index; null if the index does not have the path. */
export type IndexEntries = ReadonlyMap<string, string | null | typeof unmerged>;

/** The entry of a path in conflict, of which the index has several versions. */
export const unmerged = Symbol('unmerged');

/** Returns what the index has at these paths. A thousand take as long as one. @throws {GitError} */
export async function readIndex(repository: Repository, paths: readonly string[]): Promise<IndexEntries> {
  if (paths.length === 0) return new Map();
  const input = paths.map((path) => `:0:${path}\0`).join('');
  const output = await repository.run(['cat-file', '-z', '--batch-check=%(objectname)'], { input });
  const lines = output.split('\n');
  // Git repeats a name with a newline, which breaks the lines: then each path is read alone.
  if (lines.length !== paths.length + 1 && paths.length > 1) {
    const entries = new Map<string, string | null | typeof unmerged>();
    for (const path of paths)
      for (const [key, entry] of await readIndex(repository, [path])) entries.set(key, entry);
    return entries;
  }
  const isWhole = paths.every((_, i) => isId(lines[i]));
  const inConflict = new Set(isWhole ? [] : await listUnmerged(repository));
  return new Map(
    paths.map((path, i) => {
      const line = lines[i];
      return [path, isId(line) ? line : inConflict.has(path) ? unmerged : null];
    }),
  );
}

function isId(line: string | undefined): line is string {
  return /^[0-9a-f]{40,64}$/.test(line ?? '');
}

async function listUnmerged(repository: Repository): Promise<string[]> {
  const entries = (await repository.run(['ls-files', '--unmerged', '-z'])).split('\0');
  return entries.map((entry) => entry.slice(entry.indexOf('\t') + 1));
}

/**
 * Makes a copy of the index that has these changes; `swapIndex` puts it in the place of the index. The index must be
 * locked. Entries do not have the times of their files, so that git compares contents.
 * @throws {GitError} and system errors
 */
export async function copyIndex(
  repository: Repository,
  changes: readonly Pick<FileChange, 'path' | 'after'>[],
): Promise<void> {
  const index = join(repository.gitDir, 'index');
  const copy = await removeCopy(repository);
  const size = await copyWithTime(index, copy);
  // Git rewrites a large index as a whole for every change, unless it is split into a large part and a small one.
  const split = size > maxWholeIndexBytes ? ['--split-index'] : [];
  const none = { mode: '0', id: '0'.repeat(repository.hash === 'sha1' ? 40 : 64) };
  // Removals come first: a file may become a folder.
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
const maxWholeIndexBytes = 4_000_000;

/** Puts the copy in the place of the index. @throws a system error */
export async function swapIndex(repository: Repository): Promise<void> {
  await rename(toIndexCopyPath(repository), join(repository.gitDir, 'index'));
}

/**
 * Returns whether a crash has damaged the index: it is missing, git cannot read it, or its checksum differs, which git
 * itself looks at in `git fsck` only. @throws {GitError} and system errors
 */
export async function isIndexDamaged(repository: Repository): Promise<boolean> {
  if (await isIndexMissing(repository)) return true;
  try {
    await readIndex(repository, ['any']);
    return await hasWrongChecksum(repository);
  } catch (error) {
    if (isGitFailure(error, 'index-damaged')) return true;
    throw error;
  }
}

/** Returns whether the bytes of the index differ from its checksum; zeros stand for no checksum (`index.skipHash`). */
async function hasWrongChecksum({ gitDir, hash }: Repository): Promise<boolean> {
  const bytes = await ignoreMissing(readFile(join(gitDir, 'index')));
  if (bytes === undefined) return false;
  const end = bytes.length - (hash === 'sha1' ? 20 : 32);
  const checksum = bytes.subarray(end);
  const isGiven = checksum.some((byte) => byte !== 0);
  return isGiven && !createHash(hash).update(bytes.subarray(0, end)).digest().equals(checksum);
}

/** Replaces the index by that of HEAD. The index must be locked. @throws {GitError} and system errors */
export async function rebuildIndex(repository: Repository): Promise<void> {
  await repository.run(['read-tree', 'HEAD'], { indexFile: await removeCopy(repository) });
  await swapIndex(repository);
}

/** Removes a copy that a killed git of this service has left, and returns the path of the next one. */
async function removeCopy(repository: Repository): Promise<string> {
  const copy = toIndexCopyPath(repository);
  await Promise.all([copy, `${copy}.lock`].map(async (path) => await rm(path, { force: true })));
  return copy;
}

function toIndexCopyPath({ staging }: Repository): string {
  return join(staging, 'index');
}
