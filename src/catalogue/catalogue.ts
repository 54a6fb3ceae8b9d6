import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { type BotId, parseBotId } from '../bot/id.ts';
import { forEachInSlices } from '../concurrency/in-slices.ts';
import { SerialQueue } from '../concurrency/serial-queue.ts';
import type { HashName } from '../git/objects/object-id.ts';
import type { Log } from '../log.ts';
import { messageOf } from '../system-error.ts';
import type { BotIndex } from './index/bot-index.ts';
import type { ImageLookup } from './index/bot-reader.ts';
import { type Fault, fileFault } from './page/fault.ts';
import { FaultList } from './watch/fault-list.ts';
import { isFolder, listTop } from './load/folder.ts';
import { Scanner } from './watch/scanner.ts';
import { botsFolder, isFolderName, type PagePlace, strayMessage } from './page/layout.ts';
import { noLimits, type PageLimits } from './page/rules.ts';
import { readPageText } from './page/page-file.ts';
import { readFingerprints, readFolders } from './load/folder-reader.ts';
import { readSnapshot, writeSnapshot } from './load/snapshot.ts';
import { WatchedSettings } from './watch/watched-settings.ts';
import { type Watch, watchFolders } from './watch/watcher.ts';
import { type CatalogueSettings, settingsName } from './settings/settings.ts';

export interface CatalogueOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** The hash of the repository that the folder is in, for the blob ids of files; SHA-1 by default. */
  readonly hash?: HashName;
  readonly log: Log;
  /** The file that keeps the index between runs; null for none. */
  readonly snapshot: string | null;
  /** The file that keeps the last valid settings between runs; none by default. */
  readonly settingsCopy?: string;
  readonly cachedImages?: ImageLookup;
  /** The time for a round over all folders while the watcher works; a tenth of it while it does not. */
  readonly roundSeconds?: number;
}

/** The state of a catalogue for operators; a fault is one sentence, or null. */
export interface CatalogueStatus {
  /** Whether every file has been compared or read since the start. */
  readonly ready: boolean;
  /** Why only rounds over all folders find changes. */
  readonly watcherFault: string | null;
  /** Why `bots/` cannot be read. The bots that were served stay served. */
  readonly folderFault: string | null;
}

/**
 * The catalogue of a folder, kept up to date. The files are the truth: a hint from the watcher, a slow round over all
 * folders and a commit of the service itself all compare the files with the last read, and read those that differ.
 */
export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #faults: FaultList;
  readonly #scanner: Scanner;
  readonly #settings: WatchedSettings;
  readonly #listeners: ((id: BotId) => void)[] = [];
  readonly #readListeners: ((id: BotId) => void)[] = [];
  readonly #closing = new AbortController();
  #watch: Watch | undefined;
  #ready = false;
  #unpacking: Promise<void> | undefined;
  /** What all bots were read with. */
  #limits = noLimits;
  readonly #validations = new SerialQueue();
  /** The version of the index that the snapshot has. */
  #savedVersion = 0;
  #watcherFault: string | null = 'the watcher has not started yet';
  #folderFault: string | null = null;

  constructor(options: CatalogueOptions) {
    this.#options = options;
    this.#faults = new FaultList(options.log);
    this.#settings = new WatchedSettings({
      root: options.root,
      copy: options.settingsCopy ?? null,
      log: options.log,
      onFaults: (faults) => this.#faults.report(settingsName, faults),
      onChange: () => {
        options.log.info({}, `${settingsName} has changed and is in force`);
        void this.#revalidate();
      },
    });
    this.#scanner = new Scanner({
      root: options.root,
      hash: options.hash ?? 'sha1',
      faults: this.#faults,
      cachedImages: options.cachedImages,
      limits: () => this.settings,
      onChange: (id) => {
        for (const listener of this.#listeners) listener(id);
      },
      onRead: (id) => {
        for (const listener of this.#readListeners) listener(id);
      },
      onFault: (error) => this.#noteFolder(error),
    });
  }

  get bots(): BotIndex {
    return this.#scanner.bots;
  }

  /** The settings in force: those of the last valid version of their file. */
  get settings(): CatalogueSettings {
    return this.#settings.current;
  }

  get status(): CatalogueStatus {
    return { ready: this.#ready, watcherFault: this.#watcherFault, folderFault: this.#folderFault };
  }

  /** Every fault of every file, by path, then by line and column. */
  faults(): Fault[] {
    return this.#faults.all();
  }

  faultsOf(id: BotId): readonly Fault[] {
    return this.#faults.of(id);
  }

  /** Reads the text of a page from its file. Undefined where there is none that can be read. */
  readText(place: PagePlace): string | undefined {
    return readPageText(this.#options.root, place);
  }

  /** Calls back with each bot that is new, differs, or is no longer served. */
  onChange(listener: (id: BotId) => void): void {
    this.#listeners.push(listener);
  }

  /** Calls back with each bot whose files were read again, whether it changed or not. */
  onRead(listener: (id: BotId) => void): void {
    this.#readListeners.push(listener);
  }

  /**
   * Reads everything, then starts to watch. Resolves once the catalogue is complete; the watcher may start a moment later,
   * and then finds what it missed.
   * @throws {Error} when `bots/` cannot be read
   */
  async load(): Promise<void> {
    listTop(this.#options.root);
    await this.#settings.load();
    this.#limits = limitsOf(this.settings);
    if (!(await this.#restore())) await this.#readAll();
    if (this.#closing.signal.aborted) return;
    this.#ready = true;
    this.#watch = watchFolders(`${this.#options.root}/${botsFolder}`, {
      onHint: (folder, name) => this.#scanner.schedule(folder, name, coalescing),
      onStray: () => void this.#allFolders(),
      onMiss: () => void this.#withAll((folder) => this.#scanner.scan(folder)),
      onFault: (fault) => this.#noteWatcher(fault),
    });
    const unpacking = this.#withAll((folder) => this.#scanner.unpack(folder));
    this.#unpacking = unpacking.then(async () => await this.#scanner.putInOrder());
    void this.#revalidate();
    void this.#goRound();
  }

  /**
   * Resolves when every restored bot is unpacked and all are sorted, so that reading all of them delays no request; with false when the
   * catalogue was closed before.
   */
  async unpacked(): Promise<boolean> {
    await this.#unpacking;
    return !this.#closing.signal.aborted;
  }

  /** Reads these bots again at once: for a caller that has changed what their records are made of. */
  reload(ids: Iterable<BotId>): void {
    this.#scanner.reload(ids);
  }

  /** Reads the bots of these files at once, where a file is new or differs: for a caller that has written them whole. */
  read(places: Iterable<PagePlace>): void {
    this.#scanner.read(places);
  }

  /** Reads the settings at once, where they differ: for a caller that has written their file, or the logo, whole. */
  async readSettings(): Promise<void> {
    await this.#settings.read();
  }

  /** Serves these bytes as the content of their files at once: for a caller that has committed them. */
  put(files: ReadonlyMap<PagePlace, Buffer>): void {
    this.#scanner.put(files);
  }

  /** Stops watching, and saves the index for the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#scanner.close();
    await this.#watch?.close();
    await this.#settings.close();
    if (this.#ready && this.#snapshotIsStale) await this.saveSnapshot();
  }

  /** Whether a start with the snapshot would have to read more than one bot in a hundred. */
  get #snapshotIsStale(): boolean {
    return this.bots.version - this.#savedVersion > this.bots.size / 100;
  }

  /** Writes the snapshot. A failure is logged, and the next start takes some seconds longer. */
  async saveSnapshot(): Promise<void> {
    const { snapshot, log } = this.#options;
    if (snapshot === null) return;
    this.#savedVersion = this.bots.version;
    try {
      await writeSnapshot(snapshot, this.#scanner.snapshot(), this.#limits);
    } catch (error) {
      log.warn({ err: error, snapshot }, 'could not save the index: the next start reads every file');
    }
  }

  /** Restores the snapshot and scans the folders that differ from it. Returns false when there is none to trust. */
  async #restore(): Promise<boolean> {
    const { snapshot, root } = this.#options;
    if (snapshot === null || !existsSync(snapshot)) return false;
    const looking = readFingerprints(root);
    looking.catch(() => {});
    const kept = await readSnapshot(snapshot, this.#limits);
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
      if (!same.has(folder)) this.#scanner.scan(folder, false);
    });
    return true;
  }

  /** Reads every bot again where the settings in force allow other pages than those that all were read with. */
  async #revalidate(): Promise<void> {
    await this.#validations.run(async () => {
      const limits = limitsOf(this.settings);
      const { signal } = this.#closing;
      if (!this.#ready || isDeepStrictEqual(limits, this.#limits)) return;
      const faulty = [...this.#faults.keys()].flatMap((key) => parseBotId(key) ?? []);
      const ids = new Set([...Array.from(this.bots.all(), ({ id }) => id), ...faulty]);
      await forEachInSlices(ids, (id) => this.reload([id]), 'service', signal);
      if (signal.aborted) return;
      this.#limits = limits;
      // The one that there is has other limits, so a start could not use it.
      this.#savedVersion = Number.NEGATIVE_INFINITY;
    });
  }

  /** Reads every folder for the first time, on all cores. */
  async #readAll(): Promise<void> {
    const { root, hash = 'sha1' } = this.#options;
    await readFolders(root, hash, [...this.#allFolders()], this.#limits, (reading) =>
      this.#scanner.add(reading),
    );
  }

  /** Does something with every folder that exists or existed, in slices of time. */
  async #withAll(work: (folder: string) => void): Promise<void> {
    await forEachInSlices(this.#allFolders(), work, 'service', this.#closing.signal);
  }

  /** Scans one folder after the other until the catalogue closes: this finds changes that no hint reported. */
  async #goRound(): Promise<void> {
    const { signal } = this.#closing;
    const round = (this.#options.roundSeconds ?? 60) * 1000;
    while (!signal.aborted) {
      const folders = [...this.#allFolders(), undefined];
      for (const folder of folders) {
        const time = this.#watcherFault === null ? round : round / 10;
        await sleep(time / folders.length, undefined, { ref: false, signal }).catch(() => {});
        if (signal.aborted) return;
        if (folder !== undefined) this.#scanner.scan(folder);
      }
      if (this.#snapshotIsStale) await this.saveSnapshot();
    }
  }

  /** Returns the folders on disk and those that were there before; reports anything else in `bots/` as a fault. */
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
      this.#options.log.error({ fault }, 'cannot read the catalogue: the bots that were served stay served');
    }
    this.#folderFault = fault;
  }

  #noteWatcher(fault: string | null): void {
    if (fault !== null && fault !== this.#watcherFault) {
      this.#options.log.warn(
        { fault },
        'the watcher does not work: only rounds over all folders find changes',
      );
    }
    this.#watcherFault = fault;
  }
}

/** Milliseconds that a hint waits for others: one save makes two or three. */
const coalescing = 5;

function isTopPath(key: string): boolean {
  return key.startsWith(`${botsFolder}/`) && key.split('/').length === 2;
}

function limitsOf({ categories, languages }: PageLimits): PageLimits {
  return { categories, languages };
}
