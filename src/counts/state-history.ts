import type { BotId } from '../bot/id.ts';
import type { HashName } from '../git/objects/object-id.ts';
import { ObjectReader } from '../git/objects/object-reader.ts';
import { parseTree, toKind } from '../git/objects/tree.ts';
import type { Repository } from '../git/repository.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { type Hour, hoursFolder, hoursIndex, parseHoursIndex, readHours } from './hour-files.ts';
import { readShard } from './shards.ts';

/** A commit of the state's history. */
export interface PastState {
  readonly tree: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly identity: string;
  readonly subject: string;
}

/** The end of a period, and where its counts are. */
export interface Moment {
  /** Since the epoch. */
  readonly period: number;
  /** The tree that the last commit of the period was made with: the counts are others only if this is. */
  readonly tree: string;
  /** The tree that has the counts now. */
  readonly source: string;
  /** Whether they are in its files of hours; else they are its own. */
  readonly inHourFiles: boolean;
}

/** The hours that the trees of pruned commits keep in files, by tree. */
export type HourIndexes = ReadonlyMap<string, readonly Hour[]>;

export const secondsPerHour = 60 * 60;
export const secondsPerDay = 24 * secondsPerHour;

/** The days before today for which hourly counts are kept. */
export const hourlyDays = 30;

/** The commits of a state's own line of history, newest first. @throws {GitError} */
export async function readHistory(repository: Repository, tip: string): Promise<PastState[]> {
  const format = '--format=%T%x09%ct%x09%cn <%ce>%x09%s';
  const lines = (await repository.run(['log', '--first-parent', format, tip])).split('\n').slice(0, -1);
  return lines.map((line) => {
    const [tree = '', time = '', identity = '', ...subject] = line.split('\t');
    return { tree, time: Number(time), identity, subject: subject.join('\t') };
  });
}

/**
 * Returns the last commit of each period that has one, by the number of the period since the epoch, in ascending
 * order. The last is the one of the latest time, so a clock that jumps spoils no period but those it jumped to.
 * @param history newest first
 * @param seconds the length of a period
 */
export function findLastOfPeriods<T extends { readonly time: number }>(
  history: readonly T[],
  seconds: number,
): Map<number, T> {
  const last = new Map<number, T>();
  for (const commit of history) {
    const period = Math.floor(commit.time / seconds);
    const known = last.get(period);
    if (known === undefined || commit.time > known.time) last.set(period, commit);
  }
  return new Map([...last].toSorted(([a], [b]) => a - b));
}

/** Returns the first hour that is kept: that with which the day 30 days ago began. @param now seconds since the epoch */
export function computeFirstHour(now: number): number {
  return (Math.floor(now / secondsPerDay) - hourlyDays) * 24;
}

/** Returns the moments of the days and hours that are over. @param now seconds since the epoch */
export async function planReading(
  repository: Repository,
  reader: HistoryReader,
  tip: string | null,
  now: number,
): Promise<{ readonly days: Moment[]; readonly hours: Moment[] }> {
  const all = tip === null ? [] : await readHistory(repository, tip);
  // Others were dated by a clock that was wrong.
  const history = all.filter(({ time }) => time >= minTime && time <= now);
  const before = (seconds: number): PastState[] =>
    history.filter(({ time }) => time < Math.floor(now / seconds) * seconds);
  const firstHour = computeFirstHour(now);
  const recent = history.filter(({ time }) => time >= (firstHour - 2 * hourlyDays * 24) * secondsPerHour);
  const indexes = await reader.readHourIndexes(recent);
  const days = listMoments(before(secondsPerDay), secondsPerDay, indexes);
  const hours = listHours(before(secondsPerHour), indexes).filter(({ period }) => period >= firstHour);
  // What was known before the first hour is kept as that of the hour before.
  const base = days.findLast(({ period }) => period < firstHour / 24);
  return { days, hours: base === undefined ? hours : [{ ...base, period: firstHour - 1 }, ...hours] };
}

/** The begin of 2020: Botshelf did not exist before. */
const minTime = Date.UTC(2020, 0) / 1000;

/** Returns the hours of which commits are left, or which pruned commits keep in files, ascending. */
export function listHours(history: readonly PastState[], indexes: HourIndexes): Moment[] {
  const hours = new Map(
    listMoments(history, secondsPerHour, indexes).map((moment) => [moment.period, moment]),
  );
  for (const { tree: source, time } of history.toSorted((a, b) => a.time - b.time)) {
    for (const { hour: period, tree } of indexes.get(source) ?? []) {
      if (period < Math.floor(time / secondsPerHour) && hours.get(period)?.inHourFiles !== false)
        hours.set(period, { period, tree, source, inHourFiles: true });
    }
  }
  return [...hours.values()].toSorted((a, b) => a.period - b.period);
}

function listMoments(history: readonly PastState[], seconds: number, indexes: HourIndexes): Moment[] {
  return [...findLastOfPeriods(history, seconds)].map(([period, { tree: source }]) => ({
    period,
    tree: findOwnTree(source, indexes),
    source,
    inHourFiles: false,
  }));
}

/** Returns the tree that a commit was made with, before it was given the hours of its day. */
export function findOwnTree(tree: string, indexes: HourIndexes): string {
  return indexes.get(tree)?.at(-1)?.tree ?? tree;
}

/** Receives the count that a bot had at the end of a period. */
export type TakeCount = (period: number, id: BotId, count: number) => void;

/**
 * Reads counts of earlier states in slices of time, through a git of its own, so that nothing else waits. Close it when
 * done.
 */
export class HistoryReader {
  readonly #objects: ObjectReader;
  readonly #hash: HashName;
  readonly #signal: AbortSignal | undefined;

  /** @param signal ends what is under way */
  constructor(repository: Repository, signal?: AbortSignal) {
    this.#objects = new ObjectReader(repository.folder);
    this.#hash = repository.hash;
    this.#signal = signal;
  }

  /** The hours that the trees of these commits keep in files. @throws {GitError} */
  async readHourIndexes(commits: readonly PastState[]): Promise<HourIndexes> {
    const indexes = await this.#objects.read(commits.map(({ tree }) => `${tree}:${hoursIndex}`));
    return new Map(
      commits.flatMap(({ tree }, i) => {
        const index = indexes[i];
        return index === undefined ? [] : [[tree, parseHoursIndex(index.content.toString())]];
      }),
    );
  }

  /**
   * Calls `take` with the counts at `moments[first]`, and at those after it in the same files. A bot may be left out whose
   * count is that of the moment before. Returns how many moments were read.
   * @throws {GitError}
   */
  async read(moments: readonly Moment[], first: number, take: TakeCount): Promise<number> {
    const rest = moments.slice(first);
    const source = rest[0]?.source ?? '';
    const end = rest.findIndex((moment) => !moment.inHourFiles || moment.source !== source);
    if (end === 0) {
      await this.#readTree(source, rest[0]?.period ?? 0, moments[first - 1], take);
      return 1;
    }
    const inFiles = end === -1 ? rest : rest.slice(0, end);
    await this.#readHourFiles(source, inFiles, take);
    return inFiles.length;
  }

  close(): void {
    this.#objects.close();
  }

  async #readTree(tree: string, period: number, known: Moment | undefined, take: TakeCount): Promise<void> {
    const files = await this.#listChangedFiles(tree, known?.inHourFiles === false ? known.source : undefined);
    const shards = files.filter(({ path }) => /^\d\d\/\d\d\.json$/.test(path));
    await this.#readFiles(shards, (path, text) => {
      readShard(path, text, (id, { count }) => {
        if (count !== undefined) take(period, id, count.value);
      });
    });
  }

  async #readHourFiles(tree: string, moments: readonly Moment[], take: TakeCount): Promise<void> {
    const index = await this.#objects.readOne(`${tree}:${hoursIndex}`);
    const hours = parseHoursIndex(index?.content.toString() ?? '');
    const places = moments.map(({ period }) => ({
      period,
      place: hours.findIndex(({ hour }) => hour === period),
    }));
    const files = await this.#listChangedFiles(`${tree}:${hoursFolder}`);
    const ofBots = files.filter(({ path }) => /^\d\d$/.test(path));
    await this.#readFiles(ofBots, (_path, text) => {
      readHours(text, (id, counts) => {
        for (const { period, place } of places) {
          const count = counts[place];
          if (count !== undefined) take(period, id, count);
        }
      });
    });
  }

  /** Lists the files below a tree that are not the same in a known one. */
  async #listChangedFiles(tree: string, known?: string, folder = ''): Promise<HistoryFile[]> {
    const [after = noTree, before = noTree] = await this.#objects.readTrees(
      known === undefined ? [tree] : [tree, known],
    );
    const knownEntries = parseTree(before, this.#hash);
    const files = [...parseTree(after, this.#hash)].map(async ([name, { mode, id }]) => {
      const knownId = knownEntries.get(name)?.id;
      if (id === knownId) return [];
      if (toKind(mode) !== 'folder') return [{ path: `${folder}${name}`, id }];
      return await this.#listChangedFiles(id, knownId, `${folder}${name}/`);
    });
    return (await Promise.all(files)).flat();
  }

  async #readFiles(files: readonly HistoryFile[], take: (path: string, text: string) => void): Promise<void> {
    const slice = new TimeSlice();
    for (let start = 0; start < files.length; start += filesAtOnce) {
      this.#signal?.throwIfAborted();
      const some = files.slice(start, start + filesAtOnce);
      const blobs = await this.#objects.read(some.map(({ id }) => id));
      for (const [i, { path }] of some.entries()) {
        if (slice.isOver) await slice.next();
        take(path, blobs[i]?.content.toString() ?? '');
      }
    }
  }
}

const filesAtOnce = 200;

const noTree = Buffer.alloc(0);

interface HistoryFile {
  readonly path: string;
  readonly id: string;
}
