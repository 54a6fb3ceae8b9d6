import { join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import type { CachedImages, FullImages } from '../bot/schema-types.ts';
import type { Log } from '../log.ts';
import { messageOf } from '../system-error.ts';
import { forEachInSlices } from '../concurrency/in-slices.ts';
import type { ImageKind } from './decode.ts';
import { IndexFile } from './index-file.ts';
import { defaultIntervals, type Intervals } from './intervals.ts';
import { addBot, botsOf, type ImageCopy, type ImageEntry, ImageEntries } from './image-entries.ts';
import { type FetchImage, ImageQueue } from './image-queue.ts';
import { type ImageName, ImageStore } from './store.ts';

/** Our copy of a picture, for a page: the path it is served under, and its size in pixels. */
export interface CachedPicture {
  readonly path: string;
  readonly width: number;
  readonly height: number;
}

/** Our copies of a bot's pictures; null, or left out of `preview`, until there is one. */
export interface CachedPictures {
  readonly avatar: CachedPicture | null;
  readonly cover: CachedPicture | null;
  readonly preview: readonly CachedPicture[];
}

/** How far the cache is. */
export interface ImageCacheStatus {
  /** Pictures that some bot names, and those of them that have a copy. */
  readonly known: number;
  readonly cached: number;
  /** Pictures whose last attempt failed; each has another one coming. */
  readonly failing: number;
  /** Pictures that wait for their turn or are being fetched. */
  readonly left: number;
}

export interface ImageCacheOptions {
  /** Where the copies and the index are kept, such as `var/appdata`. */
  readonly folder: string;
  readonly fetch: FetchImage;
  readonly log: Log;
  /** At most so many pictures are fetched at once, and one a host. */
  readonly concurrency?: number;
  /** A copy is fetched again when it is so many days old. */
  readonly refreshDays?: number;
  /** Shorter times, for tests. */
  readonly intervals?: Partial<Intervals>;
}

/** Opens the cache in `folder`, as the last run left it. It fetches nothing until pictures are wanted. */
export async function openImageCache(options: ImageCacheOptions): Promise<ImageCache> {
  const entries = new ImageEntries();
  const index = await IndexFile.open(join(options.folder, 'index'), entries);
  return new ImageCache(options, entries, index);
}

/**
 * Our own copies of the pictures that bots name. Looking one up costs a map look-up; fetching, decoding and
 * storing go on in the background. The last good copy stays while it is refreshed and when that fails, since
 * an address may die while the picture is as good as ever.
 */
export class ImageCache {
  readonly #log: Log;
  readonly #intervals: Intervals;
  readonly #entries: ImageEntries;
  readonly #index: IndexFile;
  readonly #store: ImageStore;
  readonly #queue: ImageQueue;
  readonly #listeners: ((url: string, bots: readonly BotId[]) => void)[] = [];
  readonly #closing = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  #look = 0;
  #wholeLook = 0;
  #looking: Promise<void>;
  #tending: Promise<void> = Promise.resolve();
  #cachedCount = 0;
  #indexFault: string | undefined;

  /** For `openImageCache`. */
  constructor(options: ImageCacheOptions, entries: ImageEntries, index: IndexFile) {
    const { folder, fetch, log, concurrency = 4, refreshDays = 90 } = options;
    this.#log = log;
    this.#intervals = { ...defaultIntervals, ...options.intervals };
    this.#entries = entries;
    this.#index = index;
    this.#store = new ImageStore(folder);
    this.#queue = new ImageQueue({
      fetch,
      store: this.#store,
      log,
      concurrency,
      refreshAfter: refreshDays * 86_400_000,
      intervals: this.#intervals,
      isNamed: (entry) => this.#isNamed(entry),
      onCopy: async (entry, copy) => await this.#exchange(entry, copy),
      onFailure: (entry) => this.#index.changed(entry),
    });
    for (const entry of entries) {
      if (entry.copy) this.#cachedCount += 1;
      if (entry.failure) this.#queue.retryLater(entry);
    }
    this.#looking = this.#dropLost();
    this.#timers = [
      setInterval(() => void this.#save(), this.#intervals.save).unref(),
      setInterval(() => void this.tend(), this.#intervals.round).unref(),
    ];
  }

  /** The paths of our copies of a bot's pictures. */
  cachedImages(images: FullImages): CachedImages {
    const { avatar, cover, preview } = this.pictures(images);
    return {
      avatar: avatar?.path ?? null,
      cover: cover?.path ?? null,
      preview: preview.map(({ path }) => path),
    };
  }

  /** The paths of our copies of a bot's pictures, with their sizes. */
  pictures({ avatar, cover, preview }: FullImages): CachedPictures {
    return {
      avatar: avatar === null ? null : this.#cached('avatar', avatar),
      cover: cover === null ? null : this.#cached('wide', cover),
      preview: preview.map((url) => this.#cached('wide', url)).filter((copy) => copy !== null),
    };
  }

  /** The bytes of the copy served as `/appdata/<name>.webp`; undefined when there is none. */
  async read(name: string): Promise<Buffer | undefined> {
    return await this.#store.read(name);
  }

  /** Takes note that a bot names these pictures: what is missing or old is fetched, before anything else. */
  want(bot: BotId, images: FullImages): void {
    this.#see(bot, images, true);
  }

  /**
   * Takes note of all that the catalogue names, in slices of a few milliseconds: what is missing or old is
   * fetched, and what is named no more is dropped after a time of grace. It is due after the start and once
   * in a while: only a look over everything finds out what nobody names.
   */
  async setWanted(all: Iterable<readonly [BotId, FullImages]>): Promise<void> {
    const look = this.#lookOver(all, this.#looking);
    this.#looking = look.catch(() => {});
    await look;
  }

  /** Calls `listener` when the copy of a picture is new, another one or gone, with the bots that name it. */
  onChange(listener: (url: string, bots: readonly BotId[]) => void): void {
    this.#listeners.push(listener);
  }

  status(): ImageCacheStatus {
    return {
      known: this.#entries.size,
      cached: this.#cachedCount,
      failing: this.#queue.failing,
      left: this.#queue.left,
    };
  }

  /** The pictures whose last attempt failed, and why: `<url> <message>` is a sentence. */
  *failures(): Generator<{ readonly url: string; readonly message: string }> {
    for (const { url, failure } of this.#entries) if (failure) yield { url, message: failure.message };
  }

  /** Resolves when every picture that was wanted is there or has failed once. */
  async idle(): Promise<void> {
    await this.#looking;
    await this.#queue.idle();
  }

  /**
   * Asks again for what has grown old, and drops what nothing names: a picture after its time of grace, then
   * its file after the same time once more, so that a page sent just now still finds it. Done every hour.
   */
  async tend(): Promise<void> {
    this.#tending = this.#tendAfter(this.#tending);
    await this.#tending;
  }

  /** Ends what is under way and writes the index. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([this.#queue.close(), this.#looking, this.#tending]);
    await this.#index.close().catch((error: unknown) => this.#sayUnwritten(error));
  }

  #cached(kind: ImageKind, url: string): CachedPicture | null {
    const copy = this.#entries.get(kind, url)?.copy;
    return copy ? { path: `/appdata/${copy.name}.webp`, width: copy.width, height: copy.height } : null;
  }

  async #lookOver(all: Iterable<readonly [BotId, FullImages]>, before: Promise<void>): Promise<void> {
    await before;
    this.#look += 1;
    await forEachInSlices(
      all,
      ([bot, images]) => this.#see(bot, images, false),
      'service',
      this.#closing.signal,
    );
    this.#wholeLook = this.#look;
  }

  #see(bot: BotId, { avatar, cover, preview }: FullImages, urgent: boolean): void {
    if (this.#closing.signal.aborted) return;
    if (avatar !== null) this.#seeOne('avatar', avatar, bot, urgent);
    if (cover !== null) this.#seeOne('wide', cover, bot, urgent);
    for (const url of preview) this.#seeOne('wide', url, bot, urgent);
  }

  #seeOne(kind: ImageKind, url: string, bot: BotId, urgent: boolean): void {
    const entry = this.#entries.obtain(kind, url);
    addBot(entry, bot);
    entry.seenIn = this.#look;
    entry.unnamedSince = null;
    this.#queue.add(entry, urgent);
  }

  #isNamed({ seenIn }: ImageEntry): boolean {
    return seenIn >= this.#wholeLook;
  }

  async #exchange(entry: ImageEntry, copy: ImageCopy): Promise<void> {
    const before = entry.copy;
    this.#replace(entry, copy);
    if (before && before.name !== copy.name) await this.#store.release(before.name);
  }

  #replace(entry: ImageEntry, copy: ImageCopy | null): void {
    const before = entry.copy;
    entry.copy = copy;
    this.#cachedCount += Number(copy !== null) - Number(before !== null);
    this.#index.changed(entry);
    if (before?.name === copy?.name) return;
    for (const listener of this.#listeners) listener(entry.url, botsOf(entry));
  }

  async #save(): Promise<void> {
    try {
      await this.#index.flush();
      this.#indexFault = undefined;
    } catch (error) {
      this.#sayUnwritten(error);
    }
  }

  #sayUnwritten(error: unknown): void {
    const message = `the image cache's index cannot be written: ${messageOf(error)}`;
    if (message !== this.#indexFault) this.#log.warn({ error: messageOf(error) }, message);
    this.#indexFault = message;
  }

  /** Takes out the copies whose file is gone. */
  async #dropLost(): Promise<void> {
    try {
      const names = await this.#store.names();
      const drop = (entry: ImageEntry): void => {
        if (entry.copy && !names.has(entry.copy.name)) this.#replace(entry, null);
      };
      await forEachInSlices(this.#entries, drop, 'service', this.#closing.signal);
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, `the image cache cannot be read: ${messageOf(error)}`);
    }
  }

  async #tendAfter(before: Promise<void>): Promise<void> {
    await before;
    try {
      await this.#tendNow();
    } catch (error) {
      this.#log.warn({ error: messageOf(error) }, `the image cache cannot be tended: ${messageOf(error)}`);
    }
  }

  async #tendNow(): Promise<void> {
    const names = new Set<ImageName>();
    const orphans: ImageEntry[] = [];
    const sort = (entry: ImageEntry): void => {
      if (this.#isNamed(entry)) this.#queue.add(entry, false);
      else if (this.#isOrphan(entry)) return void orphans.push(entry);
      if (entry.copy) names.add(entry.copy.name);
    };
    await forEachInSlices(this.#entries, sort, 'service', this.#closing.signal);
    if (this.#closing.signal.aborted) return;
    for (const entry of orphans) if (!this.#isNamed(entry)) await this.#forget(entry);
    await this.#save();
    const removed = await this.#store.sweep(names, this.#intervals.grace);
    if (removed > 0) this.#log.info({ removed }, `image cache: ${removed} files removed that nothing names`);
  }

  /** Whether nothing has named the picture for its time of grace, which begins when this is first asked. */
  #isOrphan(entry: ImageEntry): boolean {
    entry.unnamedSince ??= Date.now();
    return !entry.queued && entry.unnamedSince <= Date.now() - this.#intervals.grace;
  }

  async #forget(entry: ImageEntry): Promise<void> {
    this.#entries.forget(entry);
    this.#queue.forget(entry);
    if (entry.copy) this.#cachedCount -= 1;
    this.#index.changed(entry);
    if (entry.copy) await this.#store.release(entry.copy.name);
  }
}
