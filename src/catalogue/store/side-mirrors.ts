import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { codeOf } from '../../lib/errors.ts';
import { writeAtomically } from '../../lib/files.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { createFileFault, type Fault } from '../page/fault.ts';
import { gitkeep, type FileStat } from '../page/layout.ts';
import {
  type Parsed,
  assembleCollections,
  type Collection,
  type CollectionPage,
  collectionsFolder,
  parseCollectionPage,
} from '../page/side-file.ts';
import type { FileReading } from '../page/page-file.ts';
import { FileMirror, type FileMirrorOptions, type ReadFile } from './file-mirror.ts';

interface FolderMirrorOptions<T> extends FileMirrorOptions {
  /** The name of the folder, which may be missing. */
  readonly folder: string;
  readonly parse: (name: string, bytes: Buffer) => Parsed<T>;
}

/** The files of a folder next to `bots/`, each in its last valid version. */
export class FolderMirror<T> extends FileMirror {
  declare protected readonly options: FolderMirrorOptions<T>;
  readonly #files = new Map<string, T>();

  constructor(options: FolderMirrorOptions<T>) {
    super(options, options.folder);
  }

  /** File name → the last valid value. */
  get files(): ReadonlyMap<string, T> {
    return this.#files;
  }

  protected override listNames(folder: string): readonly string[] {
    try {
      return super.listNames(folder).filter((name) => name !== gitkeep);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return [];
      throw error;
    }
  }

  protected override update(path: string, [file]: readonly ReadFile[]): void {
    const { parse, store } = this.options;
    const [name, reading] = [basename(path), file?.reading];
    if (reading === undefined) {
      if (this.#files.delete(name)) this.hasChanged = true;
      return store.report(path, []);
    }
    const parsed =
      typeof reading === 'string'
        ? { faults: [createFileFault(path, 'regular-file', reading)] }
        : parse(name, reading);
    store.report(path, 'faults' in parsed ? parsed.faults : [], [path]);
    if (!('value' in parsed) || isDeepStrictEqual(parsed.value, this.#files.get(name))) return;
    this.#files.set(name, parsed.value);
    this.hasChanged = true;
  }
}

/** The result of parsing a file. */
interface FileValue<T> {
  /** Undefined if the file is unusable. */
  readonly value?: T | undefined;
  readonly faults?: readonly Fault[];
  /** The path of another file that the value depends on; null for none. */
  readonly beside?: string | null;
}

interface SingleFileOptions<T> extends FileMirrorOptions {
  /** The name of the file. */
  readonly file: string;
  /** The key of its faults in the store. */
  readonly key: string;
  /** The value to use if the file is faulty at the first read and there is no usable copy. */
  readonly initial: T;
  /** Parses the file, or its copy. `reading` is undefined if the file does not exist. */
  readonly parse: (reading: FileReading) => FileValue<T>;
  /** The file that keeps the last valid version between runs; null to keep nothing. */
  readonly copy: string | null;
  /** Called whenever the value changes after the first read. */
  readonly onChange: () => void;
}

/**
 * The last valid value of a file in the root. Its stat, and that of the file next to it, are compared twice a second,
 * because a watch on the top of a clone would cost more.
 */
export class SingleFileMirror<T> extends FileMirror {
  declare protected readonly options: SingleFileOptions<T>;
  readonly #copies = new SerialQueue();
  #current: T;
  #isLoaded = false;

  constructor(options: SingleFileOptions<T>) {
    super({ ...options, roundSeconds: 0.5 }, '.');
    this.names = [options.file];
    this.#current = options.initial;
  }

  get current(): T {
    return this.#current;
  }

  override async load(): Promise<void> {
    this.look([this.options.file]);
    await super.load();
    this.#isLoaded = true;
  }

  override async close(): Promise<void> {
    await super.close();
    await this.#copies.run(async () => {});
  }

  protected override keyOf(): string {
    return this.options.key;
  }

  /** Ignores errors: reading the file then reports why it fails. */
  protected override readStat(path: string): FileStat | undefined {
    try {
      return super.readStat(path);
    } catch {
      return undefined;
    }
  }

  protected override reportChange(): void {
    if (this.#isLoaded) this.options.onChange();
  }

  protected override update(key: string, files: readonly ReadFile[]): void {
    const { file, parse, store } = this.options;
    const reading = files.find(({ path }) => path === file)?.reading;
    const { value, faults = [], beside = null } = parse(reading);
    this.names = beside === null ? [file] : [file, beside];
    store.report(key, faults);
    if (faults.length === 0) this.#keep(reading);
    else if (this.#isLoaded) return;
    const next = faults.length === 0 ? value : (this.#readCopy() ?? value);
    if (next === undefined || isDeepStrictEqual(next, this.#current)) return;
    this.#current = next;
    this.hasChanged = true;
  }

  /** Returns the value of the copy; undefined without a usable copy. */
  #readCopy(): T | undefined {
    const { copy, parse } = this.options;
    try {
      return copy === null ? undefined : parse(readFileSync(copy)).value;
    } catch {
      return undefined;
    }
  }

  #keep(reading: FileReading): void {
    const { copy, file, log } = this.options;
    if (copy === null) return;
    const message = `could not keep a copy of ${file}: it is missing if the file is faulty at the next start`;
    void this.#copies.run(async () => {
      try {
        if (reading === undefined) await rm(copy, { force: true });
        else await writeAtomically(copy, reading, { fsync: 'none', mode: 0o600 });
      } catch (error) {
        log.warn({ err: error, copy }, message);
      }
    });
  }
}

/** The collections of a catalogue. Each is built from all its files in `collections/`. */
export class Collections extends FolderMirror<CollectionPage> {
  #all: ReadonlyMap<string, Collection> = new Map();
  #faulty: readonly string[] = [];

  constructor(options: FileMirrorOptions) {
    super({ ...options, folder: collectionsFolder, parse: parseCollectionPage });
  }

  /** Collections by name. Returns a new map after each change. */
  get all(): ReadonlyMap<string, Collection> {
    return this.#all;
  }

  protected override reportChange(): void {
    const { collections, faults } = assembleCollections(this.files);
    this.#all = collections;
    // Added to the faults that each file has on its own.
    const paths = faults.map(({ path }) => path);
    for (const path of new Set([...this.#faulty, ...paths])) {
      const own = faults.filter((fault) => fault.path === path);
      this.options.store.report(`${path}#bots`, own, [path]);
    }
    this.#faulty = paths;
  }
}
