import type { BotId } from '../../bot/id.ts';
import { type BotIndex, type IndexedBot, MutableBotIndex } from './bot-index.ts';
import { computeFingerprint } from './folder.ts';
import type { FolderReading } from './folder-reader.ts';
import { unpackBots } from './packed-bots.ts';
import type { PackedFolder, SnapshotFolder } from './snapshot.ts';
import { formatFileName, folderOf } from '../page/layout.ts';
import type { FaultList } from './fault-list.ts';
import { StatCache } from './stat-cache.ts';

/** The bots that are served, with the stats of the files that they were read from. */
export class ServedBots {
  readonly #index = new MutableBotIndex();
  readonly #folders = new Map<string, StatCache>();

  get index(): BotIndex {
    return this.#index;
  }

  /** Returns the folders that have files, as far as is known. */
  folders(): Iterable<string> {
    return this.#folders.keys();
  }

  /** Returns the stats of a folder's files; empty for a folder that is not known yet. */
  statsIn(folder: string): StatCache {
    this.#index.materialise(folder);
    const stats = this.#folders.get(folder) ?? new StatCache();
    this.#folders.set(folder, stats);
    return stats;
  }

  /** Forgets a folder that has no files left. */
  dropIfEmpty(folder: string): void {
    if (this.#folders.get(folder)?.isEmpty) this.#folders.delete(folder);
  }

  /**
   * Adds a folder of a snapshot, which is unpacked when one of its bots is first needed.
   * @param onDamage called when it cannot be unpacked: it has no bots then
   */
  restore(packed: PackedFolder, onDamage: () => void): void {
    const { folder, size } = packed;
    this.#folders.set(folder, new StatCache());
    this.#index.registerLazily(folder, size, () => this.#unpack(packed, onDamage));
  }

  /** Unpacks a folder that was restored and not needed yet. */
  unpack(folder: string): void {
    this.#index.materialise(folder);
  }

  /** Adds a folder that was read. Returns whether one of its files changed so recently that it must be read again. */
  add({ folder, at, stats, bots }: FolderReading): boolean {
    const cache = this.statsIn(folder);
    const recent = [...stats].filter(([name, stat]) => cache.record(name, stat, at));
    for (const bot of unpackBots(bots)) this.#index.set(bot);
    return recent.length > 0;
  }

  /** Serves a bot, or none under this id. Returns whether that differs from what was served. */
  replace(id: BotId, bot: IndexedBot | undefined): boolean {
    const previous = this.#index.get(id);
    if (bot === previous || (bot && previous && isSameBot(bot, previous))) return false;
    if (bot) this.#index.set(bot);
    else this.#index.delete(id);
    return true;
  }

  /**
   * Yields every folder for a snapshot. One with faults, or with files that changed just now, is marked to be scanned.
   */
  *snapshot(faults: FaultList): Generator<SnapshotFolder> {
    const faulty = new Set([...faults.keys()].map(toFolder));
    const byFolder = new Map<string, IndexedBot[]>();
    for (const bot of this.#index.all()) {
      const bots = byFolder.get(folderOf(bot.id));
      if (bots) bots.push(bot);
      else byFolder.set(folderOf(bot.id), [bot]);
    }
    for (const [folder, bots] of byFolder) {
      const cache = this.statsIn(folder);
      const entries = bots.map((bot) => {
        const stats = bot.files.flatMap(
          ({ locale }) => cache.stat(formatFileName({ id: bot.id, locale })) ?? [],
        );
        const isSure = stats.length === bot.files.length && !faults.has(bot.id);
        return { bot, stats: isSure ? stats : [] };
      });
      const stats = faulty.has(folder) ? undefined : cache.stats();
      yield { folder, fingerprint: stats ? computeFingerprint(stats) : '', entries };
    }
  }

  #unpack(packed: PackedFolder, onDamage: () => void): IndexedBot[] {
    const cache = this.statsIn(packed.folder);
    try {
      return packed.unpack().map(({ bot, stats }) => {
        for (const [i, { locale }] of bot.files.entries()) {
          const stat = stats[i];
          const name = formatFileName({ id: bot.id, locale });
          if (stat) cache.record(name, stat, Number.POSITIVE_INFINITY);
          else cache.addUnread(name);
        }
        return bot;
      });
    } catch {
      onDamage();
      return [];
    }
  }
}

/** Returns the folder of a key of the fault list: a bot's id, or a path. */
function toFolder(key: string): string {
  return key.split('/')[1] ?? folderOf(key as BotId);
}

function isSameBot(a: IndexedBot, b: IndexedBot): boolean {
  return (
    a.digest === b.digest &&
    a.files.length === b.files.length &&
    a.files.every(({ locale, main, sha }, i) => {
      const other = b.files[i];
      return other?.locale === locale && other.main === main && other.sha === sha;
    })
  );
}
