import type { IndexedFile } from '../index/bot-index.ts';
import { sameStat, type FileStat } from '../load/folder.ts';
import type { PageFile } from '../page/page-file.ts';

/**
 * What is remembered of one folder: the stat that each file had when it was last read, and which of them
 * must be read again although the stat is the same.
 */
export class StatCache {
  readonly #files = new Map<string, Seen>();

  /** The names that were there, also those that went missing a moment ago. */
  get names(): Iterable<string> {
    return this.#files.keys();
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  /** The names of which anything differs from what is on disk now. */
  changed(stats: ReadonlyMap<string, FileStat>): Set<string> {
    const names = new Set<string>();
    for (const [name, stat] of stats) {
      if (this.differs(name, stat)) names.add(name);
    }
    for (const name of this.#files.keys()) if (!stats.has(name)) names.add(name);
    return names;
  }

  /** Whether a file is not as it was seen, or may not be. */
  differs(name: string, stat: FileStat | undefined): boolean {
    const seen = this.#files.get(name);
    if (seen === undefined || stat === undefined) return seen !== undefined || stat !== undefined;
    return seen.unsure === true || !sameStat(seen, stat);
  }

  /** Whether a file was read a moment ago, and by its stat not changed since: it is too early to be sure. */
  isRecent(name: string, stat: FileStat | undefined, now: number): boolean {
    const seen = this.#files.get(name);
    if (seen?.unsure !== true || seen.missingSince !== undefined || stat === undefined) return false;
    return sameStat(seen, stat) && isWithinTick(stat, now);
  }

  /**
   * How many milliseconds from `now` a file should be left alone before what is there is believed.
   * A file that ends as the one served did is complete, as is one that was quiet for a while; any other may
   * be half written. A file that is gone may be in the middle of being replaced.
   */
  quietFor(
    name: string,
    stat: FileStat | undefined,
    file: PageFile | undefined,
    served: IndexedFile | undefined,
    now: number,
  ): number {
    if (stat === undefined || file === undefined) {
      const since = this.#files.get(name)?.missingSince ?? now;
      return since + gone - now;
    }
    const age = now - stat.mtimeMs;
    return file.tail === served?.tail || age < 0 ? 0 : quiet - age;
  }

  /** Notes that a file was read, or found missing, at `now`, and not believed yet. */
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
   * Notes that a file was read, or found missing, at `now`. True when it changed so recently that a second
   * change may have left the same stat: then it is read once more.
   */
  settle(name: string, stat: FileStat | undefined, now: number): boolean {
    if (stat === undefined) {
      this.#files.delete(name);
      return false;
    }
    const unsure = isWithinTick(stat, now);
    this.#files.set(name, unsure ? { ...stat, unsure } : stat);
    return unsure;
  }

  /** Notes a file of which only the name is known: it is read at the next look, and missed when it is gone. */
  expect(name: string): void {
    this.#files.set(name, { ...never, unsure: true });
  }

  /** The stats of all files; undefined while there is one that cannot be recognised by its stat. */
  stats(): ReadonlyMap<string, FileStat> | undefined {
    return [...this.#files.values()].some(({ unsure }) => unsure) ? undefined : this.#files;
  }

  /** The stat by which a file can be recognised without reading it, if there is one. */
  stat(name: string): FileStat | undefined {
    const seen = this.#files.get(name);
    return seen?.unsure ? undefined : seen;
  }
}

interface Seen extends FileStat {
  readonly unsure?: boolean;
  readonly missingSince?: number;
}

function isWithinTick({ mtimeMs, ctimeMs }: FileStat, now: number): boolean {
  return Math.abs(now - Math.max(mtimeMs, ctimeMs)) < clockTick;
}

const never: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** Milliseconds without a change after which a file counts as written to its end. */
const quiet = 400;

/** Milliseconds after which a missing file counts as removed. */
const gone = 100;

/** File times advance in steps; two changes within so many milliseconds may carry one time. */
export const clockTick = 50;
