import {
  chmodSync,
  copyFileSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
} from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { codeOf } from '../../lib/errors.ts';
import { computeBlobId, type HashName, streamBlobId } from '../objects/object-id.ts';
import { maxObjectBytes } from '../objects/objects.ts';
import { largeInPieces } from '../process/settings.ts';
import type { Repository } from '../repository.ts';
import { symbolicLink } from '../objects/tree.ts';
import type { FileChange, GitFile } from '../diff.ts';

/** A path of the work tree. */
export interface WorkFile {
  /** The blob that a regular file or a link would be; null where there is nothing; undefined for anything else. */
  readonly id: string | null | undefined;
  readonly stat: Stats | undefined;
  /** The bytes of a regular file of at most `maxObjectBytes`. */
  readonly content: Buffer | undefined;
}

/** Reads a path of the work tree, small files synchronously, which is several times faster. @throws a system error */
export async function readWorkFile(absolute: string, hash: HashName): Promise<WorkFile> {
  const stat = readStatIfPresent(absolute);
  const content = stat?.isFile() && stat.size <= maxObjectBytes ? readFileSync(absolute) : undefined;
  const readId = async (): Promise<string | null | undefined> => {
    if (stat === undefined) return null;
    if (content) return computeBlobId(content, hash);
    if (stat.isFile()) return await streamBlobId(absolute, stat.size, hash);
    if (!stat.isSymbolicLink()) return undefined;
    return computeBlobId(readlinkSync(absolute, { encoding: 'buffer' }), hash);
  };
  return { id: await readId(), stat, content };
}

/** Writes the new file to `staged`, with its mode, not yet durably. @throws a system error */
export async function stageFile(
  repository: Repository,
  staged: string,
  change: FileChange & { readonly after: GitFile },
  { stat }: WorkFile,
  content: Buffer | undefined,
): Promise<void> {
  const { after } = change;
  const permissions = stat?.isFile()
    ? computeMode(change, stat)
    : (isExecutable(after) ? 0o777 : 0o666) & ~umask;
  const bytes = content ?? (await repository.objects.readOne(after.id))?.content;
  await writeFile(staged, bytes ?? '', { mode: permissions });
  if (!bytes) await repository.run([...largeInPieces, 'cat-file', 'blob', after.id], { outputFile: staged });
  if ((permissions & umask) !== 0) chmodSync(staged, permissions);
}

/**
 * Replaces or removes a file atomically. Returns false where a person has changed it since it was read.
 * @param staged the path of the new file
 * @throws a system error
 */
export async function placeFile(
  { folder, objects }: Repository,
  change: FileChange,
  seen: WorkFile,
  staged: string,
): Promise<boolean> {
  const { path, after } = change;
  const absolute = join(folder, path);
  const now = readStatIfPresent(absolute);
  if (seen.stat?.isDirectory() && now) rmdirSync(absolute);
  else if (!seen.stat?.isDirectory() && !isSameStat(seen.stat, now)) return false;
  if (after === null) removeFile(absolute, folder);
  else if (seen.id === after.id && seen.stat?.isFile()) chmodSync(absolute, computeMode(change, seen.stat));
  else {
    if (!seen.stat?.isFile()) mkdirSync(dirname(absolute), { recursive: true });
    if (after.mode === symbolicLink) {
      const beside = join(dirname(absolute), `.${basename(staged)}`);
      rmSync(beside, { force: true });
      symlinkSync((await objects.readOne(after.id))?.content ?? '', beside);
      renameSync(beside, absolute);
    } else await moveInto(staged, absolute);
  }
  return true;
}

/** Makes or removes the folder of a submodule. Anything else in its place stays. */
export function placeSubmodule(absolute: string, after: GitFile | null): void {
  try {
    if (after) mkdirSync(absolute, { recursive: true });
    else rmdirSync(absolute);
  } catch {
    // Something else is there.
  }
}

/** Returns whether a file that has the new bytes needs another mode. */
export function needsMode(change: FileChange, { stat }: WorkFile): boolean {
  return stat?.isFile() === true && computeMode(change, stat) !== (stat.mode & 0o7777);
}

/** Returns the file's own mode, changed only where the commit changes it. */
function computeMode({ before, after }: FileChange, stat: Stats): number {
  const mode = stat.mode & 0o7777;
  if (!before || !after || before.mode === after.mode) return mode;
  return isExecutable(after) ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

function isExecutable({ mode }: GitFile): boolean {
  return mode === '100755';
}

/** Removes a file, and the folders below `top` that become empty. */
function removeFile(absolute: string, top: string): void {
  rmSync(absolute, { force: true });
  try {
    for (let folder = dirname(absolute); folder.length > top.length; folder = dirname(folder))
      rmdirSync(folder);
  } catch {
    // Something else is in the folder.
  }
}

/** Renames a file; copies it first where Git's folder is on another file system than the work tree. */
async function moveInto(staged: string, absolute: string): Promise<void> {
  try {
    await rename(staged, absolute);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    const beside = join(dirname(absolute), `.${basename(staged)}`);
    copyFileSync(staged, beside);
    renameSync(beside, absolute);
    rmSync(staged, { force: true });
  }
}

/** Read once, as reading it sets it for a moment. */
const umask = process.umask();

function isSameStat(seen: Stats | undefined, now: Stats | undefined): boolean {
  if (seen === undefined || now === undefined) return seen === now;
  return (
    seen.ino === now.ino &&
    seen.size === now.size &&
    seen.mtimeMs === now.mtimeMs &&
    seen.ctimeMs === now.ctimeMs
  );
}

/** Returns the stat of a path; undefined where nothing is, or can be. @throws a system error */
function readStatIfPresent(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    // No file has a name that is too long, or is in a folder that is a file.
    if (['ENOTDIR', 'ENAMETOOLONG'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/**
 * Returns whether the path of a change is, for git and every system, inside the work tree and outside of Git's own
 * folder.
 */
export function isSafePath({ path, after }: Pick<FileChange, 'path' | 'after'>): boolean {
  const isLink = after?.mode === symbolicLink;
  return path
    .split('/')
    .every(
      (name) =>
        !/^(?:|\.{1,2}|(?:\.git|git~1)[ .]*(?::.*)?)$|\\/i.test(name) &&
        !(isLink && /^(?:\.gitmodules|gitmod~|gi7eba)/i.test(name)),
    );
}

/** A folder above a path is a symbolic link, which may lead anywhere. */
export class LinkedFolderError extends Error {
  constructor(folder: string) {
    super(`${folder} is a symbolic link, make it a folder`);
    this.name = 'LinkedFolderError';
  }
}

/**
 * Returns a function that throws a LinkedFolderError where a folder above a path is a symbolic link. It reads each folder once.
 * @param top the work tree
 */
export function linkGuard(top: string): (path: string) => void {
  const plain = new Set<string>();
  return (path) => {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      if (plain.has(folder)) continue;
      if (readStatIfPresent(join(top, folder))?.isSymbolicLink()) throw new LinkedFolderError(folder);
      plain.add(folder);
    }
  };
}
