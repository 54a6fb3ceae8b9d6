import { type Dirent, existsSync } from 'node:fs';
import { basename, dirname, join, parse } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { computeBlobId, type HashName } from '../../git/objects.ts';
import { codeOf, messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import { DelayQueue } from '../../lib/serial-queue.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { gitkeep, type FileStat, isFolder, listNames, listTopEntries, readStat } from '../page/layout.ts';
import { readRegularFile, tailSize, type FileReading } from '../page/page-file.ts';
import type { BotStore } from './bot-store.ts';
import { clockTickMs, StatCache } from './stat-cache.ts';
import { Watcher } from './watcher.ts';

export interface FileMirrorOptions {
  /** The folder that all paths are relative to. */
  readonly root: string;
  /** The hash function of the folder's repository, for blob ids; SHA-1 by default. */
  readonly hash?: HashName | undefined;
  /** Whether Git may be replacing files now; by default it never is. */
  readonly isGitWriting?: (() => boolean) | undefined;
  /** Creates the folder if Git removed it with its last file; by default it is not created. */
  readonly restoreFolder?: (() => Promise<void>) | undefined;
  /** Seconds for a round over all folders, 60 by default. Rounds take a tenth of it while the watcher does not work. */
  readonly roundSeconds?: number | undefined;
  readonly log: Log;
  /** Stores the faults of the files. */
  readonly store: Pick<BotStore, 'report' | 'faultsOf'>;
}

/** A file as it was read. */
export interface ReadFile {
  readonly path: string;
  readonly stat: FileStat | undefined;
  readonly reading: FileReading;
  /** The Git blob id; empty if there are no bytes. */
  readonly sha: string;
  /** A checksum of the last bytes; 0 if there are no bytes. */
  readonly tail: number;
}

/**
 * Why files are read. `hint`: a file may have changed and may be half written. `start`: files are complete. `caller`:
 * files are complete, and their value may change even if the bytes are the same.
 */
type Reason = 'hint' | 'start' | 'caller';

/**
 * Keeps the files of a folder and some of its subfolders in memory and in sync with the disk. Files with the same key
 * form one value. Hints of the watcher and slow rounds over all folders only say where to look: the mirror compares
 * each file's stat with that of its last read. If they differ, it waits until the file is completely written, reads
 * it, and replaces the value.
 */
export abstract class FileMirror {
  protected readonly options: FileMirrorOptions;
  readonly #top: string;
  readonly #isChild: ((name: string) => boolean) | undefined;
  readonly #stats = new Map<string, StatCache>();
  readonly #queue = new DelayQueue((entry) => this.#lookAt(entry));
  readonly #closing = new AbortController();
  readonly #watcher: Watcher | undefined;
  /** Folder → why the folder, or a file in it, cannot be read. */
  readonly #unreadable = new Map<string, string>();
  /** The names of the only files to mirror, which share one key; undefined to mirror all files. */
  protected names: readonly string[] | undefined;
  /** Whether a value has changed since the last call of `reportChange`. */
  protected hasChanged = false;

  /**
   * @param top relative to the root; `.` for the root itself, which is not watched
   * @param isChild whether a subfolder of this name has files to mirror; by default, no subfolder does
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

  /** Why a folder cannot be read; its values stay as they were. Null if all folders can be read. */
  get fault(): string | null {
    return this.#unreadable.values().next().value ?? null;
  }

  /** Why the watcher does not work; until it does, only rounds find changes. Null if it works. */
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
   * Reads files immediately. The caller has finished writing them, or changed an input of their values. Ignores files
   * that are not in the mirror.
   * @param paths relative to the root
   * @param contents the bytes of files that the caller has committed, which are used without a read
   */
  look(paths: readonly string[], contents?: ReadonlyMap<string, Buffer>): void {
    const keys = new Map<string, { readonly folder: string; readonly names: readonly string[] }>();
    for (const path of paths) {
      const place = this.#locate(path);
      if (place === undefined) continue;
      const key = this.keyOf(path);
      const names = [...(keys.get(key)?.names ?? []), place.name];
      keys.set(key, { folder: place.folder, names });
    }
    for (const [key, { folder, names }] of keys)
      void this.#readIn(folder, () => this.#read(folder, key, names, 'caller', contents));
  }

  /** Replaces the value of a key, and its faults. @param files all files with this key, by path */
  protected abstract update(key: string, files: readonly ReadFile[]): void;

  /** Called after values have changed. */
  protected reportChange(): void {}

  protected keyOf(path: string): string {
    return path;
  }

  /** Returns the names of all known files with this key. */
  protected listKnownNames(_folder: string, _key: string): readonly string[] {
    return this.names ?? [];
  }

  /** Returns the version of a file from which its value was built; undefined if unknown. */
  protected findKnown(_path: string): Pick<ReadFile, 'sha' | 'tail'> | undefined {
    return undefined;
  }

  /** Returns the names of the files in a folder. @throws when the folder cannot be read */
  protected listNames(folder: string): readonly string[] {
    if (folder !== this.#top) return listNames(this.options.root, basename(folder));
    return this.names ?? this.#listTop(false);
  }

  /** @throws when the folder cannot be entered */
  protected readStat(path: string): FileStat | undefined {
    return readStat(`${this.options.root}/${path}`);
  }

  /** Returns the stats of a folder's files; empty for a new folder. */
  protected statsIn(folder: string): StatCache {
    const stats = this.#stats.get(folder) ?? new StatCache();
    this.#stats.set(folder, stats);
    return stats;
  }

  /** Returns the top, and its subfolders that have or had files to mirror. */
  protected listFolders(): ReadonlySet<string> {
    const top = this.#top;
    try {
      const children = this.#isChild ? this.#listTop(true).map((name) => join(top, name)) : [];
      return new Set([top, ...children, ...this.#stats.keys()]);
    } catch {
      // A scan of the top reports the error.
      return new Set([top]);
    }
  }

  /** Scans a folder and reads the files that differ, in slices of time. */
  protected async lookAtFolder(
    folder: string,
    reason: Reason,
    slice = new TimeSlice('service'),
  ): Promise<void> {
    await this.#readIn(folder, async () => {
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
    });
  }

  /** Schedules a check of a file. Checks the whole folder if there is no name, or if many checks are scheduled. */
  protected schedule(folder: string, name: string | undefined, delayMs: number): void {
    const isFile = name !== undefined && this.#queue.size < minScheduledForScan;
    this.#queue.add(`${folder}\0${isFile ? name : ''}`, delayMs);
  }

  /** Scans all folders, spread over `roundSeconds`. */
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
    void this.#readIn(folder, () => {
      const differs = this.statsIn(folder).differs(name, this.readStat(path));
      if (differs) this.#read(folder, this.keyOf(path), [name], 'hint');
    });
  }

  /** Returns the names of the subfolders to mirror, or of all other entries of the top. */
  #listTop(areChildren: boolean): string[] {
    const isChild = (entry: Dirent): boolean => entry.isDirectory() && (this.#isChild?.(entry.name) ?? false);
    const entries = listTopEntries(this.options.root, this.#top);
    return entries.filter((entry) => isChild(entry) === areChildren).map(({ name }) => name);
  }

  /** Returns the folder and the name of a file; undefined if the file is not in the mirror. */
  #locate(path: string): { readonly folder: string; readonly name: string } | undefined {
    const top = this.#top;
    if (this.names) return this.names.includes(path) ? { folder: top, name: path } : undefined;
    const { dir: folder, base: name } = parse(path);
    const isInChild = dirname(folder) === top && this.#isChild?.(basename(folder));
    return isInChild || (folder === top && name !== gitkeep) ? { folder, name } : undefined;
  }

  /** Reads all files of a key, or schedules this for later if one of them may be half written. */
  #read(
    folder: string,
    key: string,
    changed: readonly string[],
    reason: Reason,
    contents?: ReadonlyMap<string, Buffer>,
  ): void {
    const cache = this.statsIn(folder);
    const now = Date.now();
    const names = [...new Set([...this.listKnownNames(folder, key), ...changed])].toSorted();
    const files = names.map((name) => {
      const path = join(folder, name);
      return { name, known: this.findKnown(path), ...this.#readFile(path, contents?.get(path)) };
    });
    const isFaulty = this.options.store.faultsOf(key).length > 0;
    // Equal bytes need no update. Comparing them takes less time than parsing.
    const isSame = !isFaulty && files.every(({ sha, known }) => sha === known?.sha);
    if (reason === 'hint' && !isSame) {
      const isGitWriting = this.options.isGitWriting?.() ?? false;
      const waits = files.map(({ name, stat, reading, tail, known }) => {
        const found = reading === undefined ? undefined : stat;
        return cache.waitFor(name, found, tail === known?.tail, now, isGitWriting);
      });
      const wait = Math.max(...waits);
      if (wait > 0) {
        for (const { name, stat } of files) cache.postpone(name, stat, now);
        return this.schedule(folder, names[0], wait);
      }
    }
    for (const { name, stat } of files)
      if (cache.record(name, stat, now)) this.schedule(folder, name, clockTickMs);
    if (isSame && reason !== 'caller') return;
    for (const { name, path, stat, sha, known } of files) {
      if (contents?.get(path) === undefined) continue;
      const onDisk = this.#readFile(path).sha;
      if (onDisk !== '' && [sha, known?.sha].includes(onDisk)) continue;
      // A person saved the file while it was being committed. Read that version once it is complete.
      cache.postpone(name, stat, now);
      this.schedule(folder, name, clockTickMs);
    }
    this.update(key, files);
  }

  #readFile(path: string, given?: Buffer): ReadFile {
    const stat = this.readStat(path);
    const reading = given ?? readRegularFile(join(this.options.root, path));
    if (!Buffer.isBuffer(reading)) return { path, stat, reading, sha: '', tail: 0 };
    // The next read reuses the buffer.
    const bytes = Buffer.from(reading);
    const sha = computeBlobId(bytes, this.options.hash ?? 'sha1');
    return { path, stat, reading: bytes, sha, tail: crc32(bytes.subarray(-tailSize)) };
  }

  /**
   * Runs work on the files of a folder, and waits only if the work does. An error means that the folder cannot be read;
   * it is kept, and logged once.
   */
  async #readIn(folder: string, work: () => Promise<void> | void): Promise<void> {
    try {
      const working = work();
      if (working) await working;
      this.#unreadable.delete(folder);
    } catch (error) {
      void this.#fail(folder, error);
    }
    if (!this.hasChanged) return;
    this.hasChanged = false;
    this.reportChange();
  }

  /**
   * Records why a folder cannot be read. If the folder is missing, it is the top: it is looked at again a
   * second later, as Git may be about to restore it or to commit that it is empty.
   */
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
}

/** Milliseconds from a hint to the read, because one save makes two or three hints. */
const hintDelayMs = 5;

/** Milliseconds while many files are replaced: reading each in between would take several times as long. */
const busyHintDelayMs = 500;

/** With this many scheduled files, whole folders are scanned instead. */
const minScheduledForScan = 1000;
