import { dirname, join } from 'node:path';
import { failpoint } from '../../failpoint.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { messageOf } from '../../system-error.ts';
import type { Repository } from '../repository.ts';
import { symbolicLink } from '../objects/tree.ts';
import type { FileChange, GitFile } from '../file-change.ts';
import { copyIndex, type IndexEntries, readIndex, swapIndex, unmerged } from './git-index.ts';
import {
  needsMode,
  placeFile,
  placeSubmodule,
  readWorkFile,
  stageFile,
  statOf,
  submodule,
  type WorkFile,
} from './work-tree.ts';

/** What index and work tree have, beside a commit. */
export interface Inspection {
  readonly index: IndexEntries;
  /** By path; an error where the file cannot be read. */
  readonly files: ReadonlyMap<string, WorkFile | Error>;
}

/** A path that index or work tree could not follow. */
export interface OutdatedPath {
  readonly path: string;
  /** A clause for operators, such as "has uncommitted edits". */
  readonly reason: string;
  /** Whether it has failed, and may work at once; a person's edits stay for as long as they please. */
  readonly failed: boolean;
}

/** The way of index and work tree to changes, all but done. The index has to stay locked. */
export interface Checkout {
  /** Does it: renames the files into place and swaps the index. Never throws; what could not be done is returned. */
  apply(): Promise<OutdatedPath[]>;
  /** Ends the preparation; everything is as it was. */
  discard(): Promise<void>;
}

export interface CheckoutOptions {
  /** The blobs of a path that are ours to replace, null for no file; without it that is what the file was before. */
  readonly known?: (path: string) => ReadonlySet<string | null>;
  /** The bytes of new files that are at hand. */
  readonly contents?: ReadonlyMap<string, Buffer>;
  /** Which paths are not to be written, such as those of our own files. */
  readonly isExcluded: (path: string) => boolean;
  /** A power loss may have torn files: one that is empty, or has NUL in it, is ours to replace. */
  readonly torn?: boolean;
}

/**
 * Looks at index and work tree at these paths, with the index locked.
 * @param keep whether the bytes of files are kept
 * @throws {GitError}
 */
export async function inspect(
  repository: Repository,
  paths: readonly string[],
  keep = false,
): Promise<Inspection> {
  const reading = readIndex(repository, paths);
  // A failure is thrown below, where it is awaited.
  reading.catch(() => {});
  const files = new Map<string, WorkFile | Error>();
  const slice = new TimeSlice('service');
  const throwAtLinks = linkGuard(repository.folder);
  for (const path of paths) {
    try {
      throwAtLinks(path);
      const file = await readWorkFile(join(repository.folder, path), repository.hash);
      files.set(path, keep ? file : { ...file, content: undefined });
    } catch (error) {
      files.set(path, error instanceof Error ? error : new Error(String(error)));
    }
    if (slice.isOver) await slice.next();
  }
  return { index: await reading, files };
}

/**
 * Prepares that index and work tree follow changes: the index in a copy, new files beside the work tree. Nothing of it
 * can be seen yet. What a person has edited or staged is left as it is.
 */
export function prepareCheckout(
  repository: Repository,
  changes: readonly FileChange[],
  { index, files }: Inspection,
  options: CheckoutOptions,
): Checkout {
  const { known, contents, torn } = options;
  const outdated: OutdatedPath[] = [];
  const reject = ({ path }: FileChange, why: unknown): void => {
    if (typeof why === 'string') outdated.push({ path, reason: why, failed: false });
    else outdated.push({ path, reason: `could not be written: ${messageOf(why)}`, failed: true });
  };
  const isOurs = ({ path, before }: FileChange, id: string | null): boolean =>
    known ? known(path).has(id) : id === (before?.id ?? null);

  const safe = changes.filter((change) => {
    if (isSafe(change) && !options.isExcluded(change.path)) return true;
    reject(change, 'is no path that the service writes: remove it from the branch');
    return false;
  });
  const entries = safe.filter((change) => {
    const { path, before, after } = change;
    const entry = index.get(path) ?? null;
    if (entry === unmerged || !isOurs(change, entry)) return false;
    return entry !== (after?.id ?? null) || before?.mode !== after?.mode;
  });
  const steps = safe.flatMap((change): Step[] => {
    const seen = files.get(change.path);
    if (seen === undefined || seen instanceof Error) reject(change, seen ?? 'was not looked at');
    else if (isSubmodule(change)) return [{ change, seen }];
    else if (seen.id === (change.after?.id ?? null)) return needsMode(change, seen) ? [{ change, seen }] : [];
    else if (seen.id === undefined ? isFolderFor(change, seen) : isOurs(change, seen.id))
      return [{ change, seen }];
    else if (torn && isTorn(seen)) return [{ change, seen }];
    else reject(change, edited);
    return [];
  });
  const stagedAt = (i: number): string => join(repository.staging, `file-${first + i}`);
  const first = stagedFiles;
  stagedFiles += steps.length;

  const indexing = copyOfIndex(repository, entries);
  const staging = forEach(steps, async (step, i) => {
    const { change, seen } = step;
    const { path, after } = change;
    if (after === null || isSubmodule(change) || after.mode === symbolicLink || seen.id === after.id) return;
    try {
      await stageFile(repository, stagedAt(i), { ...change, after }, seen, contents?.get(path));
    } catch (error) {
      step.failure = error;
    }
  });
  const throwAtLinks = linkGuard(repository.folder);
  const place = async ({ change, seen, failure }: Step, i: number): Promise<void> => {
    try {
      if (failure !== undefined) throw failure;
      throwAtLinks(change.path);
      if (isSubmodule(change)) placeSubmodule(join(repository.folder, change.path), change.after);
      else if (!(await placeFile(repository, change, seen, stagedAt(i)))) reject(change, edited);
    } catch (error) {
      reject(change, error);
    }
  };
  return {
    apply: async () => {
      await staging;
      // What goes makes room for what comes: a file where a folder was.
      await forEach(steps, async (step, i) => {
        if (step.change.after === null) await place(step, i);
      });
      await forEach(steps, async (step, i) => {
        if (step.change.after !== null) await place(step, i);
      });
      failpoint('checkout.before-index');
      const failure = (await indexing) ?? (entries.length > 0 ? await swapped(repository) : undefined);
      if (failure !== undefined) for (const change of entries) reject(change, failure);
      return outdated;
    },
    discard: async () => {
      await Promise.all([staging, indexing]);
    },
  };
}

/** Numbers new files, so that no name is used twice: what is left of a failure goes at the next start. */
let stagedFiles = 0;

const edited = 'has uncommitted edits: commit or discard them';

async function copyOfIndex(repository: Repository, entries: readonly FileChange[]): Promise<unknown> {
  if (entries.length === 0) return undefined;
  return await copyIndex(repository, entries).catch((error: unknown) => error);
}

async function swapped(repository: Repository): Promise<unknown> {
  return await swapIndex(repository).catch((error: unknown) => error);
}

interface Step {
  readonly change: FileChange;
  readonly seen: WorkFile;
  failure?: unknown;
}

/** Does `work` for one after the other. Its steps are small and synchronous, which is several times faster, so others get turns. */
async function forEach<T>(items: readonly T[], work: (item: T, i: number) => Promise<void>): Promise<void> {
  const slice = new TimeSlice('service');
  for (const [i, item] of items.entries()) {
    await work(item, i);
    if (slice.isOver) await slice.next();
  }
}

function isSubmodule({ before, after }: FileChange): boolean {
  const now: GitFile | null = after ?? before;
  return now?.mode === submodule;
}

/** Whether a folder is in the way, which may be empty by the time that the file is put there. */
function isFolderFor({ after }: FileChange, { stat }: WorkFile): boolean {
  return after !== null && stat?.isDirectory() === true;
}

/** Whether git, and any system, takes the path for one below the work tree and outside of Git's own folder. */
function isSafe({ path, after }: FileChange): boolean {
  const isLink = after?.mode === symbolicLink;
  return path
    .split('/')
    .every(
      (name) =>
        !/^(?:|\.{1,2}|(?:\.git|git~1)[ .]*(?::.*)?)$|\\/i.test(name) &&
        !(isLink && /^(?:\.gitmodules|gitmod~|gi7eba)/i.test(name)),
    );
}

/** The folders on the way to a path, the last one first. */
function foldersOf(path: string): string[] {
  const folders: string[] = [];
  for (let folder = dirname(path); folder !== '.'; folder = dirname(folder)) folders.push(folder);
  return folders;
}

function isTorn({ content }: WorkFile): boolean {
  return content !== undefined && (content.length === 0 || content.includes(0));
}

/** Returns what throws where a folder on the way to a path is a symbolic link, which may lead anywhere. Looks at each once. */
function linkGuard(top: string): (path: string) => void {
  const plain = new Set<string>();
  return (path) => {
    for (const folder of foldersOf(path)) {
      if (plain.has(folder)) continue;
      if (statOf(join(top, folder))?.isSymbolicLink())
        throw new Error(`${folder} is a symbolic link, make it a folder`);
      plain.add(folder);
    }
  };
}
