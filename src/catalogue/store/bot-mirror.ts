import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { noCachedImages } from '../../bot/record.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { forEachInSlices, TimeSlice } from '../../lib/time-slice.ts';
import { createFileFault, type Fault } from '../page/fault.ts';
import {
  botsFolder,
  type FileStat,
  folderOf,
  formatFileName,
  isFolderName,
  parseFilePath,
  parsePlace,
  strayMessage,
  computeFingerprint,
  isFolder,
  listTop,
} from '../page/layout.ts';
import { toPageFile } from '../page/page-file.ts';
import { noLimits, type PageLimits } from '../page/rules.ts';
import {
  indexBot,
  type IndexedBot,
  type IndexedFile,
  listPaths,
  parseRecord,
  readBot,
  type RecordLookups,
} from './bot-index.ts';
import type { BotStore } from './bot-store.ts';
import { FileMirror, type FileMirrorOptions, type ReadFile } from './file-mirror.ts';
import { type FolderReading, readFingerprints, readFolders } from './folder-reader.ts';
import { type FolderState, type PackedFolder, unpackFolder } from './packed-folder.ts';
import { readSnapshot, writeSnapshot } from './snapshot.ts';
import { clockTickMs, type StatCache } from './stat-cache.ts';

export interface BotMirrorOptions extends FileMirrorOptions, RecordLookups {
  readonly store: BotStore;
  /** Returns the limits of the settings in force. */
  readonly limits: () => PageLimits;
  /** The file that keeps the index between runs; null to keep nothing. */
  readonly snapshot: string | null;
}

/**
 * The bots of a catalogue. Each is built from all its files in `bots/`. A start restores a snapshot, or reads the
 * files in threads; bots and stats then stay packed, by folder, until one of the folder's bots is needed.
 */
export class BotMirror extends FileMirror {
  declare protected readonly options: BotMirrorOptions;
  readonly #revalidations = new SerialQueue();
  /** The limits with which all bots were read. */
  #limits = noLimits;
  #isLoaded = false;
  #unpacking: Promise<void> | undefined;
  /** The version of the index in the snapshot; -1 if the next start cannot use the snapshot. */
  #savedVersion = -1;

  constructor(options: BotMirrorOptions) {
    super(options, botsFolder, isFolderName);
  }

  /** Restores the snapshot and scans the folders that differ from it. Without a snapshot, reads every folder on all cores. */
  override async load(): Promise<void> {
    this.#limits = pickLimits(this.options.limits());
    if (!(await this.#restore())) {
      const { root, hash = 'sha1' } = this.options;
      const folders = listTop(root).filter(isFolderName);
      await readFolders({ root, hash, limits: this.#limits, folders }, (reading) => this.#add(reading));
    }
    await this.lookAtFolder(botsFolder, 'start');
    this.#isLoaded = true;
  }

  /** Unpacks and sorts all bots before watching, because a scan of all folders would delay the first pages. */
  override start(): void {
    this.#unpacking = this.#unpackAll();
    void this.revalidate();
  }

  /**
   * Resolves with true when all bots are unpacked and sorted, so that reading all of them delays no request. Resolves
   * with false if the mirror was closed before.
   */
  async unpacked(): Promise<boolean> {
    await this.#unpacking;
    return !this.signal.aborted;
  }

  /** Reads every bot again if the limits of the settings have changed. */
  async revalidate(): Promise<void> {
    await this.#revalidations.run(async () => {
      const limits = pickLimits(this.options.limits());
      const { store } = this.options;
      if (!this.#isLoaded || isDeepStrictEqual(limits, this.#limits)) return;
      const bots = await store.bots.sorted();
      await forEachInSlices(bots, (bot) => this.look(listPaths(bot)), 'service', this.signal);
      await forEachInSlices(store.faults(), ({ path }) => this.look([path]), 'service', this.signal);
      if (this.signal.aborted) return;
      this.#limits = limits;
      this.#savedVersion = -1;
    });
  }

  /** Writes the snapshot. A failure is logged; the next start then takes some seconds longer. */
  async saveSnapshot(): Promise<void> {
    const { snapshot, store, log } = this.options;
    if (snapshot === null) return;
    this.#savedVersion = store.bots.version;
    try {
      await writeSnapshot(snapshot, this.states(), this.#limits);
    } catch (error) {
      log.warn({ err: error, snapshot }, 'could not save the index: the next start reads every file');
    }
  }

  override async close(): Promise<void> {
    await super.close();
    if (this.#isLoaded) await this.#saveIfStale();
  }

  /** Yields the state of every folder. A folder with faults, or with files that changed just now, has no fingerprint. */
  *states(): Generator<FolderState> {
    const { store } = this.options;
    const byFolder = new Map<string, BotId[]>();
    for (const { id } of store.bots.all()) {
      const ids = byFolder.get(folderOf(id));
      if (ids) ids.push(id);
      else byFolder.set(folderOf(id), [id]);
    }
    for (const [folder, ids] of byFolder) {
      // Read together with the stats, because bots change while previous folders are being written.
      const bots = ids.flatMap((id) => store.bots.get(id) ?? []);
      const cache = this.statsIn(join(botsFolder, folder));
      const reliable = cache.reliableStats();
      const stats = new Map<string, FileStat | null>();
      for (const { id, files } of bots) {
        const isFaulty = store.faultsOf(id).length > 0;
        for (const name of files.map(({ locale }) => formatFileName({ id, locale })))
          stats.set(name, (!isFaulty && reliable.get(name)) || null);
      }
      const isUnchanged = stats.size === cache.names.length && ![...stats.values()].includes(null);
      yield { folder, fingerprint: isUnchanged ? computeFingerprint(reliable) : '', bots, stats };
    }
  }

  /** Returns the id of the bot; for any other file, its path. */
  protected override keyOf(path: string): string {
    return parseFilePath(path)?.id ?? path;
  }

  protected override listKnownNames(folder: string, key: string): readonly string[] {
    const names = this.statsIn(folder).names.filter((name) => name.startsWith(`${key}.`));
    return names.filter((name) => this.keyOf(join(folder, name)) === key);
  }

  protected override findKnown(path: string): IndexedFile | undefined {
    const place = parseFilePath(path);
    const bot = place && this.options.store.bots.get(place.id);
    return bot?.files.find(({ locale }) => locale === place?.locale);
  }

  protected override update(key: string, files: readonly ReadFile[]): void {
    const { root, hash = 'sha1', store, limits } = this.options;
    const id = parseBotId(key);
    if (id === undefined) {
      // A folder of bots may have replaced something else.
      const isMirrored = isFolderName(childOf(key)) && isFolder(root, key);
      const isStray = files.some(({ reading }) => reading !== undefined) && !isMirrored;
      return store.report(key, isStray ? [createStrayFault(key)] : []);
    }
    const pages = files.flatMap(({ path, reading }) => {
      const place = parseFilePath(path);
      return (place && toPageFile(place, reading, hash)) ?? [];
    });
    const { bot, faults } = readBot(id, pages, store.bots.get(id), limits(), this.options);
    const paths = pages.map(({ path }) => path);
    store.publish(id, bot, faults, paths);
  }

  protected override statsIn(folder: string): StatCache {
    this.options.store.bots.unpack(childOf(folder));
    return super.statsIn(folder);
  }

  protected override async goRound(): Promise<void> {
    await super.goRound();
    if (!this.signal.aborted) await this.#saveIfStale();
  }

  /** Saves the index if the next start would have to read more than 1 % of the bots. */
  async #saveIfStale(): Promise<void> {
    const { version, size } = this.options.store.bots;
    if (this.#savedVersion < 0 || version - this.#savedVersion > size / 100) await this.saveSnapshot();
  }

  /** Returns false if there is no usable snapshot. */
  async #restore(): Promise<boolean> {
    const { root, snapshot, store } = this.options;
    if (snapshot === null || !existsSync(snapshot)) return false;
    const looking = readFingerprints(root);
    looking.catch(() => {});
    const saved = await readSnapshot(snapshot);
    if (saved === undefined) return false;
    // If the settings have other limits now, every bot is read again after the start.
    this.#limits = saved.limits;
    for (const packed of saved.folders) this.#add(packed);
    this.#savedVersion = store.bots.version;
    const before = new Map(saved.folders.map(({ folder, fingerprint }) => [folder, fingerprint]));
    const now = await looking;
    const slice = new TimeSlice('service');
    for (const folder of new Set([...before.keys(), ...now.keys()]))
      if ((before.get(folder) ?? '') !== now.get(folder))
        await this.lookAtFolder(join(botsFolder, folder), 'start', slice);
    return true;
  }

  /** Adds a folder of the snapshot, or one that was just read, without unpacking it. */
  #add(packed: PackedFolder | FolderReading): void {
    const { store } = this.options;
    this.statsIn(join(botsFolder, packed.folder));
    store.bots.addPacked(packed.folder, packed.size, () => this.#unpack(packed));
    if ('faults' in packed) for (const [key, faults] of packed.faults) store.report(key, faults);
  }

  #unpack(packed: PackedFolder | FolderReading): readonly IndexedBot[] {
    const folder = join(botsFolder, packed.folder);
    const at = 'at' in packed ? packed.at : Number.POSITIVE_INFINITY;
    try {
      const { bots, stats } = unpackFolder(packed);
      const cache = this.statsIn(folder);
      for (const [name, stat] of stats) {
        if (stat === null) cache.addUnread(name);
        else if (cache.record(name, stat, at)) this.schedule(folder, undefined, clockTickMs);
      }
      return this.options.cachedImages ? bots : bots.map(withoutCopies);
    } catch {
      // The folder is damaged: it has no bots until it is read.
      this.schedule(folder, undefined, 0);
      return [];
    }
  }

  async #unpackAll(): Promise<void> {
    const { bots } = this.options.store;
    const unpack = (folder: string): void => bots.unpack(childOf(folder));
    await forEachInSlices(this.listFolders(), unpack, 'service', this.signal);
    if (!this.signal.aborted) await bots.sorted();
    if (!this.signal.aborted) super.start();
  }
}

function pickLimits({ categories, languages }: PageLimits): PageLimits {
  return { categories, languages };
}

/** Removes the image copies of an earlier run from a bot. */
function withoutCopies(bot: IndexedBot): IndexedBot {
  if (bot.record.includes(noCopies)) return bot;
  const record = { ...parseRecord(bot), cachedImages: noCachedImages };
  return indexBot(bot.id, record, bot.files, bot.commands);
}

const noCopies = `"cachedImages":${JSON.stringify(noCachedImages)}`;

/** Returns the name of a folder in `bots/`; empty for `bots` itself. */
function childOf(folder: string): string {
  return folder.slice(botsFolder.length + 1);
}

function createStrayFault(path: string): Fault {
  const [, folder = '', name = ''] = path.split('/');
  const place = parsePlace(folder, name);
  const { rule, message } = 'rule' in place ? place : { rule: 'stray-file', message: strayMessage };
  return createFileFault(path, rule, message);
}
