import { availableParallelism } from 'node:os';
import type { BotId } from '../../bot/id.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import { splitIntoParts, WorkerPool } from '../../lib/worker-pool.ts';
import type { HashName } from '../../git/objects/object-id.ts';
import { packBots, type PackedBots } from './packed-bots.ts';
import type { IndexedBot } from './bot-index.ts';
import { readBot } from './bot-reader.ts';
import { type Fault, createFileFault } from '../page/fault.ts';
import { type FileStat, computeFingerprint, groupByBot, hasFewFiles, listFolder, listTop } from './folder.ts';
import { botsFolder, isFolderName } from '../page/layout.ts';
import type { PageLimits } from '../page/rules.ts';
import { readPageFile } from '../page/page-file.ts';

/** Everything in a folder at one time, in a form that threads can exchange. */
export interface FolderReading {
  readonly folder: string;
  /** When it was read, in milliseconds since the epoch. */
  readonly at: number;
  readonly stats: ReadonlyMap<string, FileStat>;
  readonly bots: PackedBots;
  /** Faults by bot id, or by the path of a file that belongs to no bot. */
  readonly faults: ReadonlyMap<BotId | string, readonly Fault[]>;
}

/**
 * Reads everything in these folders of `bots/` for the first time, in a thread for each core, or here, in slices of time,
 * where they have few files, and calls back with each as it comes. A folder that cannot be read is left out: the next scan of it reports why.
 */
export async function readFolders(
  root: string,
  hash: HashName,
  folders: readonly string[],
  limits: PageLimits,
  onReading: (reading: FolderReading) => void,
): Promise<void> {
  if (hasFewFiles(root, folders)) {
    const read = (folder: string): void =>
      readFolderBatch({ root, hash, folders: [folder], limits }).forEach(onReading);
    await forEachInSlices(folders, read, 'service');
    return;
  }
  const threads = Math.min(availableParallelism(), 4);
  const pool = new WorkerPool<typeof readFolderBatch>(new URL(import.meta.url), 'readFolderBatch', {
    threads,
  });
  try {
    await Promise.all(
      splitIntoParts(folders, foldersPerTask).map(async (part) => {
        for (const reading of await pool.run({ root, hash, folders: part, limits })) onReading(reading);
      }),
    );
  } finally {
    await pool.close();
  }
}

const foldersPerTask = 20;

interface ReadTask {
  /** The folder that holds `bots/`. */
  readonly root: string;
  readonly hash: HashName;
  readonly folders: readonly string[];
  readonly limits: PageLimits;
}

/** Runs in a thread, or here. */
export function readFolderBatch({ root, hash, folders, limits }: ReadTask): FolderReading[] {
  return folders.flatMap((folder) => {
    try {
      return readFolder(root, hash, folder, limits);
    } catch {
      return [];
    }
  });
}

function readFolder(root: string, hash: HashName, folder: string, limits: PageLimits): FolderReading {
  const at = Date.now();
  const stats = listFolder(root, folder);
  const grouped = groupByBot(folder, stats.keys());
  const faults = new Map<string, readonly Fault[]>();
  for (const [name, { rule, message }] of grouped.misplaced) {
    const path = `${botsFolder}/${folder}/${name}`;
    faults.set(path, [createFileFault(path, rule, message)]);
  }
  const bots: IndexedBot[] = [];
  for (const [id, places] of grouped.bots) {
    const files = places.flatMap((place) => readPageFile(root, place, hash) ?? []);
    const reading = readBot(id, files, undefined, limits);
    if (reading.bot) bots.push(reading.bot);
    if (reading.faults.length > 0) faults.set(id, reading.faults);
  }
  return { folder, at, stats, bots: packBots(bots), faults };
}

/**
 * Returns the fingerprint of each folder of `bots/`, made of the names and stats in it. A folder that cannot be read is
 * left out: the next scan of it reports why. Many files are read in a thread, as the system calls for 150,000 of them
 * take half a second.
 * @throws when `bots/` cannot be read
 */
export async function readFingerprints(root: string): Promise<ReadonlyMap<string, string>> {
  const folders = listTop(root).filter(isFolderName);
  if (hasFewFiles(root, folders)) return fingerprintFolders({ root, folders });
  const pool = new WorkerPool<typeof fingerprintFolders>(new URL(import.meta.url), 'fingerprintFolders', {
    threads: 1,
  });
  try {
    return await pool.run({ root, folders });
  } finally {
    await pool.close();
  }
}

/** Runs in the thread. */
export function fingerprintFolders({
  root,
  folders,
}: Pick<ReadTask, 'root' | 'folders'>): ReadonlyMap<string, string> {
  const fingerprints = new Map<string, string>();
  for (const folder of folders) {
    try {
      fingerprints.set(folder, computeFingerprint(listFolder(root, folder)));
    } catch {
      // The next scan of the folder reports it.
    }
  }
  return fingerprints;
}
