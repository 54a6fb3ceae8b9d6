import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import type { BotId } from '../../bot/id.ts';
import type { HashName } from '../../git/objects.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import { splitIntoParts, WorkerPool } from '../../lib/worker-pool.ts';
import type { Fault } from '../page/fault.ts';
import {
  botsFolder,
  isFolderName,
  computeFingerprint,
  groupByBot,
  listFolder,
  listTop,
} from '../page/layout.ts';
import { readPageFile } from '../page/page-file.ts';
import type { PageLimits } from '../page/rules.ts';
import { type IndexedBot, readBot } from './bot-index.ts';
import { packFolder, type PackedFolder } from './packed-folder.ts';

/** The content of a folder at one time. */
export interface FolderReading extends PackedFolder {
  /** When it was read, in milliseconds since the epoch. */
  readonly at: number;
  /** Faults by bot id, or by the path of a file that belongs to no bot. */
  readonly faults: ReadonlyMap<BotId | string, readonly Fault[]>;
}

interface ReadTask {
  /** The folder that holds `bots/`. */
  readonly root: string;
  readonly hash: HashName;
  readonly limits: PageLimits;
  readonly folders: readonly string[];
}

/** Reads everything in these folders of `bots/` for the first time, and calls back with each folder. */
export async function readFolders(
  task: ReadTask,
  onReading: (reading: FolderReading) => void,
): Promise<void> {
  await runInThreads(readFolderBatch, task, Math.min(availableParallelism(), 4), onReading);
}

/** Returns the fingerprint of each folder of `bots/`, made of its names and stats. @throws when `bots/` cannot be read */
export async function readFingerprints(root: string): Promise<ReadonlyMap<string, string>> {
  const fingerprints = new Map<string, string>();
  const task = { root, folders: listTop(root).filter(isFolderName) };
  await runInThreads(computeFingerprints, task, 1, ([folder, fingerprint]) =>
    fingerprints.set(folder, fingerprint),
  );
  return fingerprints;
}

/**
 * Runs an exported function of this module on some folders at a time, and calls back with each result. It runs in
 * threads; for few files, on the event loop in slices of time.
 */
async function runInThreads<T extends Pick<ReadTask, 'root' | 'folders'>, R>(
  work: (task: T) => R[],
  task: T,
  threads: number,
  onResult: (result: R) => void,
): Promise<void> {
  const run = (folder: string): void => work({ ...task, folders: [folder] }).forEach(onResult);
  if (hasFewFiles(task)) return await forEachInSlices(task.folders, run, 'service');
  const pool = new WorkerPool<(task: T) => R[]>(new URL(import.meta.url), work.name, { threads });
  try {
    const parts = splitIntoParts(task.folders, foldersPerTask);
    await Promise.all(parts.map(async (folders) => (await pool.run({ ...task, folders })).forEach(onResult)));
  } finally {
    await pool.close();
  }
}

const foldersPerTask = 20;

/** Whether the folders have so few files that starting a thread takes longer than reading them. */
function hasFewFiles({ root, folders }: Pick<ReadTask, 'root' | 'folders'>): boolean {
  let files = 0;
  return folders.every((folder) => {
    try {
      files += readdirSync(join(root, botsFolder, folder)).length;
    } catch {
      // The next scan of the folder reports the error.
    }
    return files < 10_000;
  });
}

/** Reads folders, in a thread or on the event loop. Skips a folder that cannot be read; its next scan reports why. */
export function readFolderBatch({ folders, ...task }: ReadTask): FolderReading[] {
  return readEach(folders, (folder) => readFolder(folder, task));
}

/** Computes fingerprints, in a thread or on the event loop. Skips a folder that cannot be read. */
export function computeFingerprints({
  root,
  folders,
}: Pick<ReadTask, 'root' | 'folders'>): [folder: string, fingerprint: string][] {
  return readEach(folders, (folder) => [folder, computeFingerprint(listFolder(root, folder))]);
}

function readEach<R>(folders: readonly string[], read: (folder: string) => R): R[] {
  return folders.flatMap((folder) => {
    try {
      return [read(folder)];
    } catch {
      return [];
    }
  });
}

function readFolder(folder: string, { root, hash, limits }: Omit<ReadTask, 'folders'>): FolderReading {
  const at = Date.now();
  const stats = listFolder(root, folder);
  const grouped = groupByBot(folder, stats.keys());
  const faults = new Map<string, readonly Fault[]>();
  for (const fault of grouped.misplaced.values()) faults.set(fault.path, [fault]);
  const bots: IndexedBot[] = [];
  for (const [id, places] of grouped.bots) {
    const files = places.flatMap((place) => readPageFile(root, place, hash) ?? []);
    const reading = readBot(id, files, undefined, limits);
    if (reading.bot) bots.push(reading.bot);
    if (reading.faults.length > 0) faults.set(id, reading.faults);
  }
  return { ...packFolder({ folder, fingerprint: '', bots, stats }), at, faults };
}
