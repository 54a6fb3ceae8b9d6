import { EventEmitter } from 'node:events';
import { isDeepStrictEqual } from 'node:util';
import type { BotId } from '../../bot/id.ts';
import type { Log } from '../../lib/log.ts';
import { compareFaults, type Fault } from '../page/fault.ts';
import { botsFolder } from '../page/layout.ts';
import { indexBot, type IndexedBot, MutableBotIndex, parseRecord } from './bot-index.ts';

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

  /** Returns the keys with faults: ids of bots, and paths of files that belong to no bot. */
  faultyKeys(): Iterable<string> {
    return this.#faults.keys();
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
