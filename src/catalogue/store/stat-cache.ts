import { isSameFileStat, type FileStat } from '../page/layout.ts';

/** The stats of a folder's files at their last reads. It also knows which files must be reread although their stat is the same. */
export class StatCache {
  readonly #files = new Map<string, CachedStat>();

  /** The names of all files, including those that disappeared a moment ago. */
  get names(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** Whether a file must be read, because its stat has changed or is not reliable. */
  differs(name: string, stat: FileStat | undefined): boolean {
    const known = this.#files.get(name);
    if (known === undefined || stat === undefined) return known !== undefined || stat !== undefined;
    return known.mustReread === true || !isSameFileStat(known, stat);
  }

  /**
   * Returns the milliseconds to wait before a file is read; 0 or less to read it now. A file that changed recently may
   * be half written; one that disappeared recently may be about to be replaced. One whose time is more than
   * `completeAfterMs` in the future is read now, because that time is wrong.
   * @param endsAsServed whether its last bytes are those of the served version, so it is complete
   * @param isGitWriting whether Git is writing files; then the wait is longer, up to some seconds
   */
  waitFor(
    name: string,
    stat: FileStat | undefined,
    endsAsServed: boolean,
    now: number,
    isGitWriting: boolean,
  ): number {
    const isMissing = stat === undefined;
    const waitMs = isMissing ? missingAfterMs : completeAfterMs;
    // Absolute, because after the clock was set back the file must not count as missing for hours.
    const age = isMissing ? Math.abs(now - (this.#files.get(name)?.missingSince ?? now)) : now - stat.mtimeMs;
    if (!isMissing && (endsAsServed || age < -waitMs)) return 0;
    return isGitWriting && age < maxWritingMs ? waitMs : waitMs - age;
  }

  /** Records that a file found or missing at `now` has to be read later. */
  postpone(name: string, stat: FileStat | undefined, now: number): void {
    const missingSince = this.#files.get(name)?.missingSince ?? now;
    this.#files.set(name, { ...(stat ?? { ...noStat, missingSince }), mustReread: true });
  }

  /**
   * Records that a file was read at `now`, or was missing. Returns true if it changed so recently that another change
   * may not change its stat: the caller has to read it again after a clock tick.
   */
  record(name: string, stat: FileStat | undefined, now: number): boolean {
    if (stat === undefined) {
      this.#files.delete(name);
      return false;
    }
    const mustReread = Math.abs(now - Math.max(stat.mtimeMs, stat.ctimeMs)) < clockTickMs;
    this.#files.set(name, mustReread ? { ...stat, mustReread } : stat);
    return mustReread;
  }

  /** Adds a file by its name; the next scan reads it or finds that it is missing. */
  addUnread(name: string): void {
    this.#files.set(name, { ...noStat, mustReread: true });
  }

  /** Returns the stats that are reliable: of files that need not be read while their stat is the same. */
  reliableStats(): ReadonlyMap<string, FileStat> {
    return new Map([...this.#files].filter(([, { mustReread }]) => !mustReread));
  }
}

type CachedStat = FileStat & { readonly mustReread?: boolean; readonly missingSince?: number };

const noStat: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** Milliseconds without a change after which a file counts as completely written. */
const completeAfterMs = 400;

/** Milliseconds after which a missing file counts as removed. */
const missingAfterMs = 100;

/** Milliseconds to wait for Git at most. A Git that was killed leaves its lock. */
const maxWritingMs = 10_000;

/** Resolution of file times: two changes within one tick may have the same time. */
export const clockTickMs = 50;
