import { constants } from 'node:fs';
import { copyFile, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../system-error.ts';
import type { Repository } from '../repository.ts';
import type { FileChange } from '../file-change.ts';

/** Path → the blob that the index has there, null where it has none. */
export type IndexEntries = ReadonlyMap<string, string | null | typeof unmerged>;

/** The entry of a path of which the index has several versions, as a person has to merge them. */
export const unmerged = Symbol('unmerged');

/** What the index has at these paths. Looks them up one by one, which takes as long for a thousand as for one. @throws {GitError} */
export async function readIndex(repository: Repository, paths: readonly string[]): Promise<IndexEntries> {
  if (paths.length === 0) return new Map();
  const input = paths.map((path) => `:0:${path}\0`).join('');
  const output = await repository.run(['cat-file', '-z', '--batch-check=%(objectname)'], { input });
  const lines = output.split('\n');
  // A name with a newline spoils the lines, as git repeats it: then each is asked for alone.
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
 * Makes a copy of the index in which these files are as they become, and which `swapIndex` puts in the index's place.
 * To be called with the index locked. Entries lack the times of their files, so that git compares contents.
 * @throws {GitError} and system errors
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
