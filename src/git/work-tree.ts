import {
  chmodSync,
  closeSync,
  fchmodSync,
  lstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  rmSync,
  type Stats,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { codeOf } from '../system-error.ts';
import { blobId, type HashName, streamedBlobId } from './object-id.ts';
import { largestFile } from './objects.ts';
import { writeBlob } from './write-blob.ts';
import { symbolicLink } from './tree.ts';
import type { Unsettled } from './unsettled.ts';

/** A file of the work tree that follows the tip. */
export interface Following extends Unsettled {
  readonly absolute: string;
  /** The file at the tip, null where it has none. */
  readonly target: TargetFile | null;
  /** The top of the work tree: folders below it that become empty go with the last file. */
  readonly top: string;
  /** A crash may have torn the file: one that is empty, or has NUL in it, is ours to write again. */
  readonly torn: boolean;
  /** Makes our change in a text that a person has edited; undefined where that cannot be done. Without it nobody is asked. */
  edit?(current: Buffer): Promise<Buffer | undefined>;
}

export interface TargetFile {
  readonly id: string;
  /** As a tree has it: 100644, 100755, 120000. */
  readonly mode: string;
  /** Null where that is more than `largestFile`: then git writes it. */
  readonly content: Buffer | null;
}

/** `asks`: a person has edited the file, and there was nothing that makes our change in the edited text. */
export type Followed = 'same' | 'replaced' | 'edited' | 'left' | 'asks';

/**
 * Brings a file of the work tree to the tip, atomically and keeping its mode, not yet durably. One that holds a
 * person's uncommitted edits keeps them, with our change made in it too; one that a person removed or made
 * into something else is left alone. Small synchronous steps: that is several times faster than promises.
 * @param staging - a folder for the new text until it is whole, on the same file system if possible
 * @throws a system error
 */
export async function follow(file: Following, staging: string, hash: HashName): Promise<Followed> {
  for (let attempt = 0; attempt < 5; attempt++) {
    const stat = statOf(file.absolute);
    if (stat === undefined) {
      if (file.target === null) return 'same';
      if (!file.known.includes(null)) return 'left';
      mkdirSync(dirname(file.absolute), { recursive: true });
      if (await replace(file, file.target, undefined, staging)) return 'replaced';
      continue;
    }
    const content = contentOf(file.absolute, stat);
    const id = await idOf(file.absolute, stat, content, hash);
    if (id === undefined) return 'left';
    if (id === file.target?.id) return setMode(file, stat) ? 'replaced' : 'same';
    const ours =
      file.known.includes(id) || id === file.after || (file.torn && content !== undefined && isTorn(content));
    if (ours) {
      const done = file.target
        ? await replace(file, file.target, stat, staging)
        : remove(file.absolute, stat, file.top);
      if (done) return 'replaced';
      continue;
    }
    if (content === undefined || !stat.isFile() || file.target === null || file.target.id !== file.after)
      return 'left';
    if (file.edit === undefined) return 'asks';
    const next = await file.edit(content);
    if (next === undefined) return 'left';
    if (next.equals(content)) return 'same';
    const edited = { id: '', mode: '100644', content: next };
    if (await replace(file, edited, stat, staging)) return 'edited';
  }
  return 'left';
}

/** Undefined for what is no file, or one too large to be held in memory. */
function contentOf(path: string, stat: Stats): Buffer | undefined {
  if (stat.isSymbolicLink()) return readlinkSync(path, { encoding: 'buffer' });
  return stat.isFile() && stat.size <= largestFile ? readFileSync(path) : undefined;
}

async function idOf(
  path: string,
  stat: Stats,
  content: Buffer | undefined,
  hash: HashName,
): Promise<string | undefined> {
  if (content) return blobId(content, hash);
  return stat.isFile() ? await streamedBlobId(path, stat.size, hash) : undefined;
}

/** The file's bytes if they are those of this blob, so that git need not be asked for it. */
export function readIfBlob(absolute: string, id: string, hash: HashName): Buffer | undefined {
  try {
    const stat = statOf(absolute);
    if (stat?.isFile() !== true || stat.size > largestFile) return undefined;
    const content = readFileSync(absolute);
    return blobId(content, hash) === id ? content : undefined;
  } catch {
    return undefined;
  }
}

function isTorn(content: Buffer): boolean {
  return content.length === 0 || content.includes(0);
}

/** False when a person was faster: the file is another one than the one looked at. */
async function replace(
  file: Following,
  target: TargetFile,
  seen: Stats | undefined,
  staging: string,
): Promise<boolean> {
  const { absolute, top } = file;
  const permissions = seen?.isFile() ? modeOf(file, seen) : (isExecutable(target) ? 0o777 : 0o666) & ~umask;
  const name = `${basename(absolute)}.${process.pid}.tmp`;
  let staged = await stage(top, join(staging, name), target, permissions);
  try {
    if (!isSame(seen, statOf(absolute))) return false;
    try {
      renameSync(staged, absolute);
    } catch (error) {
      if (codeOf(error) !== 'EXDEV') throw error;
      rmSync(staged, { force: true });
      staged = await stage(top, join(dirname(absolute), `.${name}`), target, permissions);
      renameSync(staged, absolute);
    }
    staged = '';
    return true;
  } finally {
    if (staged !== '') rmSync(staged, { force: true });
  }
}

/** The mode that a file is to have: its own, but for a change that the commit has made. */
function modeOf({ chmod, target }: Following, seen: Stats): number {
  const mode = seen.mode & 0o7777;
  if (chmod === undefined || target === null) return mode;
  return isExecutable(target) ? mode | ((mode & 0o444) >> 2) : mode & ~0o111;
}

function isExecutable({ mode }: TargetFile): boolean {
  return mode === '100755';
}

/** False where it has it. */
function setMode(file: Following, seen: Stats): boolean {
  if (!seen.isFile() || modeOf(file, seen) === (seen.mode & 0o7777)) return false;
  chmodSync(file.absolute, modeOf(file, seen));
  return true;
}

/** False when a person was faster. */
function remove(absolute: string, seen: Stats, top: string): boolean {
  if (!isSame(seen, statOf(absolute))) return false;
  rmSync(absolute, { force: true });
  for (let folder = dirname(absolute); folder.length > top.length; folder = dirname(folder)) {
    try {
      rmdirSync(folder);
    } catch {
      break;
    }
  }
  return true;
}

async function stage(
  top: string,
  path: string,
  { id, mode, content }: TargetFile,
  permissions: number,
): Promise<string> {
  if (mode === symbolicLink && content !== null) {
    rmSync(path, { force: true });
    symlinkSync(content, path);
    return path;
  }
  const file = openSync(path, 'w', permissions);
  try {
    if (content === null) await writeBlob(top, id, file);
    else writeFileSync(file, content);
    if ((permissions & umask) !== 0) fchmodSync(file, permissions);
  } catch (error) {
    rmSync(path, { force: true });
    throw error;
  } finally {
    closeSync(file);
  }
  return path;
}

/** Reading it means setting it: done once, before there are others to mind, and handed to threads. */
export const umask = (workerData as { readonly umask?: number } | null)?.umask ?? process.umask();

function isSame(seen: Stats | undefined, now: Stats | undefined): boolean {
  if (seen === undefined || now === undefined) return seen === now;
  return (
    seen.ino === now.ino &&
    seen.size === now.size &&
    seen.mtimeMs === now.mtimeMs &&
    seen.ctimeMs === now.ctimeMs
  );
}

function statOf(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    if (codeOf(error) === 'ENOTDIR') return undefined;
    throw error;
  }
}
