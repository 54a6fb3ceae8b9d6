import { isDeepStrictEqual } from 'node:util';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import type { HashName } from '../../git/objects/object-id.ts';
import type { Log } from '../../lib/log.ts';
import type { BotIndex } from './bot-index.ts';
import type { ImageLookup } from './bot-reader.ts';
import type { Fault } from '../page/fault.ts';
import { FaultList } from './fault-list.ts';
import { listTop } from './folder.ts';
import { Scanner } from './scanner.ts';
import type { PagePlace } from '../page/layout.ts';
import { noLimits, type PageLimits } from '../page/rules.ts';
import { readPageText } from '../page/page-file.ts';
import { readFolders } from './folder-reader.ts';
import { SavedIndex } from './saved-index.ts';
import { CatalogueWatch } from './catalogue-watch.ts';
import { WatchedSettings } from '../settings/watched-settings.ts';
import { type CatalogueSettings, settingsName } from '../settings/settings.ts';

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
  readonly #watch: CatalogueWatch;
  readonly #saved: SavedIndex;
  readonly #settings: WatchedSettings;
  readonly #listeners: ((id: BotId) => void)[] = [];
  readonly #readListeners: ((id: BotId) => void)[] = [];
  readonly #closing = new AbortController();
  #ready = false;
  #unpacking: Promise<void> | undefined;
  /** What all bots were read with. */
  #limits = noLimits;
  readonly #validations = new SerialQueue();

  constructor(options: CatalogueOptions) {
    const { root, log } = options;
    this.#options = options;
    this.#faults = new FaultList(log);
    this.#settings = new WatchedSettings({
      root,
      copy: options.settingsCopy ?? null,
      log,
      onFaults: (faults) => this.#faults.report(settingsName, faults),
      onChange: () => {
        log.info({}, `${settingsName} has changed and is in force`);
        void this.#revalidate();
      },
    });
    this.#scanner = new Scanner({
      root,
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
      onFault: (error) => this.#watch.setFolderError(error),
    });
    this.#saved = new SavedIndex(options.snapshot, root, this.#scanner, log);
    this.#watch = new CatalogueWatch({
      root,
      scanner: this.#scanner,
      faults: this.#faults,
      log,
      roundSeconds: options.roundSeconds ?? 60,
      signal: this.#closing.signal,
      onRound: async () => await this.#saveIfStale(),
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
    const { watcherFault, folderFault } = this.#watch;
    return { ready: this.#ready, watcherFault, folderFault };
  }

  /** Returns every fault of every file, by path, then by line and column. */
  faults(): Fault[] {
    return this.#faults.all();
  }

  faultsOf(id: BotId): readonly Fault[] {
    return this.#faults.of(id);
  }

  /** Whether a bot has a file with faults, also one in another bot's folder or with a wrong name. */
  hasFaultyFile(id: BotId): boolean {
    return this.#faults.has(id) || [...this.#faults.keys()].some((key) => key.includes(`/${id}.`));
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
   * Reads everything, then starts to watch. Resolves once the catalogue is complete; the watcher may start a moment
   * later, and then finds what it missed.
   * @throws {Error} when `bots/` cannot be read
   */
  async load(): Promise<void> {
    listTop(this.#options.root);
    await this.#settings.load();
    this.#limits = pickLimits(this.settings);
    await this.#readBots();
    if (this.#closing.signal.aborted) return;
    this.#ready = true;
    const unpacking = this.#watch.forEachFolder((folder) => this.#scanner.unpack(folder));
    this.#unpacking = unpacking.then(async () => {
      if (!this.#closing.signal.aborted) await this.bots.sorted();
      // Its round over all folders would delay the first pages.
      if (!this.#closing.signal.aborted) this.#watch.start();
    });
    void this.#revalidate();
  }

  /**
   * Resolves when every restored bot is unpacked and all are sorted, so that reading all of them delays no request;
   * with false when the catalogue was closed before.
   */
  async unpacked(): Promise<boolean> {
    await this.#unpacking;
    return !this.#closing.signal.aborted;
  }

  /** Reads these bots again at once: for a caller that has changed what their records are made of. */
  reload(ids: Iterable<BotId>): void {
    this.#scanner.reload(ids);
  }

  /**
   * Reads the bots of these files at once, where a file is new or differs: for a caller that has written them whole.
   */
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
    await this.#watch.close();
    await this.#settings.close();
    if (this.#ready) await this.#saveIfStale();
  }

  /** Writes the snapshot. A failure is logged. */
  async saveSnapshot(): Promise<void> {
    await this.#saved.save(this.#limits);
  }

  async #saveIfStale(): Promise<void> {
    if (this.#saved.isStale) await this.saveSnapshot();
  }

  /** Restores the snapshot and scans the folders that differ from it; without one, reads every folder on all cores. */
  async #readBots(): Promise<void> {
    const unchanged = await this.#saved.restore(this.#limits);
    if (unchanged) {
      await this.#watch.forEachFolder((folder) => {
        if (!unchanged.has(folder)) this.#scanner.scan(folder, false);
      });
      return;
    }
    const { root, hash = 'sha1' } = this.#options;
    await readFolders(root, hash, [...this.#watch.folders()], this.#limits, (reading) =>
      this.#scanner.add(reading),
    );
  }

  /** Reads every bot again where the settings in force allow other pages than those that all were read with. */
  async #revalidate(): Promise<void> {
    await this.#validations.run(async () => {
      const limits = pickLimits(this.settings);
      const { signal } = this.#closing;
      if (!this.#ready || isDeepStrictEqual(limits, this.#limits)) return;
      const faulty = [...this.#faults.keys()].flatMap((key) => parseBotId(key) ?? []);
      const ids = new Set([...Array.from(await this.bots.sorted(), ({ id }) => id), ...faulty]);
      await forEachInSlices(ids, (id) => this.reload([id]), 'service', signal);
      if (signal.aborted) return;
      this.#limits = limits;
      this.#saved.invalidate();
    });
  }
}

function pickLimits({ categories, languages }: PageLimits): PageLimits {
  return { categories, languages };
}
