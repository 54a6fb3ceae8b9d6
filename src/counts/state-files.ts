import { getHeapStatistics } from 'node:v8';
import { type ObjectReader, parseHeaders, parseTree, toKind, type TreeEntry } from '../git/objects.ts';
import type { Repository } from '../git/repository.ts';
import { stateRef } from '../git/refs.ts';
import { BotshelfError, isError } from '../lib/errors.ts';
import { parseDayPath } from './state.ts';

/** A file of a state in Git. */
export interface StateFile {
  readonly path: string;
  /** The id of its blob. */
  readonly id: string;
}

/** A file of the counts at the end of a day. */
export interface DayFile extends StateFile {
  /** The day (UTC), since the epoch. */
  readonly period: number;
}

/** Returns the blobs of the shards of a commit by their paths, whatever their sizes. @throws as listShards */
export async function findShards(repository: Repository, commit: string): Promise<Map<string, string>> {
  return new Map(
    [...(await findEntries(repository, commit, shardNames))].map(([path, { id }]) => [path, id]),
  );
}

/**
 * Lists the shards of a commit of the state ref, whose content is not read. Other entries of the tree are ignored.
 * @throws {BotshelfError} state-refused, if a shard or all of them are too large
 * @throws {GitError}
 */
export async function listShards(repository: Repository, commit: string): Promise<readonly StateFile[]> {
  const shards = (await listSizes(repository, commit, shardNames)).filter(({ kind }) => kind === 'file');
  const large = shards.find(({ bytes = 0 }) => bytes > maxShardBytes);
  if (large) throw createRefusal(commit, `${large.path} has more than ${toMebibytes(maxShardBytes)}`);
  if (shards.reduce((sum, { bytes = 0 }) => sum + bytes, 0) > maxStateBytes)
    throw createRefusal(commit, `its files have more than ${toMebibytes(maxStateBytes)} together`);
  return shards;
}

/** Returns the id of the folder of days of a commit of the state ref, if it has one. @throws as listDays */
export async function findDaysFolder(repository: Repository, commit: string): Promise<string | undefined> {
  return (await findEntries(repository, commit, dayNames.slice(0, 1))).get('days')?.id;
}

/** Returns the days that a commit of the state ref has an entry of. @throws as listDays */
export async function findDays(repository: Repository, commit: string): Promise<number[]> {
  const paths = [...(await findEntries(repository, commit, dayNames)).keys()];
  return paths.flatMap((path) => parseDayPath(path) ?? []);
}

/**
 * Lists the files of days of a commit of the state ref, ascending, and names the unreadable days that are left out.
 * @throws {BotshelfError} state-refused, if a folder is too large
 * @throws {GitError}
 */
export async function listDays(
  repository: Repository,
  commit: string,
): Promise<{ readonly days: readonly DayFile[]; readonly faults: readonly string[] }> {
  const days: DayFile[] = [];
  const faults: string[] = [];
  for (const { path, id, kind, bytes = Infinity } of await listSizes(repository, commit, dayNames)) {
    const period = parseDayPath(path);
    if (period === undefined) continue;
    if (kind === 'file' && bytes <= maxDayBytes) days.push({ path, id, period });
    else
      faults.push(
        `${path} of ${stateRef} is left out of the counts over time, because it ${
          kind === 'file' ? `is missing or has more than ${toMebibytes(maxDayBytes)}` : 'is no file'
        }: restore it from an older commit of the ref`,
      );
  }
  return { days: days.toSorted((a, b) => a.period - b.period), faults };
}

/** Returns the contents of blobs of the state. @throws as ObjectReader, and if one is too large */
export async function readStateFiles(objects: ObjectReader, ids: readonly string[]): Promise<Buffer[]> {
  return (await objects.read(ids, maxDayBytes)).map((file, i) => {
    if (file) return file.content;
    throw new Error(`the blob ${ids[i]} of ${stateRef} is too large: restore its file from an older commit`);
  });
}

/** Returns the error for a commit of the state ref that is not read. */
export function createRefusal(commit: string, reason: string): BotshelfError {
  const message = `the commit ${commit} of ${stateRef} is not read, because ${reason}: set the ref to an older commit, in every clone and at the remote ("git log ${stateRef}" lists them)`;
  return new BotshelfError('state-refused', message);
}

/** Lists the entries of a tree that match these patterns, as findEntries does. `bytes` is undefined for a missing file. */
async function listSizes(repository: Repository, commit: string, names: readonly RegExp[]) {
  const entries = [...(await findEntries(repository, commit, names))];
  if (entries.length === 0) return [];
  const input = entries.map(([, { id }]) => `${id}\n`).join('');
  const headers = parseHeaders(await repository.run(['cat-file', '--batch-check'], { input }));
  return entries.map(([path, { id, mode }]) => ({
    path,
    id,
    kind: toKind(mode),
    bytes: headers.get(id)?.size,
  }));
}

/** Finds the entries of a tree that match these patterns, level by level; other folders are not read. */
async function findEntries(
  { objects, hash }: Repository,
  commit: string,
  names: readonly RegExp[],
): Promise<ReadonlyMap<string, TreeEntry>> {
  let found = new Map([['', { id: `${commit}^{tree}`, mode: '40000' }]]);
  for (const name of names) {
    const folders = [...found].filter(([, { mode }]) => toKind(mode) === 'folder');
    found = new Map();
    const ids = folders.map(([, { id }]) => id);
    const trees = await objects.readTrees(ids, maxFolderBytes).catch((error: unknown) => {
      if (!isError(error, 'list-too-long')) throw error;
      throw createRefusal(commit, `a folder in it has names of more than ${maxFolderBytes} bytes`);
    });
    for (const [i, tree] of trees.entries())
      for (const [entryName, entry] of parseTree(tree, hash)) {
        const above = folders[i]?.[0];
        if (name.test(entryName)) found.set(above ? `${above}/${entryName}` : entryName, entry);
      }
  }
  return found;
}

function toMebibytes(bytes: number): string {
  return `${Math.floor(bytes / 1024 / 1024)} MiB`;
}

/** `33/12.json` */
const shardNames = [/^\d\d$/, /^\d\d\.json$/];

/** `days/2026/11-22` */
const dayNames = [/^days$/, /^20\d\d$/, /^\d\d-\d\d$/];

/** The most bots of a state, on a machine with enough memory. */
const maxBotsInAll = 2_500_000;

/**
 * Bytes of heap for a bot of a state. A bot of the catalogue takes more: a gigabyte, which is enough for 100,000, may have the
 * state of 500,000.
 */
const heapPerBot = 2048;

/** The most bots of a state on this machine. */
export const maxBots: number = Math.min(
  maxBotsInAll,
  Math.floor(getHeapStatistics().heap_size_limit / heapPerBot),
);

/** A line with a count, a token and an edit has about 210 bytes. */
const maxStateBytes = 256 * maxBots;

/** Of a shard: twenty times the average one of 2.5 million bots. Bounded because a shard is written without a pause. */
const maxShardBytes = 1024 * 1024;

/** Of the names in a folder. Those of a year's days take 12 KiB; two hundred folders are parsed without a pause. */
const maxFolderBytes = 64 * 1024;

/** Enough for a day on which all bots post. */
const maxDayBytes = 41 * maxBots;
