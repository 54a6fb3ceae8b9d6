import type { Log } from '../../lib/log.ts';
import { compareFaults, type Fault } from '../page/fault.ts';

/** The faults in a catalogue, by the id of a bot or by a path that belongs to no bot. */
export class FaultList {
  readonly #faults = new Map<string, readonly Fault[]>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Returns every fault of every file, by path, then by line and column. */
  all(): Fault[] {
    return [...this.#faults.values()].flat().toSorted(compareFaults);
  }

  /** Returns the faults of a bot or a path. */
  of(key: string): readonly Fault[] {
    return this.#faults.get(key) ?? [];
  }

  has(key: string): boolean {
    return this.#faults.has(key);
  }

  keys(): Iterable<string> {
    return this.#faults.keys();
  }

  /**
   * Replaces the faults of a bot or a path, and logs those that are new and the files that have none any more.
   * @param files the paths that exist, as a file that is gone is not valid again
   */
  report(key: string, faults: readonly Fault[], files: readonly string[] = []): void {
    const before = this.#faults.get(key) ?? [];
    if (faults.length > 0) this.#faults.set(key, faults);
    else this.#faults.delete(key);
    for (const fault of faults) {
      if (before.some(({ path, message }) => path === fault.path && message === fault.message)) continue;
      this.#log.warn({ ...fault }, 'a file breaks a rule');
    }
    for (const path of new Set(before.map((fault) => fault.path))) {
      if (files.includes(path) && !faults.some((fault) => fault.path === path))
        this.#log.info({ path }, `${path} is valid again`);
    }
  }
}
