import type { BotId } from '../bot/id.ts';
import type { HashName } from '../git/objects/object-id.ts';
import { ObjectReader } from '../git/objects/object-reader.ts';
import { parseTree, toKind } from '../git/objects/tree.ts';
import type { Repository } from '../git/repository.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { readShard } from './shards.ts';

/** A commit of the state's history. */
interface PastState {
  readonly tree: string;
  /** Seconds since the epoch. */
  readonly time: number;
  readonly identity: string;
  readonly subject: string;
}

/** The end of a day, and the state then. */
export interface Moment {
  /** The day (UTC), since the epoch. */
  readonly period: number;
  /** The tree of the last commit of the day: the counts are others only if this is. */
  readonly tree: string;
}

export const secondsPerHour = 60 * 60;
export const secondsPerDay = 24 * secondsPerHour;

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
 * Returns the last commit of each day (UTC) that has one, by the number of the day since the epoch, in ascending order.
 * The last is the one of the latest time, so a clock that jumps spoils no day but those it jumped to.
 * @param history newest first
 */
export function findLastOfDays<T extends { readonly time: number }>(history: readonly T[]): Map<number, T> {
  const last = new Map<number, T>();
  for (const commit of history) {
    const day = Math.floor(commit.time / secondsPerDay);
    const known = last.get(day);
    if (known === undefined || commit.time > known.time) last.set(day, commit);
  }
  return new Map([...last].toSorted(([a], [b]) => a - b));
}

/** Returns the moments of the days that are over. @param now seconds since the epoch */
export async function listMoments(
  repository: Repository,
  tip: string | null,
  now: number,
): Promise<Moment[]> {
  const history = tip === null ? [] : await readHistory(repository, tip);
  const today = Math.floor(now / secondsPerDay) * secondsPerDay;
  // Others were dated by a clock that was wrong.
  const past = history.filter(({ time }) => time >= minTime && time < today);
  return [...findLastOfDays(past)].map(([period, { tree }]) => ({ period, tree }));
}

/** The begin of 2020: Botshelf did not exist before. */
const minTime = Date.UTC(2020, 0) / 1000;

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

  /**
   * Calls `take` with the counts in a tree. A bot may be left out whose count is that in the known tree.
   * @throws {GitError}
   */
  async read(
    tree: string,
    known: string | undefined,
    take: (id: BotId, count: number) => void,
  ): Promise<void> {
    const files = await this.#listChangedFiles(tree, known);
    const shards = files.filter(({ path }) => /^\d\d\/\d\d\.json$/.test(path));
    await this.#readFiles(shards, (path, text) => {
      readShard(path, text, (id, { count }) => {
        if (count !== undefined) take(id, count.value);
      });
    });
  }

  close(): void {
    this.#objects.close();
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
