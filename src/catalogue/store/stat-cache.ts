import type { IndexedFile } from './bot-index.ts';
import { isSameFileStat, type FileStat } from './folder.ts';
import type { PageFile } from '../page/page-file.ts';

/**
 * The stat that each file of one folder had when it was last read, and which of them must be read again although the
 * stat is the same.
 */
export class StatCache {
  readonly #files = new Map<string, CachedStat>();

  /** The names of the files, with those that disappeared a moment ago. */
  get names(): Iterable<string> {
    return this.#files.keys();
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  /** Returns the names of files whose state on disk differs. */
  changed(stats: ReadonlyMap<string, FileStat>): Set<string> {
    const names = new Set<string>();
    for (const [name, stat] of stats) {
      if (this.differs(name, stat)) names.add(name);
    }
    for (const name of this.#files.keys()) if (!stats.has(name)) names.add(name);
    return names;
  }

  /** Whether a file differs from its last read, or may differ. */
  differs(name: string, stat: FileStat | undefined): boolean {
    const known = this.#files.get(name);
    if (known === undefined || stat === undefined) return known !== undefined || stat !== undefined;
    return known.unsure === true || !isSameFileStat(known, stat);
  }

  /**
   * Whether a file was read a moment ago and has the same stat: it is too early to tell whether it has changed since.
   */
  isRecent(name: string, stat: FileStat | undefined, now: number): boolean {
    const known = this.#files.get(name);
    if (known?.unsure !== true || known.missingSince !== undefined || stat === undefined) return false;
    return isSameFileStat(known, stat) && isWithinTick(stat, now);
  }

  /**
   * Returns how many milliseconds from `now` to wait before a file is read; 0 or less for no wait. A file that ends as
   * the served one does is complete, as is one that has not changed for a while; any other may be half written. A file
   * that is gone may be about to be replaced.
   */
  waitFor(
    name: string,
    stat: FileStat | undefined,
    file: PageFile | undefined,
    served: IndexedFile | undefined,
    now: number,
  ): number {
    if (stat === undefined || file === undefined) {
      const since = this.#files.get(name)?.missingSince ?? now;
      return since + missingAfterMs - now;
    }
    const age = now - stat.mtimeMs;
    return file.tail === served?.tail || age < 0 ? 0 : settledAfterMs - age;
  }

  /** Records that a file was found at `now`, or was missing, and has to be read later. */
  postpone(name: string, stat: FileStat | undefined, now: number): void {
    if (stat) this.#files.set(name, { ...stat, unsure: true });
    else
      this.#files.set(name, {
        ...never,
        unsure: true,
        missingSince: this.#files.get(name)?.missingSince ?? now,
      });
  }

  /**
   * Records that a file was read at `now`, or was missing. Returns true when it changed so recently that a second
   * change may leave the same stat: the caller has to read it once more.
   */
  record(name: string, stat: FileStat | undefined, now: number): boolean {
    if (stat === undefined) {
      this.#files.delete(name);
      return false;
    }
    const unsure = isWithinTick(stat, now);
    this.#files.set(name, unsure ? { ...stat, unsure } : stat);
    return unsure;
  }

  /** Adds a file of which only the name is known: the next scan reads it, or finds that it is gone. */
  addUnread(name: string): void {
    this.#files.set(name, { ...never, unsure: true });
  }

  /** Returns the stats of all files; undefined while a file has to be read again whatever its stat. */
  stats(): ReadonlyMap<string, FileStat> | undefined {
    return [...this.#files.values()].some(({ unsure }) => unsure) ? undefined : this.#files;
  }

  /** Returns the stat of a file; undefined while the file has to be read again whatever its stat. */
  stat(name: string): FileStat | undefined {
    const known = this.#files.get(name);
    return known?.unsure ? undefined : known;
  }
}

interface CachedStat extends FileStat {
  readonly unsure?: boolean;
  readonly missingSince?: number;
}

function isWithinTick({ mtimeMs, ctimeMs }: FileStat, now: number): boolean {
  return Math.abs(now - Math.max(mtimeMs, ctimeMs)) < clockTick;
}

const never: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** Milliseconds without a change after which a file counts as written to its end. */
const settledAfterMs = 400;

/** Milliseconds after which a missing file counts as removed. */
const missingAfterMs = 100;

/** Milliseconds: file times advance in steps, and two changes within one may have the same time. */
export const clockTick = 50;
