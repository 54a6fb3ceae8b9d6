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
import { rm, rename, writeFile } from 'node:fs/promises';
import { join, basename, dirname } from 'node:path';
import { BotshelfError, codeOf, isError, messageOf } from '../../lib/errors.ts';
import { failpoint } from '../../lib/failpoint.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import type { FileChange, GitFile } from '../trees.ts';
import { submodule, symbolicLink, computeBlobId, streamBlobId, maxObjectBytes } from '../objects.ts';
import { largeInPieces } from '../run-git.ts';
import type { Repository } from '../repository.ts';
import { copyIndex, type IndexEntries, readIndex, swapIndex, unmerged } from './git-index.ts';

/** The files of index and work tree at some paths. */
export interface Inspection {
  readonly index: IndexEntries;
  /** By path; an error if the file cannot be read. */
  readonly files: ReadonlyMap<string, WorkFile | Error>;
}

/** The reason why index or work tree cannot be updated at a path. */
export interface Obstacle {
  /** A clause for operators, such as "has uncommitted edits". */
  readonly reason: string;
  /** Whether an update failed and is retried immediately; otherwise a person's edits stay until they are committed. */
  readonly failed: boolean;
}

/** A prepared update of index and work tree. */
export interface Checkout {
  /** Renames the files into place and swaps the index. Never throws; returns by path what could not be updated. */
  apply(): Promise<ReadonlyMap<string, Obstacle>>;
  /** Ends the preparation without any change. */
  discard(): Promise<void>;
}

interface CheckoutOptions {
  /** Returns the blobs at a path that may be replaced; null stands for no file. */
  readonly replaceable: (change: FileChange) => ReadonlySet<string | null>;
  /** The bytes of new files by path, if they are in memory. */
  readonly contents?: ReadonlyMap<string, Buffer> | undefined;
  /** Whether a path is never written, such as those of the service's own files. */
  readonly isExcluded: (path: string) => boolean;
  /** Whether a power loss may have torn files: then a file that is empty, or has a NUL in it, is replaced. */
  readonly torn?: boolean;
}

/**
 * Reads index and work tree at these paths. The index must be locked.
 * @param keep whether to keep the bytes of files
 * @throws {GitError}
 */
export async function inspect(
  repository: Repository,
  paths: readonly string[],
  keep: boolean,
): Promise<Inspection> {
  const reading = readIndex(repository, paths);
  // An error is thrown below, by the `await`.
  reading.catch(() => {});
  const files = new Map<string, WorkFile | Error>();
  const throwAtLinks = linkGuard(repository.folder);
  const slice = new TimeSlice('service');
  for (const path of paths) {
    try {
      throwAtLinks(path);
      const file = await readWorkFile(repository, path);
      files.set(path, keep ? file : { ...file, content: undefined });
    } catch (error) {
      files.set(path, error instanceof Error ? error : new Error(String(error)));
    }
    if (slice.isOver) await slice.next();
  }
  return { index: await reading, files };
}

/**
 * Prepares to update index and work tree: a copy of the index, and new files outside of the work tree, so that nothing
 * is visible yet. What a person has edited or staged stays. The index must stay locked.
 */
export function prepareCheckout(
  repository: Repository,
  changes: readonly FileChange[],
  { index, files }: Inspection,
  { replaceable, contents, isExcluded, torn }: CheckoutOptions,
): Checkout {
  const obstacles = new Map<string, Obstacle>();
  const reject = ({ path }: FileChange, why: unknown): void => {
    const isPeoples = typeof why === 'string';
    const reason = isPeoples ? why : `could not be written: ${messageOf(why)}`;
    obstacles.set(path, { reason, failed: !isPeoples });
  };
  const safe = changes.filter((change) => {
    if (isSafePath(change) && !isExcluded(change.path)) return true;
    if (change.after === null && (index.get(change.path) ?? null) === null) return false;
    reject(change, 'is no path that the service writes: remove it from the branch');
    return false;
  });
  const entries = safe.filter((change) => {
    const { path, before, after } = change;
    const entry = index.get(path) ?? null;
    if (entry === unmerged || !replaceable(change).has(entry)) return false;
    return entry !== (after?.id ?? null) || before?.mode !== after?.mode;
  });
  const steps = safe.flatMap((change): Step[] => {
    const seen = files.get(change.path);
    const step = (file: WorkFile): Step[] => [{ change, seen: file, staged: nextStagedPath(repository) }];
    // A removed file below a link, or where a folder is now, is gone already.
    if (change.after === null && isError(seen, 'linked-folder')) return [];
    if (seen === undefined || seen instanceof Error) reject(change, seen ?? 'was not inspected');
    else if (isSubmodule(change)) return step(seen);
    else if (seen.id === (change.after?.id ?? null)) return needsMode(change, seen) ? step(seen) : [];
    else if (seen.id === undefined && change.after === null) return [];
    // A folder in the place of the file may be empty when the file is put there.
    else if (seen.id === undefined ? seen.stat?.isDirectory() : replaceable(change).has(seen.id))
      return step(seen);
    else if (torn && isTorn(seen)) return step(seen);
    else reject(change, edited);
    return [];
  });

  const indexing = entries.length > 0 ? catchError(copyIndex(repository, entries)) : undefined;
  const staging = stageFiles(repository, steps, contents);
  const throwAtLinks = linkGuard(repository.folder);
  const place = async (step: Step): Promise<void> => {
    const { change, seen, staged, failure } = step;
    try {
      if (failure !== undefined) throw failure;
      throwAtLinks(change.path);
      if (isSubmodule(change)) placeSubmodule(join(repository.folder, change.path), change.after);
      else if (await placeFile(repository, change, seen, staged)) return;
      else reject(change, edited);
    } catch (error) {
      reject(change, error);
    }
    await removeStaged(step);
  };
  return {
    apply: async () => {
      await staging;
      // Removals come first: a file may become a folder.
      for (const removes of [true, false])
        await someAtATime(
          steps.filter(({ change }) => (change.after === null) === removes),
          place,
        );
      failpoint('checkout.before-index');
      const failure = (await indexing) ?? (indexing && (await catchError(swapIndex(repository))));
      if (failure !== undefined) for (const change of entries) reject(change, failure);
      return obstacles;
    },
    discard: async () => {
      await Promise.all([staging, indexing]);
      await someAtATime(steps, removeStaged);
    },
  };
}

/** Writes the new files, some at a time. */
async function stageFiles(
  repository: Repository,
  steps: readonly Step[],
  contents: ReadonlyMap<string, Buffer> | undefined,
): Promise<void> {
  await someAtATime(steps, async (step) => {
    const { change, seen } = step;
    const { path, after } = change;
    if (after === null || isSubmodule(change) || after.mode === symbolicLink || seen.id === after.id) return;
    step.failure = await catchError(stageFile(repository, step, after, contents?.get(path)));
  });
}

interface Step {
  readonly change: FileChange;
  readonly seen: WorkFile;
  /** The path of the new file until it is in place. */
  readonly staged: string;
  failure?: unknown;
}

/** Removes a new file that was not put into place. If that fails, too, the next start does it. */
async function removeStaged({ staged }: Step): Promise<void> {
  await rm(staged, { force: true }).catch(() => {});
}

/** Returns a path that was not used yet. */
function nextStagedPath({ staging }: Repository): string {
  return join(staging, `file-${stagedFiles++}`);
}

let stagedFiles = 0;

const edited = 'has uncommitted edits: commit or discard them';

/** Returns the error that `work` throws, if any. */
async function catchError(work: Promise<void>): Promise<unknown> {
  return await work.then(
    () => undefined,
    (error: unknown) => error,
  );
}

/** Runs `work` for 16 items at a time, because on a busy disk each write waits for milliseconds. */
async function someAtATime<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const rest = items.values();
  const run = async (): Promise<void> => {
    for (const item of rest) await work(item);
  };
  await Promise.all(Array.from({ length: 16 }, run));
}

function isSubmodule({ before, after }: FileChange): boolean {
  return (after ?? before)?.mode === submodule;
}

function isTorn({ content }: WorkFile): boolean {
  return content !== undefined && (content.length === 0 || content.includes(0));
}

/** A path of the work tree. */
interface WorkFile {
  /** The blob that a regular file or a link would be; null if there is nothing; undefined for anything else. */
  readonly id: string | null | undefined;
  readonly stat: Stats | undefined;
  /** The bytes of a regular file of at most `maxObjectBytes`. */
  readonly content: Buffer | undefined;
}

/** Reads a path of the work tree, small files synchronously, which is several times faster. @throws a system error */
async function readWorkFile({ folder, hash }: Repository, path: string): Promise<WorkFile> {
  const absolute = join(folder, path);
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
async function stageFile(
  repository: Repository,
  { change, seen: { stat }, staged }: Step,
  after: GitFile,
  content: Buffer | undefined,
): Promise<void> {
  const permissions = stat?.isFile()
    ? computeMode(change, stat)
    : (isExecutable(after) ? 0o777 : 0o666) & ~umask;
  const bytes = content ?? (await repository.objects.readOne(after.id))?.content;
  await writeFile(staged, bytes ?? '', { mode: permissions });
  if (!bytes) await repository.run([...largeInPieces, 'cat-file', 'blob', after.id], { outputFile: staged });
  if ((permissions & umask) !== 0) chmodSync(staged, permissions);
}

/**
 * Replaces or removes a file atomically. Returns false if a person has changed it since it was read.
 * @param staged the path of the new file
 * @throws a system error
 */
async function placeFile(
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

/** Creates or removes the folder of a submodule. Anything else in its place stays. */
function placeSubmodule(absolute: string, after: GitFile | null): void {
  try {
    if (after) mkdirSync(absolute, { recursive: true });
    else rmdirSync(absolute);
  } catch {
    // Something else is in its place.
  }
}

/** Returns whether a file that has the new bytes needs another mode. */
function needsMode(change: FileChange, { stat }: WorkFile): boolean {
  return stat?.isFile() === true && computeMode(change, stat) !== (stat.mode & 0o7777);
}

/** Returns the file's own mode, changed only if the commit changes it. */
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

/** Renames a file; copies it first if Git's folder is on another file system than the work tree. */
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

/** The umask is read once, because reading it sets it for a moment. */
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

/** Returns the stat of a path; undefined if the path does not or cannot exist. @throws a system error */
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

/**
 * Returns a function that throws linked-folder if a folder above a path is a symbolic link, which may lead anywhere. It reads
 * each folder once.
 * @param top the work tree
 */
export function linkGuard(top: string): (path: string) => void {
  const plain = new Set<string>();
  return (path) => {
    for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) {
      if (plain.has(folder)) continue;
      if (readStatIfPresent(join(top, folder))?.isSymbolicLink())
        throw new BotshelfError('linked-folder', `${folder} is a symbolic link, make it a folder`);
      plain.add(folder);
    }
  };
}
