import { setImmediate as breathe, setTimeout as rest } from 'node:timers/promises';
import { type BotId, parseBotId } from '../bot/id.ts';
import type { Log } from '../log.ts';
import { Agenda } from './agenda.ts';
import { fromBlock } from './block.ts';
import { type BotIndex, type IndexedBot, MutableBotIndex } from './bot-index.ts';
import { type ImageLookup, readBot } from './bot-reader.ts';
import { type Fault, fileFault } from './fault.ts';
import { FaultList } from './fault-list.ts';
import { groupByBot, isFolder, listFolder, listTop, type Stamp, stampOf } from './folder.ts';
import { botsFolder, fileName, folderOf, isFolderName, type Place, placeOf, strayMessage } from './layout.ts';
import { readPageFile } from './page-file.ts';
import { clockTick, SeenFolder } from './seen-folder.ts';
import { readFolders } from './parallel-reading.ts';
import { readSnapshot, type SnapshotEntry, writeSnapshot } from './snapshot.ts';
import { type Watch, watchFolders } from './watcher.ts';
import { messageOf } from '../system-error.ts';

export interface CatalogueOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
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
 * reload after our own write all do the same, look at a folder and read what is not as it was.
 */
export class Catalogue {
  readonly #options: CatalogueOptions;
  readonly #index = new MutableBotIndex();
  readonly #folders = new Map<string, SeenFolder>();
  readonly #faults: FaultList;
  readonly #agenda = new Agenda((path) => this.#lookAt(path));
  readonly #listeners: ((id: BotId) => void)[] = [];
  readonly #closing = new AbortController();
  #watch: Watch | undefined;
  #ready = false;
  /** The version of the index that the snapshot has. */
  #savedVersion = 0;
  #watcherFault: string | null = 'the watcher has not started yet';
  #folderFault: string | null = null;

  constructor(options: CatalogueOptions) {
    this.#options = options;
    this.#faults = new FaultList(options.log);
  }

  get bots(): BotIndex {
    return this.#index;
  }

  get status(): CatalogueStatus {
    return { ready: this.#ready, watcherFault: this.#watcherFault, folderFault: this.#folderFault };
  }

  /** Every fault of every file, by path, then by line and column. */
  faults(): Fault[] {
    return this.#faults.all();
  }

  /** Calls back with each bot that is served anew, differently, or no more. */
  onChange(listener: (id: BotId) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Reads everything, then starts to watch. Resolves once the catalogue is complete; the watcher may take
   * some seconds more, and finds what happened before it was up.
   * @throws {Error} when there is no `bots/` folder that can be read.
   */
  async load(): Promise<void> {
    listTop(this.#options.root);
    if (!(await this.#restore())) await this.#readAll();
    else await this.#lookAtAll(false);
    if (this.#closing.signal.aborted) return;
    this.#ready = true;
    this.#watch = watchFolders(`${this.#options.root}/${botsFolder}`, {
      onHint: (folder, name) => this.#plan(folder, name, coalescing),
      onMiss: () => void this.#lookAtAll(),
      onFault: (fault) => this.#noteWatcher(fault),
    });
    void this.#goRound();
  }

  /** Reads these bots anew at once and believes what is there: for a writer that has replaced their files. */
  reload(ids: Iterable<BotId>): void {
    for (const id of ids) {
      const places = this.#placesOf(id);
      this.#lookAtBot(id, places, this.#stampsOf(places), false);
    }
  }

  /** Stops watching and keeps the index for the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    this.#agenda.close();
    await this.#watch?.close();
    if (this.#ready && this.#snapshotIsStale) await this.saveSnapshot();
  }

  /** Whether a start with the snapshot would have more than one bot in a hundred to read anew. */
  get #snapshotIsStale(): boolean {
    return this.#index.version - this.#savedVersion > this.#index.size / 100;
  }

  /** Writes the snapshot. A failure is logged and costs the next start some seconds, no more. */
  async saveSnapshot(): Promise<void> {
    const { snapshot, log } = this.#options;
    if (snapshot === null) return;
    this.#savedVersion = this.#index.version;
    try {
      await writeSnapshot(snapshot, this.#snapshotEntries());
    } catch (error) {
      log.warn({ err: error, snapshot }, 'the index could not be kept: the next start reads every file');
    }
  }

  /** Takes over what an earlier run kept; false when there is nothing that can be trusted. */
  async #restore(): Promise<boolean> {
    const { snapshot } = this.#options;
    const entries = snapshot === null ? undefined : await readSnapshot(snapshot);
    for (const { bot, stamps } of entries ?? []) {
      this.#index.set(bot);
      const seen = this.#seenIn(folderOf(bot.id));
      bot.files.forEach(({ locale }, i) => {
        const name = fileName({ id: bot.id, locale });
        const stamp = stamps[i];
        if (stamp) seen.settle(name, stamp, Number.POSITIVE_INFINITY);
        else seen.expect(name);
      });
    }
    if (entries !== undefined) this.#savedVersion = this.#index.version;
    return entries !== undefined;
  }

  /** Reads every folder for the first time, on all cores. */
  async #readAll(): Promise<void> {
    await readFolders(this.#options.root, [...this.#allFolders()], ({ folder, at, stamps, bots, faults }) => {
      const seen = this.#seenIn(folder);
      for (const [name, stamp] of stamps)
        if (seen.settle(name, stamp, at)) this.#agenda.add(folder, clockTick);
      for (const bot of fromBlock(bots)) this.#index.set(bot);
      for (const [key, found] of faults) this.#faults.report(key, found);
    });
  }

  /** A bot that has faults goes without stamps, so that they are found again. */
  *#snapshotEntries(): Generator<SnapshotEntry> {
    for (const bot of this.#index.all()) {
      const seen = this.#faults.has(bot.id) ? undefined : this.#folders.get(folderOf(bot.id));
      const stamps = bot.files.flatMap(({ locale }) => seen?.stamp(fileName({ id: bot.id, locale })) ?? []);
      yield { bot, stamps: stamps.length === bot.files.length ? stamps : [] };
    }
  }

  /** Looks at every folder there is or was, a few milliseconds at a time. */
  async #lookAtAll(settle = true): Promise<void> {
    let start = performance.now();
    for (const folder of this.#allFolders()) {
      if (this.#closing.signal.aborted) return;
      this.#look(folder, settle);
      if (performance.now() - start < slice) continue;
      await breathe();
      start = performance.now();
    }
  }

  /** Looks at one folder after the other for ever, slowly: what no hint told is found here. */
  async #goRound(): Promise<void> {
    const { signal } = this.#closing;
    const round = (this.#options.roundSeconds ?? 60) * 1000;
    while (!signal.aborted) {
      const folders = [...this.#allFolders(), undefined];
      for (const folder of folders) {
        const time = this.#watcherFault === null ? round : round / 10;
        await rest(time / folders.length, undefined, { ref: false, signal }).catch(() => {});
        if (signal.aborted) return;
        if (folder !== undefined) this.#look(folder);
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
      return new Set([...this.#folders.keys(), ...names.filter(isFolderName)]);
    } catch (error) {
      this.#noteFolder(error);
      return new Set();
    }
  }

  /** Puts down a file to look at, or its folder: a name is cheaper, but of many names the folder is. */
  #plan(folder: string, name: string | undefined, delay: number): void {
    const one = name !== undefined && this.#agenda.size < manyNames;
    this.#agenda.add(one ? `${folder}/${name}` : folder, delay);
  }

  #lookAt(path: string): void {
    const [folder = '', name] = path.split('/');
    const place = name === undefined ? undefined : placeOf(folder, name);
    if (place && 'id' in place && isFolder(this.#options.root, folder)) this.#lookAtFile(folder, place);
    else this.#look(folder);
  }

  /** Compares a file with what was seen of it, and reads its bot where it differs. */
  #lookAtFile(folder: string, place: Place): void {
    const seen = this.#seenIn(folder);
    const name = fileName(place);
    const stamp = stampOf(this.#options.root, place);
    if (seen.isRecent(name, stamp, Date.now())) {
      this.#plan(folder, name, clockTick);
    } else if (seen.differs(name, stamp)) {
      const places = this.#placesOf(place.id, place);
      this.#lookAtBot(place.id, places, this.#stampsOf(places), true);
    }
    if (seen.isEmpty) this.#folders.delete(folder);
  }

  /** Where the files of a bot are that were seen, and this one. */
  #placesOf(id: BotId, also?: Place): Place[] {
    const folder = folderOf(id);
    const seen = [...(this.#folders.get(folder)?.names ?? [])].filter((name) => name.startsWith(`${id}.`));
    const names = new Set(also ? [...seen, fileName(also)] : seen);
    return [...(groupByBot(folder, [...names].toSorted()).bots.get(id) ?? [])];
  }

  #stampsOf(places: readonly Place[]): Map<string, Stamp> {
    const stamps = new Map<string, Stamp>();
    for (const place of places) {
      const stamp = stampOf(this.#options.root, place);
      if (stamp) stamps.set(fileName(place), stamp);
    }
    return stamps;
  }

  /** Compares a folder with what was seen of it, and reads the bots of which anything differs. */
  #look(folder: string, settle = true): void {
    let stamps: ReadonlyMap<string, Stamp>;
    try {
      stamps = listFolder(this.#options.root, folder);
    } catch (error) {
      this.#noteFolder(error);
      return;
    }
    const seen = this.#seenIn(folder);
    const changed = seen.changed(stamps);
    if (changed.size > 0) {
      const names = new Set([...seen.names, ...stamps.keys()]);
      const { bots, misplaced } = groupByBot(folder, [...names].toSorted());
      for (const [name, { rule, message }] of misplaced) {
        const path = `${botsFolder}/${folder}/${name}`;
        seen.settle(name, stamps.get(name), Number.POSITIVE_INFINITY);
        this.#faults.report(path, stamps.has(name) ? [fileFault(path, rule, message)] : []);
      }
      for (const [id, places] of bots) {
        if (places.some((place) => changed.has(fileName(place)))) this.#lookAtBot(id, places, stamps, settle);
      }
    }
    if (seen.isEmpty) this.#folders.delete(folder);
  }

  /** Reads a bot and serves what came of it; later, when one of its files may still be in the making. */
  #lookAtBot(id: BotId, places: readonly Place[], stamps: ReadonlyMap<string, Stamp>, settle: boolean): void {
    const seen = this.#seenIn(folderOf(id));
    const previous = this.#index.get(id);
    const now = Date.now();
    const reads = places.map((place) => {
      const name = fileName(place);
      const file = readPageFile(this.#options.root, place);
      const served = previous?.files.find(({ locale }) => locale === place.locale);
      return {
        name,
        file,
        stamp: stamps.get(name),
        wait: seen.quietFor(name, stamps.get(name), file, served, now),
      };
    });
    const wait = settle ? Math.max(...reads.map((read) => read.wait)) : 0;
    if (wait > 0) {
      for (const { name, stamp } of reads) seen.postpone(name, stamp, now);
      this.#plan(folderOf(id), reads[0]?.name, wait);
      return;
    }
    for (const { name, stamp } of reads) {
      if (seen.settle(name, stamp, now)) this.#plan(folderOf(id), name, clockTick);
    }

    const files = reads.flatMap(({ file }) => file ?? []);
    const { bot, faults } =
      files.length > 0 ? readBot(id, files, previous, this.#options.cachedImages) : nothing;
    this.#faults.report(id, faults);
    this.#serve(id, bot);
  }

  #serve(id: BotId, bot: IndexedBot | undefined): void {
    const previous = this.#index.get(id);
    if (bot === previous || (bot && previous && isSame(bot, previous))) return;
    if (bot) this.#index.set(bot);
    else this.#index.delete(id);
    for (const listener of this.#listeners) listener(id);
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

  #seenIn(folder: string): SeenFolder {
    let seen = this.#folders.get(folder);
    if (seen === undefined) this.#folders.set(folder, (seen = new SeenFolder()));
    return seen;
  }
}

const nothing = { bot: undefined, faults: [] };

/** Milliseconds a hint waits for the others that come with it: one save is two or three events. */
const coalescing = 5;

/** Names waiting to be looked at above which their folders are. */
const manyNames = 1000;

/** Milliseconds of work before others get their turn. */
const slice = 8;

function isTopPath(key: string): boolean {
  return parseBotId(key) === undefined && key.split('/').length === 2;
}

function isSame(a: IndexedBot, b: IndexedBot): boolean {
  return (
    a.digest === b.digest &&
    a.files.length === b.files.length &&
    a.files.every(({ locale, main, sha }, i) => {
      const other = b.files[i];
      return other?.locale === locale && other.main === main && other.sha === sha;
    })
  );
}
