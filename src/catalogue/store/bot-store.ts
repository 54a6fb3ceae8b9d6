import { EventEmitter } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import { type BotId, compareBotIds } from '../../bot/id.ts';
import { findFirstPlace } from '../../lib/binary-search.ts';
import type { Log } from '../../lib/log.ts';
import { forEachInSlices, sortInSlices } from '../../lib/time-slice.ts';
import { compareFaults, type Fault } from '../page/fault.ts';
import { botsFolder, folderOf } from '../page/layout.ts';
import { type BotIndex, indexBot, type IndexedBot, parseRecord } from './bot-index.ts';

interface BotEvents {
  /** A bot was added, changed, or removed. */
  readonly change: [BotId];
  /** The files of a bot were read; the bot may be unchanged. */
  readonly read: [BotId];
}

/** The bots that are served, and the faults of all files. Only mirrors write to it. */
export class BotStore extends EventEmitter<BotEvents> {
  readonly bots = new MutableBotIndex();
  /** By the id of a bot, or by the path of a file that belongs to no bot. */
  readonly #faults = new Map<string, readonly Fault[]>();
  readonly #log: Log;

  constructor(log: Log) {
    super();
    this.#log = log;
  }

  /** Returns every fault of every file, by path, then by line and column. */
  faults(): Fault[] {
    return [...this.#faults.values()].flat().toSorted(compareFaults);
  }

  /** Returns the faults of a bot, or of a file that belongs to no bot. */
  faultsOf(key: string): readonly Fault[] {
    return this.#faults.get(key) ?? [];
  }

  /** Whether any file named after the bot has faults, also in another bot's folder or with a wrong name. */
  hasFaultyFile(id: BotId): boolean {
    return (
      this.#faults.has(id) ||
      [...this.#faults.keys()].some((key) => key.startsWith(`${botsFolder}/`) && key.includes(`/${id}.`))
    );
  }

  /** Serves a bot, or stops serving it if undefined, and replaces the faults of its files. */
  publish(id: BotId, bot: IndexedBot | undefined, faults: readonly Fault[], paths: readonly string[]): void {
    this.report(id, faults, paths);
    const previous = this.bots.get(id);
    // A file may have changed although the record is the same.
    if (bot?.digest !== previous?.digest || !isDeepStrictEqual(bot?.files, previous?.files)) {
      if (bot) this.bots.set(bot);
      else this.bots.delete(id);
      this.emit('change', id);
    }
    this.emit('read', id);
  }

  /** Updates the time of a bot's last edit, if it is later. */
  setEdited(id: BotId, edited: number): void {
    const bot = this.bots.get(id);
    if (bot === undefined || bot.facts.edited >= edited) return;
    this.bots.set(indexBot(id, { ...parseRecord(bot), edited }, bot.files, bot.commands));
    this.emit('change', id);
  }

  /**
   * Replaces the faults of a bot or a path. Logs new faults, and files that are valid again.
   * @param paths the files that exist; a removed file is not logged as valid
   */
  report(key: string, faults: readonly Fault[], paths: readonly string[] = []): void {
    const before = this.faultsOf(key);
    if (faults.length > 0) this.#faults.set(key, faults);
    else this.#faults.delete(key);
    for (const fault of faults) {
      if (before.some(({ path, message }) => path === fault.path && message === fault.message)) continue;
      this.#log.warn({ ...fault }, 'a file breaks a rule');
    }
    for (const path of new Set(before.map((fault) => fault.path))) {
      if (paths.includes(path) && !faults.some((fault) => fault.path === path))
        this.#log.info({ path }, `${path} is valid again`);
    }
  }
}

/** The index as the catalogue writes it. */
export class MutableBotIndex implements BotIndex {
  version = 0;
  readonly #bots = new Map<BotId, IndexedBot>();
  /** The sorted array of an earlier version; undefined before the first. */
  #sorted: readonly IndexedBot[] | undefined;
  /** Folders whose bots have not been needed yet. */
  readonly #packed = new Map<string, { readonly size: number; bots(): readonly IndexedBot[] }>();
  #packedSize = 0;
  #sorting: Promise<void> | undefined;
  /** Bots that were added, replaced or removed since the version of `#sorted`. */
  readonly #changed = new Set<BotId>();

  get size(): number {
    return this.#bots.size + this.#packedSize;
  }

  get(id: BotId): IndexedBot | undefined {
    if (this.#packed.size > 0) this.unpack(folderOf(id));
    return this.#bots.get(id);
  }

  /** Adds a folder whose bots are unpacked when one of them is first needed. */
  addPacked(folder: string, size: number, bots: () => readonly IndexedBot[]): void {
    this.#packed.set(folder, { size, bots });
    this.#packedSize += size;
    this.#sorted = undefined;
    this.version += 1;
  }

  /** Unpacks a folder if it is still packed. */
  unpack(folder: string): void {
    const packed = this.#packed.get(folder);
    if (packed === undefined) return;
    this.#packed.delete(folder);
    this.#packedSize -= packed.size;
    for (const bot of packed.bots()) this.#bots.set(bot.id, bot);
  }

  all(): readonly IndexedBot[] {
    for (const folder of this.#packed.keys()) this.unpack(folder);
    if (this.#sorted === undefined) this.#sorted = [...this.#bots.values()].toSorted(compareById);
    else if (this.#changed.size > 0) this.#sorted = this.#withChanges(this.#sorted);
    this.#changed.clear();
    return this.#sorted;
  }

  async sorted(): Promise<readonly IndexedBot[]> {
    if (this.#sorted === undefined) await (this.#sorting ??= this.#sort());
    return this.all();
  }

  async #sort(): Promise<void> {
    await forEachInSlices(this.#packed.keys(), (folder) => this.unpack(folder));
    const sorted = await sortInSlices([...this.#bots.values()], compareById);
    this.#sorted ??= sorted;
    this.#sorting = undefined;
  }

  set(bot: IndexedBot): void {
    this.unpack(folderOf(bot.id));
    this.#bots.set(bot.id, bot);
    this.#changed.add(bot.id);
    this.version += 1;
  }

  delete(id: BotId): void {
    this.unpack(folderOf(id));
    if (!this.#bots.delete(id)) return;
    this.#changed.add(id);
    this.version += 1;
  }

  /** Merges the changed bots into a sorted array: sorting a hundred thousand for one new bot would delay every request by 0.1 s. */
  #withChanges(before: readonly IndexedBot[]): IndexedBot[] {
    const parts: (readonly IndexedBot[])[] = [];
    let end = 0;
    for (const id of [...this.#changed].toSorted(compareBotIds)) {
      const place = findFirstPlace(before, (other) => compareBotIds(other.id, id) < 0);
      const bot = this.#bots.get(id);
      parts.push(before.slice(end, place), bot ? [bot] : []);
      end = before[place]?.id === id ? place + 1 : place;
    }
    return [...parts, before.slice(end)].flat();
  }
}

function compareById(a: IndexedBot, b: IndexedBot): number {
  return compareBotIds(a.id, b.id);
}
