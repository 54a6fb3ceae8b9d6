import { TimeSlice } from '../../lib/time-slice.ts';
import { isSameFileStat, type FileStat } from '../page/page-file.ts';

/**
 * The stat that each file of one folder had when it was last read, and which of them must be read again although the
 * stat is the same.
 */
export class StatCache {
  readonly #files = new Map<string, CachedStat>();

  /** The names of the files, with those that disappeared a moment ago. */
  get names(): readonly string[] {
    return [...this.#files.keys()];
  }

  /** Whether a file differs from its last read, or may differ. */
  differs(name: string, stat: FileStat | undefined): boolean {
    const known = this.#files.get(name);
    if (known === undefined || stat === undefined) return known !== undefined || stat !== undefined;
    return known.unsure === true || !isSameFileStat(known, stat);
  }

  /**
   * Returns how many milliseconds from `now` to wait before a file is read; 0 or less for no wait. A file that has not
   * changed for a while is complete; any other may be half written. So may be one that changed after `now`, before its stat
   * was read. A file that is gone may be about to be replaced.
   * @param isComplete whether it ends as the version that is served
   * @param isWriting whether Git is writing files: then it is looked at again, for some seconds
   */
  waitFor(
    name: string,
    stat: FileStat | undefined,
    isComplete: boolean,
    now: number,
    isWriting: boolean,
  ): number {
    const isMissing = stat === undefined;
    const waitMs = isMissing ? missingAfterMs : settledAfterMs;
    // A clock that was set back must not make a file missing for hours.
    const age = isMissing ? Math.abs(now - (this.#files.get(name)?.missingSince ?? now)) : now - stat.mtimeMs;
    if (!isMissing && (isComplete || age < -waitMs)) return 0;
    return isWriting && age < maxWritingMs ? waitMs : waitMs - age;
  }

  /** Records that a file was found at `now`, or was missing, and has to be read later. */
  postpone(name: string, stat: FileStat | undefined, now: number): void {
    const missingSince = this.#files.get(name)?.missingSince ?? now;
    this.#files.set(name, { ...(stat ?? { ...never, missingSince }), unsure: true });
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
    const unsure = Math.abs(now - Math.max(stat.mtimeMs, stat.ctimeMs)) < clockTick;
    this.#files.set(name, unsure ? { ...stat, unsure } : stat);
    return unsure;
  }

  /** Adds a file of which only the name is known: the next scan reads it, or finds that it is gone. */
  addUnread(name: string): void {
    this.#files.set(name, { ...never, unsure: true });
  }

  /** Returns the stats of the files that need not be read again while their stat is the same. */
  sureStats(): ReadonlyMap<string, FileStat> {
    return new Map([...this.#files].filter(([, { unsure }]) => !unsure));
  }
}

interface CachedStat extends FileStat {
  readonly unsure?: boolean;
  readonly missingSince?: number;
}

const never: FileStat = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** Milliseconds without a change after which a file counts as written to its end. */
const settledAfterMs = 400;

/** Milliseconds after which a missing file counts as removed. */
const missingAfterMs = 100;

/** Milliseconds that a git is waited for. One that was killed leaves its lock. */
const maxWritingMs = 10_000;

/** Milliseconds: file times advance in steps, and two changes within one may have the same time. */
export const clockTick = 50;

/** Does small pieces of work by name, each after a delay, and one slice of time after the other. */
export class DelayQueue {
  readonly #due = new Map<string, number>();
  readonly #work: (name: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(work: (name: string) => void) {
    this.#work = work;
  }

  /** How many names wait. */
  get size(): number {
    return this.#due.size;
  }

  /** Adds a name that is due in `delay` milliseconds. A name that waits already keeps the earlier time. */
  add(name: string, delay: number): void {
    const due = performance.now() + delay;
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
    // Node 24 warns of a negative one.
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
