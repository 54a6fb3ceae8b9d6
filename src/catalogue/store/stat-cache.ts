import { TimeSlice } from '../../lib/time-slice.ts';
import { isSameFileStat, type FileStat } from '../page/page-file.ts';

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
   * be half written; one that disappeared recently may be about to be replaced. One with a time far in the future is
   * read now, because the time is wrong.
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

interface CachedStat extends FileStat {
  readonly mustReread?: boolean;
  readonly missingSince?: number;
}

const noStat: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** Milliseconds without a change after which a file counts as completely written. */
const completeAfterMs = 400;

/** Milliseconds after which a missing file counts as removed. */
const missingAfterMs = 100;

/** Milliseconds to wait for Git at most. A Git that was killed leaves its lock. */
const maxWritingMs = 10_000;

/** Resolution of file times: two changes within one tick may have the same time. */
export const clockTickMs = 50;

/** Calls back with names after a delay, in slices of time. */
export class DelayQueue {
  readonly #due = new Map<string, number>();
  readonly #work: (name: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(work: (name: string) => void) {
    this.#work = work;
  }

  get size(): number {
    return this.#due.size;
  }

  /** Adds a name that is due in `delayMs`. A waiting name keeps the earlier time. */
  add(name: string, delayMs: number): void {
    const due = performance.now() + delayMs;
    if (this.#closed || (this.#due.get(name) ?? Number.POSITIVE_INFINITY) <= due) return;
    this.#due.set(name, due);
    if (due < this.#timerDue) this.#wait();
  }

  close(): void {
    this.#closed = true;
    this.#due.clear();
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timerDue = Math.min(...this.#due.values());
    if (this.#due.size === 0) return;
    const delay = this.#timerDue - performance.now();
    // Node 24 warns of a negative delay.
    this.#timer = setTimeout(() => this.#run(), Math.max(0, delay)).unref();
  }

  #run(): void {
    const now = performance.now();
    const slice = new TimeSlice('service');
    for (const [name, due] of this.#due) {
      if (due > now) continue;
      this.#due.delete(name);
      this.#work(name);
      if (slice.isOver) break;
    }
    this.#wait();
  }
}
