import { type Dirent, existsSync } from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { computeBlobId, type HashName } from '../../git/objects.ts';
import { codeOf, messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { gitkeep } from '../page/layout.ts';
import {
  readRegularFile,
  tailSize,
  type FileStat,
  isFolder,
  listNames,
  listTopEntries,
  readStat,
} from '../page/page-file.ts';
import type { FileReading } from '../settings/settings.ts';
import type { BotStore } from './bot-store.ts';
import { DelayQueue, clockTick, StatCache } from './stat-cache.ts';
import { Watcher } from './watcher.ts';

export interface FileMirrorOptions {
  /** The folder that all paths are relative to. */
  readonly root: string;
  /** The hash of the repository that the folder is in, for the blob ids of files; SHA-1 by default. */
  readonly hash?: HashName | undefined;
  /** Whether Git may be replacing files now; no by default. */
  readonly isGitWriting?: (() => boolean) | undefined;
  /** Makes the folder if it is missing, as Git removes it with its last file; by default nothing does. */
  readonly restoreFolder?: (() => Promise<void>) | undefined;
  /** Seconds for a round over all folders while the watcher works, 60 by default; a tenth of it while it does not. */
  readonly roundSeconds?: number | undefined;
  readonly log: Log;
  /** Lists the faults of the files. */
  readonly store: Pick<BotStore, 'report' | 'faultsOf'>;
}

/** A file as it was read. */
export interface ReadFile {
  readonly path: string;
  readonly stat: FileStat | undefined;
  readonly reading: FileReading;
  /** The Git blob id; empty without bytes. */
  readonly sha: string;
  /** A checksum of the last bytes; 0 without bytes. */
  readonly tail: number;
}

/**
 * Why files are read. `hint`: one may have changed, and may be half written. `start`: they are complete. `told`: they
 * are complete, and even equal bytes may give another value.
 */
type Reason = 'hint' | 'start' | 'told';

/**
 * The files of a folder and of some folders in it, in memory and kept in sync with the disk. Each value is built from
 * one file, or from all files with one key. The files are the truth: after a hint of the watcher, and in a slow scan of
 * all folders (a round), the mirror compares stats with those of the last read. It reads files that differ once they
 * are completely written, and replaces the value.
 */
export abstract class FileMirror {
  protected readonly options: FileMirrorOptions;
  readonly #top: string;
  readonly #isChild: ((name: string) => boolean) | undefined;
  readonly #stats = new Map<string, StatCache>();
  readonly #queue = new DelayQueue((entry) => this.#lookAt(entry));
  readonly #closing = new AbortController();
  readonly #watcher: Watcher | undefined;
  /** Folder → why it, or a file in it, cannot be read. */
  readonly #unreadable = new Map<string, string>();
  /** All files, which have one key; undefined for all that are in the folders. */
  protected names: readonly string[] | undefined;
  /** Whether a value has changed since `reportChange` was called. */
  protected hasChanged = false;

  /**
   * @param top relative to the root; `.` for the root, which is not watched
   * @param isChild whether a folder of this name in it has files, too; by default none has
   */
  constructor(options: FileMirrorOptions, top: string, isChild?: (name: string) => boolean) {
    this.options = options;
    this.#top = top;
    this.#isChild = isChild;
    if (top === '.') return;
    const watcher = new Watcher(join(options.root, top), isChild ?? (() => false), options.log, {
      onHint: (child, name) =>
        this.schedule(join(top, child), name, watcher.isBusy ? busyHintDelayMs : hintDelayMs),
      onMiss: () => void this.#lookAtAll('hint'),
    });
    this.#watcher = watcher;
  }

  /** Why a folder cannot be read; its values stay as they were. Null if all can be read. */
  get fault(): string | null {
    return this.#unreadable.values().next().value ?? null;
  }

  /** Why only rounds find changes; null if the watcher finds them. */
  get watcherFault(): string | null {
    return this.#watcher?.fault ?? null;
  }

  get signal(): AbortSignal {
    return this.#closing.signal;
  }

  /** Reads all files for the first time. */
  async load(): Promise<void> {
    await this.#lookAtAll('start');
  }

  /** Starts the watcher and the rounds over all folders. */
  start(): void {
    this.#watcher?.start();
    void this.#goRounds();
  }

  async close(): Promise<void> {
    this.#closing.abort();
    this.#queue.close();
    await this.#watcher?.close();
  }

  /**
   * Reads these files now. For a caller that wrote them completely, or changed what their values depend on. Ignores
   * paths of other files, as `put` does.
   */
  look(paths: readonly string[]): void {
    this.#readNow(new Map(paths.map((path) => [path, undefined])));
  }

  /** Uses these bytes as the content of their files immediately. For a caller that has committed them. */
  put(contents: ReadonlyMap<string, Buffer>): void {
    this.#readNow(contents);
  }

  /** Replaces the value of a key, and its faults. @param files all that have the key, by path */
  protected abstract update(key: string, files: readonly ReadFile[]): void;

  /** Called after reads that changed values. */
  protected reportChange(): void {}

  protected keyOf(path: string): string {
    return path;
  }

  /** Returns the names of the known files of a key. */
  protected listKnownNames(_folder: string, _key: string): readonly string[] {
    return this.names ?? [];
  }

  /** Returns the version of a file that its value was made of; undefined if that is not known. */
  protected findKnown(_path: string): Pick<ReadFile, 'sha' | 'tail'> | undefined {
    return undefined;
  }

  /** Returns the names of the files in a folder. @throws if the folder cannot be read */
  protected listNames(folder: string): readonly string[] {
    if (folder !== this.#top) return listNames(this.options.root, basename(folder));
    return this.names ?? this.#listTop(false);
  }

  /** @throws if the folder cannot be entered */
  protected readStat(path: string): FileStat | undefined {
    return readStat(`${this.options.root}/${path}`);
  }

  /** Returns the stats of a folder's files; empty for a folder that is not known yet. */
  protected statsIn(folder: string): StatCache {
    const stats = this.#stats.get(folder) ?? new StatCache();
    this.#stats.set(folder, stats);
    return stats;
  }

  /** Returns the top, and the folders in it that have files or had them. */
  protected listFolders(): ReadonlySet<string> {
    const top = this.#top;
    try {
      const children = this.#isChild ? this.#listTop(true).map((name) => join(top, name)) : [];
      return new Set([top, ...children, ...this.#stats.keys()]);
    } catch {
      // A look at the top reports it.
      return new Set([top]);
    }
  }

  /** Reads what differs in a folder, in slices of time. */
  protected async lookAtFolder(
    folder: string,
    reason: Reason,
    slice = new TimeSlice('service'),
  ): Promise<void> {
    try {
      const cache = this.statsIn(folder);
      const keys = new Map<string, string[]>();
      for (const name of new Set([...this.listNames(folder), ...cache.names])) {
        if (slice.isOver) await slice.next();
        const path = join(folder, name);
        if (!cache.differs(name, this.readStat(path))) continue;
        const key = this.keyOf(path);
        keys.set(key, [...(keys.get(key) ?? []), name]);
      }
      for (const [key, names] of keys) {
        if (slice.isOver) await slice.next();
        if (this.signal.aborted) return;
        this.#read(folder, key, names, reason);
      }
      this.#unreadable.delete(folder);
    } catch (error) {
      void this.#fail(folder, error);
    }
    this.#afterReads();
  }

  /** Schedules a look at a file, or at its folder if none is named or many files wait. */
  protected schedule(folder: string, name: string | undefined, delayMs: number): void {
    const isFile = name !== undefined && this.#queue.size < manyNames;
    this.#queue.add(`${folder}\0${isFile ? name : ''}`, delayMs);
  }

  /** Looks at one folder after the other, within `roundSeconds`. */
  protected async goRound(): Promise<void> {
    const { roundSeconds = 60 } = this.options;
    const folders = this.listFolders();
    for (const folder of folders) {
      const roundMs = this.watcherFault === null ? roundSeconds * 1000 : roundSeconds * 100;
      const options = { ref: false, signal: this.signal };
      await sleep(roundMs / folders.size, undefined, options).catch(() => {});
      if (this.signal.aborted) return;
      await this.lookAtFolder(folder, 'hint');
    }
  }

  async #goRounds(): Promise<void> {
    while (!this.signal.aborted) await this.goRound();
  }

  async #lookAtAll(reason: Reason): Promise<void> {
    const slice = new TimeSlice('service');
    for (const folder of this.listFolders()) await this.lookAtFolder(folder, reason, slice);
  }

  #lookAt(entry: string): void {
    const [folder = '', name = ''] = entry.split('\0');
    const path = join(folder, name);
    const isFile = name !== '' && this.#locate(path) && isFolder(this.options.root, folder);
    if (!isFile) return void this.lookAtFolder(folder, 'hint');
    this.#readIn(folder, () => {
      const differs = this.statsIn(folder).differs(name, this.readStat(path));
      if (differs) this.#read(folder, this.keyOf(path), [name], 'hint');
    });
  }

  /** Returns the names of the folders in the top that have files, or of anything else. */
  #listTop(areChildren: boolean): string[] {
    const isChild = (entry: Dirent): boolean => entry.isDirectory() && (this.#isChild?.(entry.name) ?? false);
    const entries = listTopEntries(this.options.root, this.#top);
    return entries.filter((entry) => isChild(entry) === areChildren).map(({ name }) => name);
  }

  /** Returns the folder and the name of a file; undefined if it is not one of these. */
  #locate(path: string): { readonly folder: string; readonly name: string } | undefined {
    const top = this.#top;
    if (this.names) return this.names.includes(path) ? { folder: top, name: path } : undefined;
    const { dir: folder, base: name } = parse(path);
    const isInChild = dirname(folder) === top && this.#isChild?.(basename(folder));
    return isInChild || (folder === top && name !== gitkeep) ? { folder, name } : undefined;
  }

  #readNow(contents: ReadonlyMap<string, Buffer | undefined>): void {
    const keys = new Map<string, { readonly folder: string; readonly names: readonly string[] }>();
    for (const path of contents.keys()) {
      const place = this.#locate(path);
      if (place === undefined) continue;
      const key = this.keyOf(path);
      const names = [...(keys.get(key)?.names ?? []), place.name];
      keys.set(key, { folder: place.folder, names });
    }
    for (const [key, { folder, names }] of keys)
      this.#readIn(folder, () => this.#read(folder, key, names, 'told', contents));
  }

  /** Reads the files of a key; later, when one of them may still be half written. */
  #read(
    folder: string,
    key: string,
    changed: readonly string[],
    reason: Reason,
    contents?: ReadonlyMap<string, Buffer | undefined>,
  ): void {
    const cache = this.statsIn(folder);
    const now = Date.now();
    const names = [...new Set([...this.listKnownNames(folder, key), ...changed])].toSorted();
    const files = names.map((name) => {
      const path = join(folder, name);
      return { name, known: this.findKnown(path), ...this.#readFile(path, contents?.get(path)) };
    });
    const isFaulty = this.options.store.faultsOf(key).length > 0;
    // Equal bytes mean nothing to do, which takes less time than parsing them.
    const isSame = !isFaulty && files.every(({ sha, known }) => sha === known?.sha);
    if (reason === 'hint' && !isSame) {
      const isWriting = this.options.isGitWriting?.() ?? false;
      const waits = files.map(({ name, stat, reading, tail, known }) => {
        const found = reading === undefined ? undefined : stat;
        return cache.waitFor(name, found, tail === known?.tail, now, isWriting);
      });
      const wait = Math.max(...waits);
      if (wait > 0) {
        for (const { name, stat } of files) cache.postpone(name, stat, now);
        return this.schedule(folder, names[0], wait);
      }
    }
    for (const { name, stat } of files)
      if (cache.record(name, stat, now)) this.schedule(folder, name, clockTick);
    if (isSame && reason !== 'told') return;
    for (const { name, path, stat, sha, known } of files) {
      if (contents?.get(path) === undefined) continue;
      const onDisk = this.#readFile(path).sha;
      if (onDisk !== '' && [sha, known?.sha].includes(onDisk)) continue;
      // A person saved it while it was committed, which is shown as soon as it is whole.
      cache.postpone(name, stat, now);
      this.schedule(folder, name, clockTick);
    }
    this.update(key, files);
  }

  #readFile(path: string, given?: Buffer): ReadFile {
    const stat = this.readStat(path);
    const reading = given ?? readRegularFile(join(this.options.root, path));
    if (!Buffer.isBuffer(reading)) return { path, stat, reading, sha: '', tail: 0 };
    // The next read overwrites the bytes.
    const bytes = Buffer.from(reading);
    const sha = computeBlobId(bytes, this.options.hash ?? 'sha1');
    return { path, stat, reading: bytes, sha, tail: crc32(bytes.subarray(-tailSize)) };
  }

  /** Runs work on the files of a folder; if it cannot be listed or entered, that is set, and logged once. */
  #readIn(folder: string, work: () => void): void {
    try {
      work();
      this.#unreadable.delete(folder);
    } catch (error) {
      void this.#fail(folder, error);
    }
    this.#afterReads();
  }

  /** Sets why a folder cannot be read. Only the top can be missing: Git may be about to put it back, or to commit that it is empty. */
  async #fail(folder: string, error: unknown): Promise<void> {
    const { root, restoreFolder, log } = this.options;
    const isMissing = codeOf(error) === 'ENOENT';
    if (isMissing) {
      await sleep(1000, undefined, { ref: false });
      await restoreFolder?.().catch(() => {});
      if (existsSync(join(root, this.#top))) return;
    }
    const name = isMissing ? this.#top : folder;
    const message = 'cannot read the catalogue; its last known files are still served';
    if (!this.#unreadable.has(name)) log.error({ err: error }, message);
    this.#unreadable.set(name, `${name}/ cannot be read: ${messageOf(error)}`);
  }

  #afterReads(): void {
    if (!this.hasChanged) return;
    this.hasChanged = false;
    this.reportChange();
  }
}

/** Milliseconds that a hint waits for others: one save makes two or three. */
const hintDelayMs = 5;

/** The same while many files are replaced, which takes several times as long when each is read in between. */
const busyHintDelayMs = 500;

/** With this many files scheduled, whole folders are looked at instead. */
const manyNames = 1000;
