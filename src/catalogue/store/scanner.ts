import type { BotId } from '../../bot/id.ts';
import type { HashName } from '../../git/objects/object-id.ts';
import type { BotIndex, IndexedBot } from './bot-index.ts';
import { type ImageLookup, readBot } from './bot-reader.ts';
import { type FileStat, groupByBot, isFolder, listFolder, readPageStat } from './folder.ts';
import type { FolderReading } from './folder-reader.ts';
import type { PackedFolder, SnapshotFolder } from './snapshot.ts';
import { createFileFault } from '../page/fault.ts';
import { botsFolder, formatFileName, folderOf, type PagePlace, parsePagePath } from '../page/layout.ts';
import type { PageLimits } from '../page/rules.ts';
import { isBlob, parsePageFile, readPageFile } from '../page/page-file.ts';
import { DelayQueue } from './delay-queue.ts';
import type { FaultList } from './fault-list.ts';
import { ServedBots } from './served-bots.ts';
import { clockTick } from './stat-cache.ts';

export interface ScannerOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** Of the repository that the folder is in. */
  readonly hash: HashName;
  readonly faults: FaultList;
  readonly cachedImages: ImageLookup | undefined;
  /** What the settings in force allow. */
  readonly limits: () => PageLimits;
  /** Called with each bot that is new, differs, or is no longer served. */
  onChange(id: BotId): void;
  /** Called with each bot whose files were read, whether it changed or not. */
  onRead(id: BotId): void;
  /** Called when a folder cannot be listed. */
  onFault(error: unknown): void;
}

/**
 * Scans folders and files: compares them with the stats of the last read, and reads the bots whose files differ.
 * Methods that `Catalogue` or `ServedBots` have too do what they do there.
 */
export class Scanner {
  readonly #options: ScannerOptions;
  readonly #served = new ServedBots();
  readonly #delayQueue = new DelayQueue((path) => this.#scanPath(path));

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  get bots(): BotIndex {
    return this.#served.index;
  }

  folders(): Iterable<string> {
    return this.#served.folders();
  }

  /** Adds a folder of a snapshot, which is unpacked when it is first needed. */
  restore(packed: PackedFolder): void {
    this.#served.restore(packed, () => this.#delayQueue.add(packed.folder, 0));
  }

  unpack(folder: string): void {
    this.#served.unpack(folder);
  }

  /** Adds a folder that a thread has read. */
  add(reading: FolderReading): void {
    if (this.#served.add(reading)) this.#delayQueue.add(reading.folder, clockTick);
    for (const [key, faults] of reading.faults) this.#options.faults.report(key, faults);
  }

  /** Yields every folder as it is served. */
  snapshot(): Iterable<SnapshotFolder> {
    return this.#served.snapshot(this.#options.faults);
  }

  reload(ids: Iterable<BotId>): void {
    for (const id of ids) this.#scanBot(id, 'reload');
  }

  read(places: Iterable<PagePlace>): void {
    const bots = new Set<BotId>();
    for (const place of places) {
      this.#served.statsIn(folderOf(place.id)).addUnread(formatFileName(place));
      bots.add(place.id);
    }
    for (const id of bots) this.#scanBot(id, 'whole');
  }

  put(files: ReadonlyMap<PagePlace, Buffer>): void {
    for (const [place, bytes] of files) {
      this.#served.statsIn(folderOf(place.id)).addUnread(formatFileName(place));
      const places = this.#placesOf(place.id);
      const contents = new Map([[formatFileName(place), bytes]]);
      this.#readBot(place.id, places, this.#statsOf(places), 'reload', contents);
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
    let stats: ReadonlyMap<string, FileStat>;
    try {
      stats = listFolder(this.#options.root, folder);
    } catch (error) {
      this.#options.onFault(error);
      return;
    }
    const cache = this.#served.statsIn(folder);
    const changed = cache.changed(stats);
    if (changed.size > 0) {
      const names = new Set([...cache.names, ...stats.keys()]);
      const { bots, misplaced } = groupByBot(folder, [...names].toSorted());
      for (const [name, { rule, message }] of misplaced) {
        const path = `${botsFolder}/${folder}/${name}`;
        cache.record(name, stats.get(name), Number.POSITIVE_INFINITY);
        this.#options.faults.report(path, stats.has(name) ? [createFileFault(path, rule, message)] : []);
      }
      for (const [id, places] of bots) {
        if (places.some((place) => changed.has(formatFileName(place))))
          this.#readBot(id, places, stats, waits ? 'hint' : 'whole');
      }
    }
    this.#served.dropIfEmpty(folder);
  }

  close(): void {
    this.#delayQueue.close();
  }

  #scanPath(path: string): void {
    const [folder = ''] = path.split('/');
    const place = parsePagePath(`${botsFolder}/${path}`);
    if (place && isFolder(this.#options.root, folder)) this.#scanFile(folder, place);
    else this.scan(folder);
  }

  #scanFile(folder: string, place: PagePlace): void {
    const cache = this.#served.statsIn(folder);
    const name = formatFileName(place);
    const stat = readPageStat(this.#options.root, place);
    if (cache.isRecent(name, stat, Date.now())) this.schedule(folder, name, clockTick);
    else if (cache.differs(name, stat)) this.#scanBot(place.id, 'hint', place);
    this.#served.dropIfEmpty(folder);
  }

  /** Reads a bot from its known files, and from one more. */
  #scanBot(id: BotId, reason: Reason, also?: PagePlace): void {
    const places = this.#placesOf(id, also);
    this.#readBot(id, places, this.#statsOf(places), reason);
  }

  /** Returns the places of the known files of a bot, and one more. */
  #placesOf(id: BotId, also?: PagePlace): PagePlace[] {
    const folder = folderOf(id);
    const known = [...this.#served.statsIn(folder).names].filter((name) => name.startsWith(`${id}.`));
    const names = new Set(also ? [...known, formatFileName(also)] : known);
    return [...(groupByBot(folder, [...names].toSorted()).bots.get(id) ?? [])];
  }

  #statsOf(places: readonly PagePlace[]): Map<string, FileStat> {
    const stats = new Map<string, FileStat>();
    for (const place of places) {
      const stat = readPageStat(this.#options.root, place);
      if (stat) stats.set(formatFileName(place), stat);
    }
    return stats;
  }

  /** Reads a bot and serves the result; later, when one of its files may still be half written. */
  #readBot(
    id: BotId,
    places: readonly PagePlace[],
    stats: ReadonlyMap<string, FileStat>,
    reason: Reason,
    contents?: ReadonlyMap<string, Buffer>,
  ): void {
    const { root, hash, faults: faultList, cachedImages, limits } = this.#options;
    const cache = this.#served.statsIn(folderOf(id));
    const previous = this.bots.get(id);
    const now = Date.now();
    const record = (name: string, stat: FileStat | undefined): void => {
      if (cache.record(name, stat, now)) this.schedule(folderOf(id), name, clockTick);
    };
    if (reason !== 'reload' && previous && this.#isAsServed(previous, places)) {
      for (const name of places.map(formatFileName)) record(name, stats.get(name));
      this.#options.onRead(id);
      return;
    }
    const reads = places.map((place) => {
      const name = formatFileName(place);
      const stat = stats.get(name);
      const bytes = contents?.get(name);
      const file = bytes ? parsePageFile(place, bytes, hash) : readPageFile(root, place, hash);
      const served = previous?.files.find(({ locale }) => locale === place.locale);
      return { name, stat, file, wait: cache.waitFor(name, stat, file, served, now) };
    });
    const wait = reason === 'hint' ? Math.max(...reads.map((read) => read.wait)) : 0;
    if (wait > 0) {
      for (const { name, stat } of reads) cache.postpone(name, stat, now);
      this.schedule(folderOf(id), reads[0]?.name, wait);
      return;
    }
    for (const { name, stat } of reads) record(name, stat);

    const files = reads.flatMap(({ file }) => file ?? []);
    const { bot, faults } = files.length > 0 ? readBot(id, files, previous, limits(), cachedImages) : nothing;
    faultList.report(
      id,
      faults,
      files.map(({ path }) => path),
    );
    if (this.#served.replace(id, bot)) this.#options.onChange(id);
    this.#options.onRead(id);
  }

  /** Whether a bot's files are byte for byte the ones that are served. Takes less time than parsing them. */
  #isAsServed({ id, files }: IndexedBot, places: readonly PagePlace[]): boolean {
    const { root, hash, faults } = this.#options;
    if (faults.has(id) || files.length !== places.length) return false;
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
