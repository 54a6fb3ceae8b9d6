import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BotId } from '../bot/id.ts';
import { forEachInSlices } from '../concurrency/in-slices.ts';
import type { HashName } from '../git/objects/object-id.ts';
import type { Log } from '../log.ts';
import { messageOf } from '../system-error.ts';
import type { BotIndex } from './index/bot-index.ts';
import type { ImageLookup } from './index/bot-reader.ts';
import { type Fault, fileFault } from './page/fault.ts';
import { FaultList } from './watch/fault-list.ts';
import { isFolder, listTop } from './load/folder.ts';
import { readFingerprints } from './load/folder-fingerprints.ts';
import { Scanner } from './watch/scanner.ts';
import { botsFolder, isFolderName, type PagePlace, strayMessage } from './page/layout.ts';
import { readFolders } from './load/parallel-reader.ts';
import { readSnapshot, writeSnapshot } from './load/snapshot.ts';
import { type Watch, watchFolders } from './watch/watcher.ts';

export interface CatalogueOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** Of the repository that the folder is in: what ids Git gives its files. SHA-1 where it is in none. */
  readonly hash?: HashName;
  readonly log: Log;
  /** Where the index is kept between runs; null for nowhere. */
  readonly snapshot: string | null;
  readonly cachedImages?: ImageLookup;
  /** How long a round over all folders takes while the watcher works; a tenth of it while it does not. */
  readonly roundSeconds?: number;
}

/** What an operator wants to know of a catalogue; a fault is a sentence, null where there is none. */
export interface CatalogueStatus {
  /** Whether every file has been looked at since the start. */
  readonly ready: boolean;
  /** Why changes are found by rounds over all folders only. */
  readonly watcherFault: string | null;
  /** Why `bots/` cannot be read at all. What was served before stays served. */
  readonly folderFault: string | null;
}

/**
 * The catalogue of a folder, live. The files are the truth: a hint from the watcher, a slow round and a
 * reload after our own write all do the same, look at what is there and read what is not as it was.
 */
export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #faults: FaultList;
  readonly #scanner: Scanner;
  readonly #listeners: ((id: BotId) => void)[] = [];
  readonly #lookListeners: ((id: BotId) => void)[] = [];
  readonly #closing = new AbortController();
  #watch: Watch | undefined;
  #ready = false;
  #unpacking: Promise<void> | undefined;
  /** The version of the index that the snapshot has. */
  #savedVersion = 0;
  #watcherFault: string | null = 'the watcher has not started yet';
  #folderFault: string | null = null;

  constructor(options: CatalogueOptions) {
    this.#options = options;
    this.#faults = new FaultList(options.log);
    this.#scanner = new Scanner({
      root: options.root,
      hash: options.hash ?? 'sha1',
      faults: this.#faults,
      cachedImages: options.cachedImages,
      onChange: (id) => {
        for (const listener of this.#listeners) listener(id);
      },
      onLook: (id) => {
        for (const listener of this.#lookListeners) listener(id);
      },
      onFault: (error) => this.#noteFolder(error),
    });
  }

  get bots(): BotIndex {
    return this.#scanner.bots;
  }

  get status(): CatalogueStatus {
    return { ready: this.#ready, watcherFault: this.#watcherFault, folderFault: this.#folderFault };
  }

  /** Every fault of every file, by path, then by line and column. */
  faults(): Fault[] {
    return this.#faults.all();
  }

  /** What is wrong with a bot's files. */
  faultsOf(id: BotId): readonly Fault[] {
    return this.#faults.of(id);
  }

  /** Calls back with each bot that is served anew, differently, or no more. */
  onChange(listener: (id: BotId) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls back with each bot whose files were read again, whatever came of it. */
  onLook(listener: (id: BotId) => void): void {
    this.#lookListeners.push(listener);
  }

  /**
   * Reads everything, then starts to watch. Resolves once the catalogue is complete; the watcher may take a
   * moment more, and finds what happened before it was up.
   * @throws {Error} when there is no `bots/` folder that can be read.
   */
  async load(): Promise<void> {
    listTop(this.#options.root);
    if (!(await this.#restore())) await this.#readAll();
    if (this.#closing.signal.aborted) return;
    this.#ready = true;
    this.#watch = watchFolders(`${this.#options.root}/${botsFolder}`, {
      onHint: (folder, name) => this.#scanner.plan(folder, name, coalescing),
      onStray: () => void this.#allFolders(),
      onMiss: () => void this.#withAll((folder) => this.#scanner.look(folder)),
      onFault: (fault) => this.#noteWatcher(fault),
    });
    this.#unpacking = this.#withAll((folder) => this.#scanner.unpack(folder));
    void this.#goRound();
  }

  /**
   * Resolves when every bot that was restored is at hand, so that asking for all of them holds nobody up. False
   * when the catalogue was closed before.
   */
  async unpacked(): Promise<boolean> {
    await this.#unpacking;
    return !this.#closing.signal.aborted;
  }

  /** Reads these bots anew at once and believes what is there: for a writer that has replaced their files. */
  reload(ids: Iterable<BotId>): void {
    this.#scanner.reload(ids);
  }

  /** Reads the bots of these files anew at once, also where a file is new: for a writer that has put them there whole. */
  arrived(places: Iterable<PagePlace>): void {
    this.#scanner.arrived(places);
  }

  /** Serves these bytes as those of their files, at once: for a writer that has committed them. */
  put(files: ReadonlyMap<PagePlace, Buffer>): void {
    this.#scanner.put(files);
  }

  /** Stops watching and keeps the index for the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#scanner.close();
    await this.#watch?.close();
    if (this.#ready && this.#snapshotIsStale) await this.saveSnapshot();
  }

  /** Whether a start with the snapshot would have more than one bot in a hundred to read anew. */
  get #snapshotIsStale(): boolean {
    return this.bots.version - this.#savedVersion > this.bots.size / 100;
  }

  /** Writes the snapshot. A failure is logged and costs the next start some seconds, no more. */
  async saveSnapshot(): Promise<void> {
    const { snapshot, log } = this.#options;
    if (snapshot === null) return;
    this.#savedVersion = this.bots.version;
    try {
      await writeSnapshot(snapshot, this.#scanner.toKeep());
    } catch (error) {
      log.warn({ err: error, snapshot }, 'the index could not be kept: the next start reads every file');
    }
  }

  /** Takes over what an earlier run kept, and looks where it is not so any more; false when nothing can be trusted. */
  async #restore(): Promise<boolean> {
    const { snapshot, root } = this.#options;
    if (snapshot === null || !existsSync(snapshot)) return false;
    const looking = readFingerprints(root);
    looking.catch(() => {});
    const kept = await readSnapshot(snapshot);
    if (kept === undefined) return false;
    for (const folder of kept) this.#scanner.restore(folder);
    this.#savedVersion = this.bots.version;
    const fingerprints = await looking;
    const same = new Set(
      kept
        .filter(({ folder, fingerprint }) => fingerprint === fingerprints.get(folder))
        .map(({ folder }) => folder),
    );
    await this.#withAll((folder) => {
      if (!same.has(folder)) this.#scanner.look(folder, false);
    });
    return true;
  }

  /** Reads every folder for the first time, on all cores. */
  async #readAll(): Promise<void> {
    const { root, hash = 'sha1' } = this.#options;
    await readFolders(root, hash, [...this.#allFolders()], (reading) => this.#scanner.take(reading));
  }

  /** Does something with every folder that exists or existed, in slices of time. */
  async #withAll(work: (folder: string) => void): Promise<void> {
    await forEachInSlices(this.#allFolders(), work, 'service', this.#closing.signal);
  }

  /** Looks at one folder after the other for ever, slowly: what no hint told is found here. */
  async #goRound(): Promise<void> {
    const { signal } = this.#closing;
    const round = (this.#options.roundSeconds ?? 60) * 1000;
    while (!signal.aborted) {
      const folders = [...this.#allFolders(), undefined];
      for (const folder of folders) {
        const time = this.#watcherFault === null ? round : round / 10;
        await sleep(time / folders.length, undefined, { ref: false, signal }).catch(() => {});
        if (signal.aborted) return;
        if (folder !== undefined) this.#scanner.look(folder);
      }
      if (this.#snapshotIsStale) await this.saveSnapshot();
    }
  }

  /** The folders on disk and those that were there before; what else lies in `bots/` is a fault. */
  #allFolders(): Set<string> {
    try {
      const names = listTop(this.#options.root);
      this.#noteFolder(null);
      const strays = names
        .filter((name) => !isFolderName(name) || !isFolder(this.#options.root, name))
        .map((name) => `${botsFolder}/${name}`);
      for (const path of this.#faults.keys())
        if (isTopPath(path) && !strays.includes(path)) this.#faults.report(path, []);
      for (const path of strays) this.#faults.report(path, [fileFault(path, 'stray-file', strayMessage)]);
      return new Set([...this.#scanner.folders(), ...names.filter(isFolderName)]);
    } catch (error) {
      this.#noteFolder(error);
      return new Set();
    }
  }

  #noteFolder(error: unknown): void {
    const fault = error === null ? null : `${botsFolder}/ cannot be read: ${messageOf(error)}`;
    if (fault !== null && fault !== this.#folderFault) {
      this.#options.log.error({ fault }, 'the catalogue cannot be read: what was served stays served');
    }
    this.#folderFault = fault;
  }

  #noteWatcher(fault: string | null): void {
    if (fault !== null && fault !== this.#watcherFault) {
      this.#options.log.warn(
        { fault },
        'the watcher does not work: changes are found by rounds over all folders',
      );
    }
    this.#watcherFault = fault;
  }
}

/** Milliseconds a hint waits for the others that come with it: one save is two or three events. */
const coalescing = 5;

function isTopPath(key: string): boolean {
  return key.startsWith(`${botsFolder}/`) && key.split('/').length === 2;
}
