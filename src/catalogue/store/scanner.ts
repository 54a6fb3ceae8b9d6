import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { BotId } from '../../bot/id.ts';
import type { HashName } from '../../git/objects/object-id.ts';
import { codeOf, messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';
import type { IndexedBot } from './bot-index.ts';
import { readBot, type RecordLookups } from './bot-reader.ts';
import type { BotStore } from './bot-store.ts';
import {
  computeFingerprint,
  groupByBot,
  isFolder,
  listFolder,
  listTopEntries,
  readPageStat,
} from './folder.ts';
import type { FolderReading } from './folder-reader.ts';
import { type FolderState, type PackedFolder, unpackFolder } from './packed-folder.ts';
import { createFileFault } from '../page/fault.ts';
import {
  botsFolder,
  formatFileName,
  folderOf,
  isFolderName,
  type PagePlace,
  parsePagePath,
  strayMessage,
} from '../page/layout.ts';
import type { PageLimits } from '../page/rules.ts';
import { isBlob, parsePageFile, readPageFile } from '../page/page-file.ts';
import { DelayQueue } from './delay-queue.ts';
import { clockTick, StatCache } from './stat-cache.ts';

export interface ScannerOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** Of the repository that the folder is in. */
  readonly hash: HashName;
  readonly restoreFolder: (() => Promise<void>) | undefined;
  readonly isGitWriting: (() => boolean) | undefined;
  readonly lookups: RecordLookups;
  /** What the settings in force allow. */
  readonly limits: () => PageLimits;
  readonly log: Log;
}

/** Compares folders and files with the stats of their last read, and publishes the bots whose files differ. */
export class Scanner {
  readonly #options: ScannerOptions;
  readonly #store: BotStore;
  readonly #stats = new Map<string, StatCache>();
  readonly #delayQueue = new DelayQueue((path) => this.#scanPath(path));
  #fault: string | null = null;
  /** Folder → why it, or a file in it, cannot be read. */
  readonly #unreadable = new Map<string, string>();

  constructor(options: ScannerOptions, store: BotStore) {
    this.#options = options;
    this.#store = store;
  }

  /** Why `bots/` or a folder in it cannot be read; null where all can. */
  get fault(): string | null {
    return this.#fault ?? this.#unreadable.values().next().value ?? null;
  }

  /** Returns the folders on disk and those that were there before; reports anything else in `bots/` as a fault. */
  folders(): Set<string> {
    try {
      const entries = listTopEntries(this.#options.root);
      this.#setError(null);
      const strays = entries
        .filter((entry) => !isFolderName(entry.name) || !entry.isDirectory())
        .map(({ name }) => `${botsFolder}/${name}`);
      for (const key of this.#store.faultyKeys())
        if (/^bots\/[^/]+$/.test(key) && !strays.includes(key)) this.#store.report(key, []);
      for (const path of strays)
        this.#store.report(path, [createFileFault(path, 'stray-file', strayMessage)]);
      return new Set([...this.#stats.keys(), ...entries.map(({ name }) => name).filter(isFolderName)]);
    } catch (error) {
      void this.#fail(error);
      return new Set();
    }
  }

  /** Schedules the scan of a file, or of its folder where none is named or many files wait. */
  schedule(folder: string, name: string | undefined, delay: number): void {
    const isFile = name !== undefined && this.#delayQueue.size < manyNames;
    this.#delayQueue.add(isFile ? `${folder}/${name}` : folder, delay);
  }

  /**
   * Scans a folder.
   * @param waits whether a file that may still be half written is read a moment later
   */
  scan(folder: string, waits = true): void {
    this.#unlessUnreadable(folder, () => this.#scanFolder(folder, waits));
  }

  #scanFolder(folder: string, waits: boolean): void {
    const stats = listFolder(this.#options.root, folder);
    const cache = this.#statsIn(folder);
    const names = [...new Set([...cache.names, ...stats.keys()])];
    const changed = new Set(names.filter((name) => cache.differs(name, stats.get(name))));
    if (changed.size === 0) return;
    const { bots, misplaced } = groupByBot(folder, names.toSorted());
    for (const [name, { rule, message }] of misplaced) {
      const path = `${botsFolder}/${folder}/${name}`;
      cache.record(name, stats.get(name), Number.POSITIVE_INFINITY);
      this.#store.report(path, stats.has(name) ? [createFileFault(path, rule, message)] : []);
    }
    for (const [id, places] of bots) {
      if (places.some((place) => changed.has(formatFileName(place))))
        this.#readBot(id, places, waits ? 'hint' : 'whole');
    }
  }

  /**
   * Reads the bots of these files at once, where a file is new or differs: for a caller that has written them whole.
   */
  read(places: readonly PagePlace[]): void {
    for (const id of new Set(places.map((place) => place.id))) {
      const own = places.filter((place) => place.id === id);
      this.#unlessUnreadable(folderOf(id), () => this.#readBot(id, this.#listPlaces(id, own), 'whole'));
    }
  }

  /** Reads these bots again at once: for a caller that has changed what their records are made of. */
  reload(ids: Iterable<BotId>): void {
    for (const id of ids)
      this.#unlessUnreadable(folderOf(id), () => this.#readBot(id, this.#listPlaces(id), 'reload'));
  }

  /** Serves these bytes as the content of their files at once: for a caller that has committed them. */
  put(files: ReadonlyMap<PagePlace, Buffer>): void {
    for (const [place, bytes] of files) {
      const contents = new Map([[formatFileName(place), bytes]]);
      this.#unlessUnreadable(folderOf(place.id), () =>
        this.#readBot(place.id, this.#listPlaces(place.id, [place]), 'reload', contents),
      );
    }
  }

  /** Adds a folder of the snapshot, or one that was just read. It is unpacked when one of its bots is first needed. */
  add(packed: PackedFolder | FolderReading): void {
    this.#stats.set(packed.folder, new StatCache());
    this.#store.bots.addPacked(packed.folder, packed.size, () => this.#unpack(packed));
    if ('faults' in packed) for (const [key, faults] of packed.faults) this.#store.report(key, faults);
  }

  /** Yields every folder as it is served. One with faults, or with files that changed just now, has no fingerprint. */
  *snapshot(): Generator<FolderState> {
    const byFolder = new Map<string, BotId[]>();
    for (const { id } of this.#store.bots.all()) {
      const ids = byFolder.get(folderOf(id));
      if (ids) ids.push(id);
      else byFolder.set(folderOf(id), [id]);
    }
    for (const [folder, ids] of byFolder) {
      // Read together with the stats: bots change while the folders before this one are being written.
      const bots = ids.flatMap((id) => this.#store.bots.get(id) ?? []);
      const cache = this.#statsIn(folder);
      const sure = cache.sureStats();
      const served = bots.flatMap(({ files }) => files).length;
      const isFaulty = bots.some(({ id }) => this.#store.faultsOf(id).length > 0);
      const isUnchanged = sure.size === cache.names.length && served === sure.size && !isFaulty;
      const stats = bots.flatMap(({ id, files }) =>
        files.map(({ locale }) => {
          const name = formatFileName({ id, locale });
          const stat = this.#store.faultsOf(id).length > 0 ? undefined : sure.get(name);
          return [name, stat ?? null] as const;
        }),
      );
      const fingerprint = isUnchanged ? computeFingerprint(sure) : '';
      yield { folder, fingerprint, bots, stats: new Map(stats) };
    }
  }

  close(): void {
    this.#delayQueue.close();
  }

  /** Runs work on the files of a folder; where it cannot be listed or entered, that is set, and logged once. */
  #unlessUnreadable(folder: string, work: () => void): void {
    try {
      work();
      this.#unreadable.delete(folder);
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return void this.#fail(error);
      if (!this.#unreadable.has(folder)) this.#logFault(error);
      this.#unreadable.set(folder, `${botsFolder}/${folder}/ cannot be read: ${messageOf(error)}`);
    }
  }

  /** Sets why `bots/` cannot be read. Where it is gone, Git may be about to put it back, or to commit that there are no bots. */
  async #fail(reason: unknown): Promise<void> {
    const { root, restoreFolder } = this.#options;
    if (codeOf(reason) === 'ENOENT') {
      await sleep(1000, undefined, { ref: false });
      await restoreFolder?.().catch(() => {});
      if (existsSync(join(root, botsFolder))) return;
    }
    this.#setError(reason);
  }

  /** Sets why `bots/` cannot be read, and logs it; null when it can. */
  #setError(error: unknown): void {
    const fault = error === null ? null : `${botsFolder}/ cannot be read: ${messageOf(error)}`;
    if (fault !== null && fault !== this.#fault) this.#logFault(error);
    this.#fault = fault;
  }

  #logFault(error: unknown): void {
    const message = 'cannot read the catalogue: the bots that were served stay served';
    this.#options.log.error({ err: error }, message);
  }

  /** Returns the stats of a folder's files; empty for a folder that is not known yet. */
  #statsIn(folder: string): StatCache {
    this.#store.bots.unpack(folder);
    const stats = this.#stats.get(folder) ?? new StatCache();
    this.#stats.set(folder, stats);
    return stats;
  }

  #unpack(packed: PackedFolder | FolderReading): readonly IndexedBot[] {
    const { folder } = packed;
    const at = 'at' in packed ? packed.at : Number.POSITIVE_INFINITY;
    try {
      const { bots, stats } = unpackFolder(packed);
      const cache = this.#statsIn(folder);
      for (const [name, stat] of stats) {
        if (stat === null) cache.addUnread(name);
        else if (cache.record(name, stat, at)) this.schedule(folder, undefined, clockTick);
      }
      return bots;
    } catch {
      // It is damaged, and has no bots until it is scanned.
      this.schedule(folder, undefined, 0);
      return [];
    }
  }

  #scanPath(path: string): void {
    const { root } = this.#options;
    const [folder = ''] = path.split('/');
    const place = parsePagePath(`${botsFolder}/${path}`);
    this.#unlessUnreadable(folder, () => {
      if (place === undefined || !isFolder(root, folder)) this.#scanFolder(folder, true);
      else if (this.#statsIn(folder).differs(formatFileName(place), readPageStat(root, place)))
        this.#readBot(place.id, this.#listPlaces(place.id, [place]), 'hint');
    });
  }

  /** Returns the places of the known files of a bot, and of others. */
  #listPlaces(id: BotId, others: readonly PagePlace[] = []): readonly PagePlace[] {
    const folder = folderOf(id);
    const known = this.#statsIn(folder).names.filter((name) => name.startsWith(`${id}.`));
    const names = new Set([...known, ...others.map(formatFileName)]);
    return groupByBot(folder, [...names].toSorted()).bots.get(id) ?? [];
  }

  /** Reads a bot and publishes it; later, when one of its files may still be half written. */
  #readBot(
    id: BotId,
    places: readonly PagePlace[],
    reason: Reason,
    contents?: ReadonlyMap<string, Buffer>,
  ): void {
    const { root, hash, isGitWriting, lookups, limits } = this.#options;
    const folder = folderOf(id);
    const cache = this.#statsIn(folder);
    const previous = this.#store.bots.get(id);
    const now = Date.now();
    const names = places.map(formatFileName);
    const stats = places.map((place) => readPageStat(root, place));
    const record = (): void => {
      for (const [i, name] of names.entries())
        if (cache.record(name, stats[i], now)) this.schedule(folder, name, clockTick);
    };
    if (reason !== 'reload' && previous && this.#isAsServed(previous, places)) {
      record();
      return;
    }
    const files = places.map((place) => {
      const bytes = contents?.get(formatFileName(place));
      return bytes ? parsePageFile(place, bytes, hash) : readPageFile(root, place, hash);
    });
    const isWriting = isGitWriting?.() ?? false;
    const waits = places.map(({ locale }, i) => {
      const served = previous?.files.find((file) => file.locale === locale);
      return cache.waitFor(names[i] ?? '', stats[i], files[i], served, now, isWriting);
    });
    const wait = reason === 'hint' ? Math.max(...waits) : 0;
    if (wait > 0) {
      for (const [i, name] of names.entries()) cache.postpone(name, stats[i], now);
      this.schedule(folder, names[0], wait);
      return;
    }
    record();
    for (const [i, place] of places.entries()) {
      const [name, file] = [names[i] ?? '', files[i]];
      const former = previous?.files.find(({ locale }) => locale === place.locale);
      const known = [file, former].flatMap((one) => one?.sha ?? []);
      if (!contents?.has(name) || known.some((sha) => isBlob(root, place, sha, hash))) continue;
      // A person saved it while it was committed, which is shown as soon as it is whole.
      cache.postpone(name, stats[i], now);
      this.schedule(folder, name, clockTick);
    }
    const found = files.filter((file) => file !== undefined);
    const { bot, faults } = found.length > 0 ? readBot(id, found, previous, limits(), lookups) : nothing;
    const paths = found.map(({ path }) => path);
    this.#store.publish(id, bot, faults, paths);
  }

  /** Whether a bot's files are byte for byte the ones that are served. Takes less time than parsing them. */
  #isAsServed({ id, files }: IndexedBot, places: readonly PagePlace[]): boolean {
    const { root, hash } = this.#options;
    if (this.#store.faultsOf(id).length > 0 || files.length !== places.length) return false;
    return places.every((place) => {
      const served = files.find(({ locale }) => locale === place.locale);
      return served !== undefined && isBlob(root, place, served.sha, hash);
    });
  }
}

/**
 * Why a bot is read: a file may have changed, and may still be half written; its files are whole; or its record may
 * differ although its files do not.
 */
type Reason = 'hint' | 'whole' | 'reload';

const nothing = { bot: undefined, faults: [] };

/** With this many files scheduled, whole folders are scanned instead. */
const manyNames = 1000;
