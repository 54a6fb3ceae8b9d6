import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { parseBotId } from '../../bot/id.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import type { HashName } from '../../git/objects/object-id.ts';
import type { Log } from '../../lib/log.ts';
import type { RecordLookups } from './bot-reader.ts';
import { BotStore } from './bot-store.ts';
import { Collections } from './collections.ts';
import { listTop } from './folder.ts';
import { readFingerprints, readFolders } from './folder-reader.ts';
import { Scanner } from './scanner.ts';
import { readSnapshot, writeSnapshot } from './snapshot.ts';
import { WatchedFolder } from './watched-folder.ts';
import { Watcher } from './watcher.ts';
import type { Fault } from '../page/fault.ts';
import { botsFolder } from '../page/layout.ts';
import { parseProfile, peopleFolder, type Profile } from '../page/profile.ts';
import { noLimits, type PageLimits } from '../page/rules.ts';
import { type Blocked, blockedName, watchBlocked } from '../settings/blocked.ts';
import { type CatalogueSettings, settingsName } from '../settings/settings.ts';
import type { WatchedFile } from '../settings/watched-file.ts';
import { watchSettings } from '../settings/watched-settings.ts';

export interface CatalogueOptions extends RecordLookups {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** The hash of the repository that the folder is in, for the blob ids of files; SHA-1 by default. */
  readonly hash?: HashName;
  /** Makes `bots/` where Git removed it with the last bot; by default nothing does. */
  readonly restoreFolder?: () => Promise<void>;
  /** Whether Git may be replacing files now; no by default. */
  readonly isGitWriting?: () => boolean;
  readonly log: Log;
  /** The file that keeps the index between runs; null for none. */
  readonly snapshot: string | null;
  /** The file that keeps the last valid settings between runs; none by default. */
  readonly settingsCopy?: string;
  /** The file that says who is blocked, in place of that of the catalogue; none by default. */
  readonly blockedFile?: string | null;
  /** The file that keeps its last valid version between runs; none by default. */
  readonly blockedCopy?: string;
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
 * A folder of bots in memory, kept up to date. The files are the truth: a hint from the watcher, a slow round over all
 * folders and a commit of the service itself all make the scanner compare the files with the last read. It publishes
 * what differs in the store.
 */
export class Catalogue {
  readonly store: BotStore;
  readonly scanner: Scanner;
  readonly settings: WatchedFile<CatalogueSettings>;
  readonly blocked: WatchedFile<Blocked | null>;
  /** What authors are called, by the names of the files in `people/`. */
  readonly profiles: WatchedFolder<Profile>;
  readonly collections: Collections;
  readonly #options: CatalogueOptions;
  readonly #watcher: Watcher;
  readonly #closing = new AbortController();
  readonly #validations = new SerialQueue();
  #ready = false;
  #unpacking: Promise<void> | undefined;
  /** What all bots were read with. */
  #limits = noLimits;
  /** The version of the index that the snapshot has; -1 where there is none that the next start can use. */
  #savedVersion = -1;

  constructor(options: CatalogueOptions) {
    const { root, hash = 'sha1', restoreFolder, isGitWriting, log } = options;
    const { settingsCopy = null, blockedFile = null, blockedCopy = null } = options;
    this.#options = options;
    this.store = new BotStore(log);
    this.settings = watchSettings(root, {
      copy: settingsCopy,
      log,
      onFaults: (faults) => this.store.report(settingsName, faults),
      onChange: () => {
        log.info({}, `${settingsName} has changed and is in force`);
        void this.#revalidate();
      },
    });
    this.blocked = watchBlocked(root, blockedFile, {
      copy: blockedCopy,
      log,
      onFaults: (faults) => this.store.report(blockedName, faults),
      onChange: () => log.info({}, `${blockedName} has changed and is in force`),
    });
    const onFaults = (key: string, faults: readonly Fault[]): void => {
      const [path = key] = key.split('#');
      this.store.report(key, faults, [path]);
    };
    this.profiles = new WatchedFolder({ root, folder: peopleFolder, parse: parseProfile, onFaults });
    this.collections = new Collections({ root, onFaults });
    const limits = (): PageLimits => this.settings.current;
    this.scanner = new Scanner(
      { root, hash, restoreFolder, isGitWriting, log, lookups: options, limits },
      this.store,
    );
    this.#watcher = new Watcher(join(root, botsFolder), log, {
      onHint: (folder, name) =>
        this.scanner.schedule(folder, name, this.#watcher.isBusy ? busyHintDelayMs : hintDelayMs),
      onStray: () => void this.scanner.folders(),
      onMiss: () => void this.#forEachFolder((folder) => this.scanner.scan(folder)),
    });
  }

  get status(): CatalogueStatus {
    return { ready: this.#ready, watcherFault: this.#watcher.fault, folderFault: this.scanner.fault };
  }

  /**
   * Reads everything, then starts to watch. Resolves once the catalogue is complete; the watcher may start a moment
   * later, and then finds what it missed.
   * @throws {Error} when `bots/` cannot be read
   */
  async load(): Promise<void> {
    listTop(this.#options.root);
    await Promise.all([this.settings.load(), this.blocked.load()]);
    this.#limits = pickLimits(this.settings.current);
    await Promise.all([this.#readBots(), this.profiles.load(), this.collections.folder.load()]);
    if (this.#closing.signal.aborted) return;
    this.#ready = true;
    this.#unpacking = this.#unpack();
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

  /** Stops watching, and saves the index for the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.scanner.close();
    await this.#watcher.close();
    await this.settings.close();
    await this.blocked.close();
    await this.profiles.close();
    await this.collections.folder.close();
    if (this.#ready) await this.#saveIfStale();
  }

  /** Writes the snapshot. A failure is logged, and the next start takes some seconds longer. */
  async saveSnapshot(): Promise<void> {
    const { snapshot, log } = this.#options;
    if (snapshot === null) return;
    this.#savedVersion = this.store.bots.version;
    try {
      await writeSnapshot(snapshot, this.scanner.snapshot(), this.#limits);
    } catch (error) {
      log.warn({ err: error, snapshot }, 'could not save the index: the next start reads every file');
    }
  }

  /** Saves the index where a start with the snapshot would have to read more than one bot in a hundred. */
  async #saveIfStale(): Promise<void> {
    const { version, size } = this.store.bots;
    if (this.#savedVersion < 0 || version - this.#savedVersion > size / 100) await this.saveSnapshot();
  }

  /** Restores the snapshot and scans the folders that differ from it; without one, reads every folder on all cores. */
  async #readBots(): Promise<void> {
    const { root, hash = 'sha1', snapshot } = this.#options;
    if (snapshot !== null && existsSync(snapshot)) {
      const looking = readFingerprints(root);
      looking.catch(() => {});
      const saved = await readSnapshot(snapshot, this.#limits);
      if (saved) {
        for (const folder of saved) this.scanner.add(folder);
        this.#savedVersion = this.store.bots.version;
        const before = new Map(saved.map(({ folder, fingerprint }) => [folder, fingerprint]));
        const now = await looking;
        await this.#forEachFolder((folder) => {
          if ((before.get(folder) ?? '') !== now.get(folder)) this.scanner.scan(folder, false);
        });
        return;
      }
    }
    const task = { root, hash, limits: this.#limits, folders: [...this.scanner.folders()] };
    await readFolders(task, (reading) => this.scanner.add(reading));
  }

  async #unpack(): Promise<void> {
    const { signal } = this.#closing;
    await this.#forEachFolder((folder) => this.store.bots.unpack(folder));
    if (!signal.aborted) await this.store.bots.sorted();
    if (signal.aborted) return;
    // Its round over all folders would delay the first pages.
    this.#watcher.start();
    void this.#goRounds();
  }

  /** Scans one folder after the other until the catalogue closes. */
  async #goRounds(): Promise<void> {
    const { signal } = this.#closing;
    const { roundSeconds = 60 } = this.#options;
    while (!signal.aborted) {
      const folders = [...this.scanner.folders(), undefined];
      for (const folder of folders) {
        const roundMs = this.#watcher.fault === null ? roundSeconds * 1000 : roundSeconds * 100;
        await sleep(roundMs / folders.length, undefined, { ref: false, signal }).catch(() => {});
        if (signal.aborted) return;
        if (folder !== undefined) this.scanner.scan(folder);
      }
      await this.#saveIfStale();
    }
  }

  /** Does something with every folder that exists or existed, in slices of time. */
  async #forEachFolder(work: (folder: string) => void): Promise<void> {
    await forEachInSlices(this.scanner.folders(), work, 'service', this.#closing.signal);
  }

  /** Reads every bot again where the settings in force allow other pages than those that all were read with. */
  async #revalidate(): Promise<void> {
    await this.#validations.run(async () => {
      const limits = pickLimits(this.settings.current);
      const { signal } = this.#closing;
      if (!this.#ready || isDeepStrictEqual(limits, this.#limits)) return;
      const faulty = [...this.store.faultyKeys()].flatMap((key) => parseBotId(key) ?? []);
      const ids = new Set([...Array.from(await this.store.bots.sorted(), ({ id }) => id), ...faulty]);
      await forEachInSlices(ids, (id) => this.scanner.reload([id]), 'service', signal);
      if (signal.aborted) return;
      this.#limits = limits;
      this.#savedVersion = -1;
    });
  }
}

/** Milliseconds that a hint waits for others: one save makes two or three. */
const hintDelayMs = 5;

/** The same while many files are replaced, which takes several times as long when each is read in between. */
const busyHintDelayMs = 500;

function pickLimits({ categories, languages }: PageLimits): PageLimits {
  return { categories, languages };
}
