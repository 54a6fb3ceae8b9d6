import { lstatSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { writeAtomically } from '../../lib/atomic-write.ts';
import type { Log } from '../../lib/log.ts';
import type { Fault } from '../page/fault.ts';
import type { FileReading } from './read-settings.ts';

/** What a file says. */
export interface WatchedValue<T> {
  /** Left out where the file cannot be used at all. */
  readonly value?: T | undefined;
  readonly faults?: readonly Fault[];
  /** The path of another file that it was read with; null for none. */
  readonly beside?: string | null;
}

export interface WatchOptions {
  /** The file that keeps the last valid version between runs; null for none. */
  readonly copy: string | null;
  readonly log: Log;
  /** Called with all faults whenever the file was read. */
  readonly onFaults: (faults: readonly Fault[]) => void;
  /** Called when another value than that of the first read is in force. */
  readonly onChange: () => void;
}

export interface WatchedFileOptions<T> extends WatchOptions {
  /** The file. Absolute, as that beside it. */
  readonly path: string;
  /** What is in force before the file is read, and where it has faults and no valid version is known. */
  readonly initial: T;
  readonly read: () => Promise<FileReading>;
  /** Also for the copy. */
  readonly parse: (reading: FileReading) => WatchedValue<T> | Promise<WatchedValue<T>>;
}

/**
 * The value of a file that is in force: that of its last valid version. Twice a second the stats of the file, and of the
 * one beside it, are compared with those of the last read.
 */
export class WatchedFile<T> {
  readonly #options: WatchedFileOptions<T>;
  readonly #reads = new SerialQueue();
  #current: T;
  #beside: string | null = null;
  /** The stats of the files that were read last, and of those that were seen last. */
  #read: string | undefined;
  #seen: string | undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(options: WatchedFileOptions<T>) {
    this.#options = options;
    this.#current = options.initial;
  }

  get current(): T {
    return this.#current;
  }

  /** Reads the file for the first time, and starts to watch. A faulty one is replaced by the copy of the last valid one. */
  async load(): Promise<void> {
    const { value = this.#current, faults = [] } = await this.#reads.run(async () => await this.#update());
    if (faults.length > 0) this.#current = (await this.#readCopy()) ?? value;
    this.#timer = setInterval(() => this.#poll(), pollIntervalMs).unref();
  }

  /** Reads the file at once where it differs: for a caller that knows that it is whole. */
  async read(): Promise<void> {
    await this.#reads.run(async () => {
      if (this.#stats() !== this.#read) await this.#update();
    });
  }

  async close(): Promise<void> {
    clearInterval(this.#timer);
    await this.#reads.run(async () => {});
  }

  /** Reads the files once they stay as they are: an editor may be writing one of them. */
  #poll(): void {
    const stats = this.#stats();
    if (stats !== this.#read && stats === this.#seen && this.#reads.size === 0) void this.read();
    this.#seen = stats;
  }

  async #update(): Promise<WatchedValue<T>> {
    const { read, parse, onFaults, onChange } = this.#options;
    const stats = this.#stats();
    const reading = await read();
    const parsed = await parse(reading);
    const { value, faults = [], beside = null } = parsed;
    const isBesideKnown = beside === this.#beside;
    this.#beside = beside;
    this.#read = isBesideKnown ? stats : this.#stats();
    onFaults(faults);
    if (value === undefined || faults.length > 0) return parsed;
    await this.#keep(reading);
    if (!isDeepStrictEqual(value, this.#current)) {
      this.#current = value;
      if (this.#timer !== undefined) onChange();
    }
    return parsed;
  }

  /** Returns the value of the copy; undefined without one that can be used. */
  async #readCopy(): Promise<T | undefined> {
    const bytes = await readFile(this.#options.copy ?? '').catch(() => undefined);
    return bytes && (await this.#options.parse(bytes)).value;
  }

  async #keep(reading: FileReading): Promise<void> {
    const { path, copy, log } = this.#options;
    if (copy === null) return;
    try {
      if (reading === undefined) await rm(copy, { force: true });
      else await writeAtomically(copy, reading, { fsync: 'none', mode: 0o600 });
    } catch (error) {
      log.warn(
        { err: error, copy },
        `could not keep a copy of ${basename(path)}: it is missing if the file is faulty at the next start`,
      );
    }
  }

  #stats(): string {
    const { path } = this.#options;
    return JSON.stringify((this.#beside === null ? [path] : [path, this.#beside]).map(readFileStat));
  }
}

const pollIntervalMs = 500;

function readFileStat(path: string): readonly number[] | null {
  try {
    const { size, mtimeMs, ctimeMs, ino } = lstatSync(path);
    return [size, mtimeMs, ctimeMs, ino];
  } catch {
    return null;
  }
}
