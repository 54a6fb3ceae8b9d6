import type { BotId } from '../../bot/id.ts';
import type { HashName } from '../../git/objects/object-id.ts';
import { DelayQueue } from './delay-queue.ts';
import { unpackBots } from '../load/packed-bots.ts';
import { type BotIndex, type IndexedBot, MutableBotIndex } from '../index/bot-index.ts';
import { type ImageLookup, readBot } from '../index/bot-reader.ts';
import { fileFault } from '../page/fault.ts';
import type { FaultList } from './fault-list.ts';
import { fingerprintOf, groupByBot, isFolder, listFolder, type FileStat, statOf } from '../load/folder.ts';
import type { FolderReading } from '../load/folder-reader.ts';
import { botsFolder, fileName, folderOf, type PagePlace, placeAt } from '../page/layout.ts';
import { isBlob, pageFileOf, readPageFile } from '../page/page-file.ts';
import { clockTick, StatCache } from './stat-cache.ts';
import type { PackedFolder, SnapshotFolder } from '../load/snapshot.ts';

export interface ScannerOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** Of the repository that the folder is in. */
  readonly hash: HashName;
  readonly faults: FaultList;
  readonly cachedImages: ImageLookup | undefined;
  /** Told of each bot that is served anew, differently, or no more. */
  onChange(id: BotId): void;
  /** Told of each bot whose files were read, whatever came of it. */
  onLook(id: BotId): void;
  /** Told that a folder cannot be listed. */
  onFault(error: unknown): void;
}

/**
 * What was seen of every folder, and what is served of it. To look at a folder or a file is to compare it with what
 * was seen, and to read the bots of which anything differs.
 */
export class Scanner {
  readonly #options: ScannerOptions;
  readonly #index = new MutableBotIndex();
  readonly #folders = new Map<string, StatCache>();
  readonly #delayQueue = new DelayQueue((path) => this.#lookAt(path));

  constructor(options: ScannerOptions) {
    this.#options = options;
  }

  get bots(): BotIndex {
    return this.#index;
  }

  /** The folders that something was seen in. */
  folders(): Iterable<string> {
    return this.#folders.keys();
  }

  /** Takes over what an earlier run has seen. A folder is unpacked when it is first needed. */
  restore(packed: PackedFolder): void {
    const { folder, size } = packed;
    this.#folders.set(folder, new StatCache());
    this.#index.expect(folder, size, () => this.#unpack(packed));
  }

  /** Unpacks a folder that was restored and not needed yet. */
  unpack(folder: string): void {
    this.#index.fill(folder);
  }

  /** Takes over a folder that another thread has read. */
  take({ folder, at, stats, bots, faults }: FolderReading): void {
    const seen = this.#seenIn(folder);
    for (const [name, stat] of stats)
      if (seen.settle(name, stat, at)) this.#delayQueue.add(folder, clockTick);
    for (const bot of unpackBots(bots)) this.#index.set(bot);
    for (const [key, found] of faults) this.#options.faults.report(key, found);
  }

  /** Every folder as it is served. One in which something is wrong, or was seen just now, is looked at by whoever restores it. */
  *toKeep(): Generator<SnapshotFolder> {
    const faulty = new Set([...this.#options.faults.keys()].map(folderOfKey));
    const byFolder = new Map<string, IndexedBot[]>();
    for (const bot of this.#index.all()) {
      const bots = byFolder.get(folderOf(bot.id));
      if (bots) bots.push(bot);
      else byFolder.set(folderOf(bot.id), [bot]);
    }
    for (const [folder, bots] of byFolder) {
      const seen = this.#seenIn(folder);
      const entries = bots.map((bot) => {
        const stats = bot.files.flatMap(({ locale }) => seen.stat(fileName({ id: bot.id, locale })) ?? []);
        const isSure = stats.length === bot.files.length && !this.#options.faults.has(bot.id);
        return { bot, stats: isSure ? stats : [] };
      });
      const stats = faulty.has(folder) ? undefined : seen.stats();
      yield { folder, fingerprint: stats ? fingerprintOf(stats) : '', entries };
    }
  }

  /** Reads these bots anew at once and believes what is there: for a writer that has replaced their files. */
  reload(ids: Iterable<BotId>): void {
    for (const id of ids) this.#lookAtFilesOf(id, 'anew');
  }

  /** Looks at the bots of these files, which are whole, at once; they may be new, or known already. */
  arrived(places: Iterable<PagePlace>): void {
    const bots = new Set<BotId>();
    for (const place of places) {
      this.#seenIn(folderOf(place.id)).expect(fileName(place));
      bots.add(place.id);
    }
    for (const id of bots) this.#lookAtFilesOf(id, 'whole');
  }

  /** Serves these bytes as those of their files, at once: for a writer that has committed them. */
  put(files: ReadonlyMap<PagePlace, Buffer>): void {
    for (const [place, bytes] of files) {
      this.#seenIn(folderOf(place.id)).expect(fileName(place));
      const places = this.#placesOf(place.id);
      const contents = new Map([[fileName(place), bytes]]);
      this.#lookAtBot(place.id, places, this.#stampsOf(places), 'anew', contents);
    }
  }

  /** Puts down a file to look at, or its folder: a name is cheaper, but of many names the folder is. */
  plan(folder: string, name: string | undefined, delay: number): void {
    const one = name !== undefined && this.#delayQueue.size < manyNames;
    this.#delayQueue.add(one ? `${folder}/${name}` : folder, delay);
  }

  /**
   * Compares a folder with what was seen of it, and reads the bots of which anything differs.
   * @param settle - whether a file that may still be in the making is left alone for a moment
   */
  look(folder: string, settle = true): void {
    let stats: ReadonlyMap<string, FileStat>;
    try {
      stats = listFolder(this.#options.root, folder);
    } catch (error) {
      this.#options.onFault(error);
      return;
    }
    const seen = this.#seenIn(folder);
    const changed = seen.changed(stats);
    if (changed.size > 0) {
      const names = new Set([...seen.names, ...stats.keys()]);
      const { bots, misplaced } = groupByBot(folder, [...names].toSorted());
      for (const [name, { rule, message }] of misplaced) {
        const path = `${botsFolder}/${folder}/${name}`;
        seen.settle(name, stats.get(name), Number.POSITIVE_INFINITY);
        this.#options.faults.report(path, stats.has(name) ? [fileFault(path, rule, message)] : []);
      }
      for (const [id, places] of bots) {
        if (places.some((place) => changed.has(fileName(place))))
          this.#lookAtBot(id, places, stats, settle ? 'hint' : 'whole');
      }
    }
    if (seen.isEmpty) this.#folders.delete(folder);
  }

  close(): void {
    this.#delayQueue.close();
  }

  #unpack(packed: PackedFolder): IndexedBot[] {
    const seen = this.#seenIn(packed.folder);
    try {
      return packed.unpack().map(({ bot, stats }) => {
        for (const [i, { locale }] of bot.files.entries()) {
          const stat = stats[i];
          const name = fileName({ id: bot.id, locale });
          if (stat) seen.settle(name, stat, Number.POSITIVE_INFINITY);
          else seen.expect(name);
        }
        return bot;
      });
    } catch {
      this.#delayQueue.add(packed.folder, 0);
      return [];
    }
  }

  #lookAt(path: string): void {
    const [folder = ''] = path.split('/');
    const place = placeAt(`${botsFolder}/${path}`);
    if (place && isFolder(this.#options.root, folder)) this.#lookAtFile(folder, place);
    else this.look(folder);
  }

  /** Compares a file with what was seen of it, and reads its bot where it differs. */
  #lookAtFile(folder: string, place: PagePlace): void {
    const seen = this.#seenIn(folder);
    const name = fileName(place);
    const stat = statOf(this.#options.root, place);
    if (seen.isRecent(name, stat, Date.now())) {
      this.plan(folder, name, clockTick);
    } else if (seen.differs(name, stat)) {
      this.#lookAtFilesOf(place.id, 'hint', place);
    }
    if (seen.isEmpty) this.#folders.delete(folder);
  }

  /** Looks at a bot by the files of it that were seen, and this one. */
  #lookAtFilesOf(id: BotId, reason: Reason, also?: PagePlace): void {
    const places = this.#placesOf(id, also);
    this.#lookAtBot(id, places, this.#stampsOf(places), reason);
  }

  /** Where the files of a bot are that were seen, and this one. */
  #placesOf(id: BotId, also?: PagePlace): PagePlace[] {
    const folder = folderOf(id);
    const seen = [...this.#seenIn(folder).names].filter((name) => name.startsWith(`${id}.`));
    const names = new Set(also ? [...seen, fileName(also)] : seen);
    return [...(groupByBot(folder, [...names].toSorted()).bots.get(id) ?? [])];
  }

  #stampsOf(places: readonly PagePlace[]): Map<string, FileStat> {
    const stats = new Map<string, FileStat>();
    for (const place of places) {
      const stat = statOf(this.#options.root, place);
      if (stat) stats.set(fileName(place), stat);
    }
    return stats;
  }

  /** Reads a bot and serves what came of it; later, when one of its files may still be in the making. */
  #lookAtBot(
    id: BotId,
    places: readonly PagePlace[],
    stats: ReadonlyMap<string, FileStat>,
    reason: Reason,
    contents?: ReadonlyMap<string, Buffer>,
  ): void {
    const seen = this.#seenIn(folderOf(id));
    const previous = this.#index.get(id);
    const now = Date.now();
    const settle = (name: string, stat: FileStat | undefined): void => {
      if (seen.settle(name, stat, now)) this.plan(folderOf(id), name, clockTick);
    };
    if (reason !== 'anew' && previous && this.#isAsServed(previous, places)) {
      for (const name of places.map(fileName)) settle(name, stats.get(name));
      this.#options.onLook(id);
      return;
    }
    const reads = places.map((place) => {
      const name = fileName(place);
      const bytes = contents?.get(name);
      const { root, hash } = this.#options;
      const file = bytes ? pageFileOf(place, bytes, hash) : readPageFile(root, place, hash);
      const served = previous?.files.find(({ locale }) => locale === place.locale);
      return {
        name,
        file,
        stat: stats.get(name),
        wait: seen.quietFor(name, stats.get(name), file, served, now),
      };
    });
    const wait = reason === 'hint' ? Math.max(...reads.map((read) => read.wait)) : 0;
    if (wait > 0) {
      for (const { name, stat } of reads) seen.postpone(name, stat, now);
      this.plan(folderOf(id), reads[0]?.name, wait);
      return;
    }
    for (const { name, stat } of reads) settle(name, stat);

    const files = reads.flatMap(({ file }) => file ?? []);
    const { bot, faults } =
      files.length > 0 ? readBot(id, files, previous, this.#options.cachedImages) : nothing;
    this.#options.faults.report(id, faults);
    this.#serve(id, bot);
    this.#options.onLook(id);
  }

  /** Whether a bot's files are byte for byte the ones that are served, which is found out sooner than what is in them. */
  #isAsServed({ id, files }: IndexedBot, places: readonly PagePlace[]): boolean {
    const { root, hash, faults } = this.#options;
    if (faults.has(id) || files.length !== places.length) return false;
    return places.every((place) => {
      const served = files.find(({ locale }) => locale === place.locale);
      return served !== undefined && isBlob(root, place, served.sha, hash);
    });
  }

  #serve(id: BotId, bot: IndexedBot | undefined): void {
    const previous = this.#index.get(id);
    if (bot === previous || (bot && previous && isSame(bot, previous))) return;
    if (bot) this.#index.set(bot);
    else this.#index.delete(id);
    this.#options.onChange(id);
  }

  #seenIn(folder: string): StatCache {
    this.#index.fill(folder);
    let seen = this.#folders.get(folder);
    if (seen === undefined) this.#folders.set(folder, (seen = new StatCache()));
    return seen;
  }
}

/**
 * Why a bot is looked at: something may have changed, and may still be in the making; its files are whole; what is made
 * of them may be another.
 */
type Reason = 'hint' | 'whole' | 'anew';

const nothing = { bot: undefined, faults: [] };

/** Names waiting to be looked at above which their folders are. */
const manyNames = 1000;

/** The folder of a bot's id, or of a path. */
function folderOfKey(key: string): string {
  return key.split('/')[1] ?? folderOf(key as BotId);
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
