import { readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { basename } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { codeOf } from '../../lib/errors.ts';
import { writeAtomically } from '../../lib/files.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { createFileFault, type Fault } from '../page/fault.ts';
import { gitkeep } from '../page/layout.ts';
import type { FileStat } from '../page/page-file.ts';
import {
  type Parsed,
  assembleCollections,
  type Collection,
  type CollectionPage,
  collectionsFolder,
  parseCollectionPage,
} from '../page/side-file.ts';
import type { FileReading } from '../settings/settings.ts';
import { FileMirror, type FileMirrorOptions, type ReadFile } from './file-mirror.ts';

interface FolderMirrorOptions<T> extends FileMirrorOptions {
  /** The name of the folder. It may be missing. */
  readonly folder: string;
  readonly parse: (name: string, bytes: Buffer) => Parsed<T>;
}

/** The files of a folder next to `bots/`: of each the last valid version. */
export class FolderMirror<T> extends FileMirror {
  declare protected readonly options: FolderMirrorOptions<T>;
  readonly #files = new Map<string, T>();

  constructor(options: FolderMirrorOptions<T>) {
    super(options, options.folder);
  }

  /** The valid files by their names. */
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

/** What a file says. */
interface FileValue<T> {
  /** Undefined if the file cannot be used at all. */
  readonly value?: T | undefined;
  readonly faults?: readonly Fault[];
  /** The path of another file that it was read with; null for none. */
  readonly beside?: string | null;
}

interface SingleFileOptions<T> extends FileMirrorOptions {
  /** The name of the file. */
  readonly file: string;
  /** What its faults are listed under. */
  readonly key: string;
  /** What is in force if the file has faults at the first read, and no copy can be used. */
  readonly initial: T;
  /** Parses the file, or its copy. The reading is undefined if there is no file. */
  readonly parse: (reading: FileReading) => FileValue<T>;
  /** The file that keeps the last valid version between runs; null for none. */
  readonly copy: string | null;
  /** Called when another value than that of the first read is in force. */
  readonly onChange: () => void;
}

/**
 * A file in the root: the value of its last valid version. The stats of the file, and of the one next to it, are compared twice
 * a second, because a watch on the top of a clone would cost more.
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

  /** The value that is in force. */
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

  /** What cannot be looked at is read, which says why. */
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

  /** Returns the value of the copy; undefined without one that can be used. */
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

/** The collections of a catalogue: each is made of all its files in `collections/`. */
export class Collections extends FolderMirror<CollectionPage> {
  #all: ReadonlyMap<string, Collection> = new Map();
  #faulty: readonly string[] = [];

  constructor(options: FileMirrorOptions) {
    super({ ...options, folder: collectionsFolder, parse: parseCollectionPage });
  }

  /** By their names. Another map whenever one of them has changed. */
  get all(): ReadonlyMap<string, Collection> {
    return this.#all;
  }

  protected override reportChange(): void {
    const { collections, faults } = assembleCollections(this.files);
    this.#all = collections;
    // Apart from the faults that a file has by itself.
    const paths = faults.map(({ path }) => path);
    for (const path of new Set([...this.#faulty, ...paths])) {
      const own = faults.filter((fault) => fault.path === path);
      this.options.store.report(`${path}#bots`, own, [path]);
    }
    this.#faulty = paths;
  }
}
