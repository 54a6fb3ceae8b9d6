import { join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import type { CachedImages } from '../bot/record.ts';
import type { FullImages } from '../bot/schema-types.ts';
import type { Log } from '../lib/log.ts';
import { messageOf } from '../lib/errors.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { Decoder } from './decoder.ts';
import { IndexFile } from './index-file.ts';
import { defaultIntervals, type Intervals } from './intervals.ts';
import { type CopyListener, ImageCopies, type ImagePlace } from './image-copies.ts';
import { ImageEntries, type ImageEntry } from './image-entries.ts';
import { type FetchImage, ImageQueue } from './image-queue.ts';
import { type ImageName, ImageStore } from './store.ts';
import { parseImageName } from './variant-name.ts';
import { ImageVariants } from './variants.ts';
import { formatCount } from '../lib/counted.ts';
import { WantedImages } from './wanted-images.ts';

/** How far the cache is. */
export interface ImageCacheStatus {
  /** Images that bots refer to, and those of them that have a copy. */
  readonly known: number;
  readonly cached: number;
  /** Images whose last attempt failed; each is retried. Those that were refused are not among them. */
  readonly failing: number;
  /** Images that wait or are being fetched. */
  readonly left: number;
}

export interface ImageCacheOptions {
  /** The folder of the copies and the index, such as `var/appdata`. */
  readonly folder: string;
  readonly fetch: FetchImage;
  /** The path of the public address, with which the paths of copies begin; empty where left out. */
  readonly basePath?: string;
  readonly log: Log;
  /** Days after which a copy is fetched again. */
  readonly refreshDays?: number;
  /** Shorter times, for tests. */
  readonly intervals?: Partial<Intervals>;
}

/** Opens the cache in `folder`, as the last run left it. It fetches nothing until images are wanted. */
export async function openImageCache(options: ImageCacheOptions): Promise<ImageCache> {
  const entries = new ImageEntries();
  const index = await IndexFile.open(join(options.folder, 'index'), entries);
  return new ImageCache(options, entries, index);
}

/**
 * Copies of the images that bots refer to. Reading a path is a map look-up; fetching, decoding and storing run in the
 * background. The last good copy stays while it is refreshed and when that fails, as the address may be gone for good.
 */
export class ImageCache {
  readonly #log: Log;
  readonly #intervals: Intervals;
  readonly #entries: ImageEntries;
  readonly #index: IndexFile;
  readonly #store: ImageStore;
  readonly #variants: ImageVariants;
  readonly #copies: ImageCopies;
  readonly #wanted: WantedImages;
  readonly #queue: ImageQueue;
  readonly #closing = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  /** Scans and clean-ups run one after the other. */
  readonly #scans = new SerialQueue();
  #indexError: string | undefined;

  /** For `openImageCache`. */
  constructor(options: ImageCacheOptions, entries: ImageEntries, index: IndexFile) {
    const { folder, fetch, log, basePath = '', refreshDays = 90 } = options;
    this.#log = log;
    this.#intervals = { ...defaultIntervals, ...options.intervals };
    this.#entries = entries;
    this.#index = index;
    this.#store = new ImageStore(folder);
    this.#copies = new ImageCopies(entries, index, this.#store, basePath);
    this.#wanted = new WantedImages(entries, this.#intervals.grace);
    const decoder = new Decoder();
    this.#variants = new ImageVariants(this.#store, decoder);
    this.#queue = new ImageQueue({
      fetch,
      decoder,
      store: this.#store,
      log,
      refreshAfter: refreshDays * 86_400_000,
      intervals: this.#intervals,
      isWanted: (entry) => this.#wanted.has(entry),
      onCopy: async (entry, copy) => await this.#copies.replace(entry, copy),
      onFailure: (entry) => this.#index.changed(entry),
    });
    for (const entry of entries) if (entry.failure) this.#queue.retryLater(entry);
    void this.#scans.run(async () => await this.#dropLost());
    this.#timers = [
      setInterval(() => void this.#save(), this.#intervals.save).unref(),
      setInterval(() => void this.cleanUp(), this.#intervals.round).unref(),
    ];
  }

  /** Returns the paths of the copies of a bot's images; null, or left out of `preview`, where there is none. */
  cachedImages(images: FullImages): CachedImages {
    return this.#copies.cachedImages(images);
  }

  /** Returns the copy of an image in its own proportions; undefined where there is none. */
  copyOf(url: string): ImagePlace | undefined {
    return this.#copies.copyOf(url);
  }

  /**
   * Reads the bytes of the copy served as `/appdata/<name>.webp`, where name is a digest, or a digest and the width of a
   * smaller copy, such as `<digest>.128`; undefined when there is none.
   */
  async read(name: string): Promise<Buffer | undefined> {
    const { digest, width } = parseImageName(name) ?? {};
    if (digest === undefined) return undefined;
    return await (width === undefined ? this.#store.read(digest) : this.#variants.read(digest, width));
  }

  /** Notes that a bot refers to these images: missing and old ones are fetched before all others. */
  want(bot: BotId, images: FullImages): void {
    this.#note(bot, images, true);
  }

  /**
   * Notes all images of the catalogue, in time slices: missing and old ones are fetched, and those that no bot refers to
   * any more are dropped after their grace period. Call it after the start and regularly: only a full scan finds images
   * that nothing refers to.
   */
  async setWanted(all: Iterable<readonly [BotId, FullImages]>): Promise<void> {
    const note = ([bot, images]: readonly [BotId, FullImages]): void => this.#note(bot, images, false);
    const noteAll = async (): Promise<void> =>
      await forEachInSlices(all, note, 'service', this.#closing.signal);
    await this.#scans.run(async () => await this.#wanted.scan(noteAll));
  }

  /** Calls `listener` when the copy of an image appears, changes or disappears. */
  onChange(listener: CopyListener): void {
    this.#copies.onChange(listener);
  }

  status(): ImageCacheStatus {
    return {
      known: this.#entries.size,
      cached: this.#copies.size,
      failing: this.#queue.failing,
      left: this.#queue.left,
    };
  }

  /** Yields the images whose last attempt failed; `<url> <message>` is a sentence. */
  *failures(): Generator<{ readonly url: string; readonly message: string }> {
    for (const { url, failure } of this.#entries)
      if (failure && !failure.isRefused) yield { url, message: failure.message };
  }

  /** Resolves when every image that is wanted has a copy or has failed once. */
  async idle(): Promise<void> {
    await this.#scans.run(async () => {});
    await this.#queue.idle();
  }

  /**
   * Fetches old copies again, and drops what nothing refers to: an entry after its grace period, then its file after the
   * same time again, so that a page sent just before still finds it. Runs every hour by itself.
   */
  async cleanUp(): Promise<void> {
    await this.#scans
      .run(async () => await this.#cleanUp())
      .catch((error: unknown) => {
        const message = `could not clean up the image cache: ${messageOf(error)}; retrying in an hour`;
        this.#log.warn({ error: messageOf(error) }, message);
      });
  }

  /** Ends what is in progress and writes the index. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([this.#queue.close(), this.#scans.run(async () => {})]);
    await this.#index.close().catch((error: unknown) => this.#logUnwritten(error));
  }

  #note(bot: BotId, images: FullImages, urgent: boolean): void {
    if (this.#closing.signal.aborted) return;
    for (const entry of this.#wanted.note(bot, images)) this.#queue.add(entry, urgent);
  }

  async #save(): Promise<void> {
    try {
      await this.#index.flush();
      this.#indexError = undefined;
    } catch (error) {
      this.#logUnwritten(error);
    }
  }

  #logUnwritten(error: unknown): void {
    const message = `could not write the index of the image cache: ${messageOf(error)}; retrying`;
    if (message !== this.#indexError) this.#log.warn({ error: messageOf(error) }, message);
    this.#indexError = message;
  }

  /** Removes the copies whose file is gone. */
  async #dropLost(): Promise<void> {
    try {
      const names = await this.#store.names();
      const drop = (entry: ImageEntry): void => {
        if (entry.copy && !names.has(entry.copy.name)) this.#copies.markLost(entry);
      };
      await forEachInSlices(this.#entries, drop, 'service', this.#closing.signal);
    } catch (error) {
      const message = `could not read the folder of the image cache: ${messageOf(error)}`;
      this.#log.warn({ error: messageOf(error) }, message);
    }
  }

  async #cleanUp(): Promise<void> {
    const names = new Set<ImageName>();
    const orphans: ImageEntry[] = [];
    const sort = (entry: ImageEntry): void => {
      if (this.#wanted.has(entry)) this.#queue.add(entry, false);
      else if (this.#wanted.isOrphan(entry)) return void orphans.push(entry);
      if (entry.copy) names.add(entry.copy.name);
    };
    await forEachInSlices(this.#entries, sort, 'service', this.#closing.signal);
    if (this.#closing.signal.aborted) return;
    for (const entry of orphans) {
      if (this.#wanted.has(entry)) continue;
      this.#queue.remove(entry);
      await this.#copies.remove(entry);
    }
    await this.#save();
    const removed = await this.#store.sweep(names, this.#intervals.grace);
    if (removed > 0)
      this.#log.info(
        { removed },
        `image cache: removed ${formatCount(removed, 'file')} that no bot refers to`,
      );
  }
}
