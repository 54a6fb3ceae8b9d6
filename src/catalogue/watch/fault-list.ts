import type { Log } from '../../log.ts';
import { compareFaults, type Fault } from '../page/fault.ts';

/** What is wrong in a catalogue now, by the bot or by the path that is no bot's. */
export class FaultList {
  readonly #faults = new Map<string, readonly Fault[]>();
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Every fault of every file, by path, then by line and column. */
  all(): Fault[] {
    return [...this.#faults.values()].flat().toSorted(compareFaults);
  }

  /** The faults of a bot or a path. */
  of(key: string): readonly Fault[] {
    return this.#faults.get(key) ?? [];
  }

  has(key: string): boolean {
    return this.#faults.has(key);
  }

  keys(): Iterable<string> {
    return this.#faults.keys();
  }

  /** Notes what is wrong with a bot or a path, and says once what was not before. */
  report(key: string, faults: readonly Fault[]): void {
    const before = this.#faults.get(key) ?? [];
    if (faults.length > 0) this.#faults.set(key, faults);
    else this.#faults.delete(key);
    for (const fault of faults) {
      if (before.some(({ path, message }) => path === fault.path && message === fault.message)) continue;
      this.#log.warn({ ...fault }, 'a file breaks a rule');
    }
  }
}
