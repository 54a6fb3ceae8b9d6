import { type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { codeOf, messageOf } from '../../lib/errors.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { createFileFault, type Fault } from '../page/fault.ts';
import { gitkeep } from '../page/layout.ts';
import { readRegularFile } from '../page/page-file.ts';
import type { Parsed } from '../page/json-file.ts';
import { type FileStat, isSameFileStat, readStat } from './folder.ts';

export interface WatchedFolderOptions<T> {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** The name of the folder beside `bots/`. */
  readonly folder: string;
  readonly parse: (name: string, bytes: Buffer) => Parsed<T>;
  /** Called with the faults of a file whenever it was read; with none when it is gone. */
  readonly onFaults: (path: string, faults: readonly Fault[]) => void;
  /** Called after a read that found another version of a file. */
  readonly onChange?: () => void;
}

/**
 * The files of a folder beside `bots/` in memory: of each the last valid version. Events of the kernel are hints to
 * compare the stats of all files with those of the last read; a round every minute finds what they missed.
 */
export class WatchedFolder<T> {
  readonly #options: WatchedFolderOptions<T>;
  readonly #path: string;
  readonly #files = new Map<string, T>();
  readonly #stats = new Map<string, FileStat>();
  readonly #reads = new SerialQueue();
  readonly #closing = new AbortController();
  #version = 0;
  #watcher: FSWatcher | undefined;
  #watchedInode: number | undefined;
  #timer: NodeJS.Timeout | undefined;
  #ticks = 0;
  #hint: NodeJS.Timeout | undefined;

  constructor(options: WatchedFolderOptions<T>) {
    this.#options = options;
    this.#path = join(options.root, options.folder);
  }

  /** The name of the folder. */
  get name(): string {
    return this.#options.folder;
  }

  /** The valid files by their names. */
  get files(): ReadonlyMap<string, T> {
    return this.#files;
  }

  /** Differs from what it was when a file is another. */
  get version(): number {
    return this.#version;
  }

  /** Reads all files for the first time, and starts to watch. */
  async load(): Promise<void> {
    this.#watch();
    await this.read();
    this.#timer = setInterval(() => this.#tick(), tickMs).unref();
  }

  /** Reads the files that differ from the last read. */
  async read(): Promise<void> {
    if (this.#reads.size < 2) await this.#reads.run(async () => await this.#compare());
  }

  /** Reads these files at once, where they differ: for a caller that has written them whole. */
  readFiles(names: readonly string[]): void {
    const version = this.#version;
    for (const name of names) this.#compareFile(name);
    if (this.#version !== version) this.#options.onChange?.();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#timer);
    clearTimeout(this.#hint);
    this.#watcher?.close();
    await this.#reads.run(async () => {});
  }

  async #compare(): Promise<void> {
    const names = this.#listNames();
    if (names === undefined) return;
    const version = this.#version;
    const all = new Set([...names, ...this.#files.keys(), ...this.#stats.keys()]);
    await forEachInSlices(all, (name) => this.#compareFile(name), 'service', this.#closing.signal);
    if (this.#version !== version) this.#options.onChange?.();
  }

  /** Returns the names of the files; undefined where the folder cannot be read: then what was served stays. */
  #listNames(): readonly string[] | undefined {
    const { folder, onFaults } = this.#options;
    try {
      const names = lstatSync(this.#path, { throwIfNoEntry: false }) ? readdirSync(this.#path) : [];
      onFaults(folder, []);
      return names.filter((name) => name !== gitkeep);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      const message = `the folder cannot be read (${messageOf(error)}): make it a folder that the service may read`;
      onFaults(folder, [createFileFault(folder, 'regular-file', message)]);
      return undefined;
    }
  }

  #compareFile(name: string): void {
    const { folder, parse, onFaults } = this.#options;
    const path = `${folder}/${name}`;
    const before = this.#stats.get(name);
    let stat: FileStat | undefined;
    try {
      stat = readStat(join(this.#path, name));
    } catch (error) {
      this.#stats.delete(name);
      const message = `the file cannot be read (${messageOf(error)}): let the service enter the folder`;
      return onFaults(path, [createFileFault(path, 'regular-file', message)]);
    }
    if (before && stat && isSameFileStat(before, stat)) return;
    const bytes = stat && readRegularFile(join(this.#path, name));
    if (stat === undefined || bytes === undefined) {
      this.#stats.delete(name);
      if (this.#files.delete(name)) this.#version++;
      return onFaults(path, []);
    }
    const parsed =
      typeof bytes === 'string'
        ? { faults: [createFileFault(path, 'regular-file', bytes)] }
        : parse(name, Buffer.from(bytes));
    // An editor may still be writing it.
    const isNew = Math.abs(Date.now() - stat.mtimeMs) < settledAfterMs;
    if ('faults' in parsed && isNew) return this.#schedule(settledAfterMs);
    // What is written within the clock's tick would have the same time.
    if (isNew) this.#schedule(settledAfterMs);
    else this.#stats.set(name, stat);
    if ('value' in parsed) {
      this.#files.set(name, parsed.value);
      this.#version++;
    }
    onFaults(path, 'faults' in parsed ? parsed.faults : []);
  }

  #schedule(delayMs: number): void {
    if (this.#closing.signal.aborted) return;
    clearTimeout(this.#hint);
    this.#hint = setTimeout(() => void this.read(), delayMs).unref();
  }

  #tick(): void {
    const inode = this.#readInode();
    if (inode !== this.#watchedInode) {
      this.#watch();
      void this.read();
    } else if (++this.#ticks % ticksPerRound === 0) void this.read();
  }

  /** Returns undefined where the folder is not there, or one above it cannot be entered, as `#listNames` says. */
  #readInode(): number | undefined {
    try {
      return readStat(this.#path)?.ino;
    } catch {
      return undefined;
    }
  }

  /** Watches the folder that has the name now. Where that cannot be done, the rounds find changes. */
  #watch(): void {
    this.#watcher?.close();
    this.#watcher = undefined;
    this.#watchedInode = this.#readInode();
    if (this.#watchedInode === undefined) return;
    try {
      this.#watcher = watch(this.#path, () => this.#schedule(hintDelayMs));
      this.#watcher.on('error', () => this.#watcher?.close());
    } catch {
      this.#watcher = undefined;
    }
  }
}

const hintDelayMs = 20;

/** Milliseconds after which a file that was written is whole. */
const settledAfterMs = 400;

const tickMs = 2000;
const ticksPerRound = 30;
