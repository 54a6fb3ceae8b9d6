import { hash } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { CachedImages, FullImages } from '../../schemas/types.ts';
import type { BotId } from '../bot/id.ts';
import { isError, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Failure } from '../lib/retry.ts';
import { FairQueue, SerialQueue } from '../lib/serial-queue.ts';
import { formatCount } from '../lib/text.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import { Decoder } from './decoder.ts';
import {
  type ImageCopy,
  type ImageEntry,
  ImageIndex,
  type ImageKind,
  type ImageName,
  ImageStore,
  parseImageName,
  type ImagePlace,
} from './store.ts';
import { defaultIntervals, type FetchImage, ImageQueue, type Intervals } from './image-queue.ts';
import { ShareCards } from './share-cards.ts';

export interface ImageCacheOptions {
  /** The folder of the copies and the index, such as `var/appdata`. */
  readonly folder: string;
  readonly fetch: FetchImage;
  /** The path of the public address, prefixed to the paths of copies; empty if left out. */
  readonly basePath?: string;
  readonly log: Log;
  /** Shorter times, for tests. */
  readonly intervals?: Partial<Intervals>;
}

/** Opens the cache in `folder` with the content of the last run. It fetches nothing until images are requested. */
export async function openImageCache(options: ImageCacheOptions): Promise<ImageCache> {
  return new ImageCache(options, await ImageIndex.open(join(options.folder, 'index')));
}

/**
 * Copies of the images that bots refer to. Looking up a path is a map read; fetching, decoding and storing run in the
 * background. The last good copy stays during a refresh and when it fails, because the address may be gone for good.
 */
export class ImageCache {
  readonly shareCards: ShareCards;
  readonly #log: Log;
  readonly #intervals: Intervals;
  readonly #basePath: string;
  readonly #index: ImageIndex;
  readonly #store: ImageStore;
  readonly #decoder = new Decoder();
  readonly #queue: ImageQueue;
  readonly #previews: ImagePreviews;
  readonly #listeners: ((bots: readonly BotId[]) => void)[] = [];
  readonly #closing = new AbortController();
  readonly #timers: NodeJS.Timeout[];
  /** Runs scans one after the other. */
  readonly #scans = new SerialQueue();
  /** The numbers of the last scan, and of the last complete one. */
  #scan = 0;
  #completeScan = 0;
  #indexError: string | undefined;

  /** Only for `openImageCache`. */
  constructor(options: ImageCacheOptions, index: ImageIndex) {
    const { folder, fetch, log, basePath = '' } = options;
    this.#log = log;
    this.#intervals = { ...defaultIntervals, ...options.intervals };
    this.#basePath = basePath;
    this.#index = index;
    this.#store = new ImageStore(folder);
    this.shareCards = new ShareCards(join(folder, 'cards'), this.#decoder, this.#store);
    this.#queue = new ImageQueue({
      fetch,
      decoder: this.#decoder,
      store: this.#store,
      log,
      intervals: this.#intervals,
      isWanted: (entry) => this.#isWanted(entry),
      onCopy: async (entry, copy) => await this.#replaceCopy(entry, copy),
      onFailure: (entry) => index.noteChange(entry),
    });
    this.#previews = new ImagePreviews(
      async ({ kind, url }, signal) => (await this.#decoder.decode(await fetch(url, signal), kind)).bytes,
      this.#intervals.formWaitMs,
    );
    const { saveMs, retryCheckMs } = this.#intervals;
    this.#timers = [
      setInterval(() => void this.#save(), saveMs).unref(),
      setInterval(() => void this.#retry(), retryCheckMs).unref(),
    ];
  }

  /** Returns the paths of the copies of a bot's images; null, or left out of `preview`, if there is no copy. */
  cachedImages({ avatar, cover, preview }: FullImages): CachedImages {
    const pathOf = (kind: ImageKind, url: string | null): string | null =>
      (url === null ? undefined : this.#placeOf(kind, url)?.path) ?? null;
    return {
      avatar: pathOf('avatar', avatar),
      cover: pathOf('wide', cover),
      preview: preview.flatMap((url) => pathOf('wide', url) ?? []),
    };
  }

  /** Returns the copy of an image in its own proportions; undefined without a copy. */
  copyOf(url: string): ImagePlace | undefined {
    return this.#placeOf('wide', url) ?? this.#placeOf('avatar', url);
  }

  /**
   * Reads the bytes of the copy served as `/appdata/<name>.webp`. The name is a digest, or for a smaller copy a digest
   * and a width, such as `<digest>.128`. Undefined if there is no such copy.
   */
  async read(name: string): Promise<Buffer | undefined> {
    const { digest, width } = parseImageName(name) ?? {};
    if (digest === undefined) return undefined;
    const stored =
      width === undefined
        ? await this.#store.read(digest)
        : await this.#store.readVariant(digest, width, this.#decoder);
    return stored ?? this.#previews.read(digest);
  }

  /**
   * Returns the paths of copies of a form's images, each undefined without a copy. Images that no bot refers to yet
   * are fetched first, for at most some seconds; their copies are kept for some minutes.
   * @param client the client that sends the form, such as a group of addresses
   */
  async preview(images: readonly NamedImage[], client: string): Promise<(string | undefined)[]> {
    const pathOf = ({ kind, url }: NamedImage): string | undefined => this.#placeOf(kind, url)?.path;
    await this.#previews.fetch(
      images.filter((image) => pathOf(image) === undefined),
      client,
    );
    return images.map((image) => {
      const name = this.#previews.nameOf(image);
      return pathOf(image) ?? (name && this.#toPath(name));
    });
  }

  /** Records that a bot refers to these images. Missing and old ones are fetched before the others of their host. */
  want(bot: BotId, { avatar, cover, preview }: FullImages): void {
    if (avatar !== null) this.#note('avatar', avatar, bot);
    for (const url of cover === null ? preview : [cover, ...preview]) this.#note('wide', url, bot);
  }

  /**
   * Records all images of the catalogue, in time slices, and fetches missing and old ones. Then drops the others: an entry
   * after its grace period, and its file after another one, because a page that was sent just before may still refer to
   * it. Call it after the start and every hour: only a full scan finds unreferenced images and copies without a file.
   */
  async setWanted(all: Iterable<readonly [BotId, FullImages]>): Promise<void> {
    await this.#scans.run(async () => {
      this.#scan += 1;
      await forEachInSlices(all, ([bot, images]) => this.want(bot, images), 'service', this.#closing.signal);
      this.#completeScan = this.#scan;
      await this.#cleanUp().catch((error: unknown) => {
        const message = `could not clean up the image cache: ${messageOf(error)}; retrying after the next scan`;
        this.#log.warn({ error: messageOf(error) }, message);
      });
    });
  }

  /** Calls `listener` with the bots that refer to an image when its copy appears, changes or disappears. */
  onChange(listener: (bots: readonly BotId[]) => void): void {
    this.#listeners.push(listener);
  }

  /**
   * Returns the number of images that bots refer to, of those with a copy, of those whose last attempt failed and is
   * retried, without refused ones, and of those that wait or are being fetched.
   */
  status(): Readonly<Record<'known' | 'cached' | 'failing' | 'left', number>> {
    let [cached, failing] = [0, 0];
    for (const { copy, failure } of this.#index) {
      if (copy) cached += 1;
      if (failure && failure.since !== null) failing += 1;
    }
    return { known: this.#index.size, cached, failing, left: this.#queue.left };
  }

  /** Returns the images whose last attempt failed, by address. */
  failures(): ReturnType<ImageIndex['failures']> {
    return this.#index.failures();
  }

  /** Returns why the last attempt for an image failed. */
  failureOf(url: string): Failure | undefined {
    return this.#index.failureOf(url);
  }

  /** Resolves when every image that is needed has a copy or has failed once. */
  async idle(): Promise<void> {
    await this.#scans.run(async () => {});
    await this.#queue.idle();
  }

  /** Stops all work in progress and writes the index. */
  async close(): Promise<void> {
    this.#closing.abort();
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([this.#queue.close(), this.#decoder.close(), this.#scans.run(async () => {})]);
    await this.#index.close().catch((error: unknown) => this.#logUnwritten(error));
  }

  #placeOf(kind: ImageKind, url: string): ImagePlace | undefined {
    const copy = this.#index.get(kind, url)?.copy;
    if (!copy) return undefined;
    const { name, width, height } = copy;
    return { path: this.#toPath(name), width, height };
  }

  #toPath(name: ImageName): string {
    return `${this.#basePath}/appdata/${name}.webp`;
  }

  #note(kind: ImageKind, url: string, bot: BotId): void {
    if (this.#closing.signal.aborted) return;
    const entry = this.#index.getOrCreate(kind, url);
    addReferringBot(entry, bot);
    entry.seenIn = this.#scan;
    this.#setUnwanted(entry, null);
    this.#queue.add(entry);
  }

  #setUnwanted(entry: ImageEntry, since: number | null): void {
    if (entry.unwantedSince === since) return;
    entry.unwantedSince = since;
    this.#index.noteChange(entry);
  }

  /** Whether a bot referred to the image in the last full scan or since then. */
  #isWanted({ seenIn }: ImageEntry): boolean {
    return seenIn >= this.#completeScan;
  }

  /** Replaces the copy of an image. The file of the old copy stays for its grace period. */
  async #replaceCopy(entry: ImageEntry, copy: ImageCopy): Promise<void> {
    const before = entry.copy;
    this.#setCopy(entry, copy);
    if (before && before.name !== copy.name) await this.#store.release(before.name);
  }

  #setCopy(entry: ImageEntry, copy: ImageCopy | null): void {
    const before = entry.copy;
    entry.copy = copy;
    this.#index.noteChange(entry);
    if (before?.name === copy?.name) return;
    for (const listener of this.#listeners) listener(listBots(entry));
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

  /** Queues the images that failed and are due for a retry. */
  async #retry(): Promise<void> {
    await this.#forEachEntry((entry) => {
      if (entry.failure && entry.failure.since !== null && this.#isWanted(entry)) this.#queue.add(entry);
    });
  }

  async #cleanUp(): Promise<void> {
    const names = new Set<ImageName>();
    const orphans: ImageEntry[] = [];
    await this.#forEachEntry((entry) => {
      if (!this.#isWanted(entry)) {
        const since = entry.unwantedSince ?? Date.now();
        this.#setUnwanted(entry, since);
        if (!entry.queued && since <= Date.now() - this.#intervals.graceMs) return void orphans.push(entry);
      }
      if (entry.copy) names.add(entry.copy.name);
    });
    if (this.#closing.signal.aborted) return;
    for (const entry of orphans) {
      if (this.#isWanted(entry)) continue;
      const { copy } = entry;
      this.#index.remove(entry);
      if (copy) await this.#store.release(copy.name);
    }
    await this.#save();
    // An index that was lost names no copy: they are fetched again first.
    if (names.size === 0) return;
    const { removed, stored } = await this.#store.sweep(names, this.#intervals.graceMs);
    await this.#forEachEntry((entry) => {
      if (!entry.copy || !names.has(entry.copy.name) || stored.has(entry.copy.name)) return;
      this.#setCopy(entry, null);
      if (this.#isWanted(entry)) this.#queue.add(entry);
    });
    if (removed > 0)
      this.#log.info(
        { removed },
        `image cache: removed ${formatCount(removed, 'file')} that no bot refers to`,
      );
  }

  async #forEachEntry(work: (entry: ImageEntry) => void): Promise<void> {
    await forEachInSlices(this.#index, work, 'service', this.#closing.signal);
  }
}

function addReferringBot(entry: ImageEntry, bot: BotId): void {
  const { bots } = entry;
  if (bots === null) entry.bots = bot;
  else if (bots instanceof Set) bots.add(bot);
  else if (bots !== bot) entry.bots = new Set([bots, bot]);
}

function listBots({ bots }: ImageEntry): readonly BotId[] {
  if (bots === null) return [];
  return bots instanceof Set ? [...bots] : [bots];
}

/** An image: its kind and address. */
export interface NamedImage {
  readonly kind: ImageKind;
  readonly url: string;
}

/**
 * Copies of images that forms name and no bot refers to yet. They are kept in memory for some minutes; the least
 * recently used are dropped first.
 */
export class ImagePreviews {
  readonly #make: (image: NamedImage, signal: AbortSignal) => Promise<Buffer>;
  readonly #waitMs: number;
  readonly #queue = new FairQueue(8);
  /** By kind and address; without bytes if the image failed a short time ago. */
  readonly #kept = new LRUCache<string, { readonly name: ImageName; readonly bytes: Buffer | null }>({
    maxSize: maxPreviewBytes,
    sizeCalculation: ({ bytes }, key) => (bytes?.length ?? 0) + key.length * 2 + 500,
  });

  /** @param make fetches and decodes an image @param waitMs maximum time that a form waits for its images */
  constructor(make: (image: NamedImage, signal: AbortSignal) => Promise<Buffer>, waitMs: number) {
    this.#make = make;
    this.#waitMs = waitMs;
  }

  /** Returns the name of an image's copy; undefined without a copy. */
  nameOf(image: NamedImage): ImageName | undefined {
    const kept = this.#kept.get(toKey(image));
    return kept?.bytes ? kept.name : undefined;
  }

  /** Returns the copy with this name; undefined if it does not exist. */
  read(name: ImageName): Buffer | undefined {
    for (const kept of this.#kept.values()) if (kept.name === name) return kept.bytes ?? undefined;
    return undefined;
  }

  /** Fetches the images of a form one after the other; clients take turns. Resolves after at most `waitMs`. */
  async fetch(images: readonly NamedImage[], client: string): Promise<void> {
    const due = images.filter((image) => !this.#kept.has(toKey(image)));
    if (due.length === 0) return;
    const abandoned = AbortSignal.timeout(this.#waitMs);
    const work = async (): Promise<void> => {
      for (const image of due) if (!abandoned.aborted) await this.#fetchOne(image, abandoned);
    };
    const fetched = this.#queue.run(client, work).catch((error: unknown) => {
      if (!isError(error, 'queue-full', 'share-full')) throw error;
    });
    await Promise.race([fetched, sleep(this.#waitMs, undefined, { ref: false })]);
  }

  async #fetchOne(image: NamedImage, signal: AbortSignal): Promise<void> {
    const bytes = await this.#make(image, signal).catch(() => null);
    const name = bytes ? hash('sha256', bytes) : '';
    this.#kept.set(toKey(image), { name, bytes }, { ttl: bytes ? previewMs : failureMs });
  }
}

function toKey({ kind, url }: NamedImage): string {
  return `${kind} ${url}`;
}

/** Maximum number of bytes of all copies of forms together. */
const maxPreviewBytes = 16 * 1024 * 1024;
/** Milliseconds that a copy is kept, and that a failed image is not retried. */
const previewMs = 600_000;
const failureMs = 60_000;
