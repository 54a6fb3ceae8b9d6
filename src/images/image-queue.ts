import { setTimeout as wait } from 'node:timers/promises';
import type { Log } from '../lib/log.ts';
import { codeOf, messageOf } from '../lib/errors.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import type { Decoder } from './decoder.ts';
import { ImageError } from './image-error.ts';
import { type HostQueue, openHostQueue } from './host-queue.ts';
import { type Intervals, retryDelay } from './intervals.ts';
import type { ImageCopy, ImageEntry } from './image-entries.ts';
import { FetchProgress } from './fetch-progress.ts';
import type { ImageStore } from './store.ts';

/** Fetches an image's bytes. Rejects with an ImageError, also when the signal is aborted. */
export type FetchImage = (url: string, signal: AbortSignal) => Promise<Buffer>;

export interface ImageQueueOptions {
  readonly fetch: FetchImage;
  readonly decoder: Decoder;
  readonly store: ImageStore;
  readonly log: Log;
  /** Milliseconds after which a copy is fetched again. */
  readonly refreshAfter: number;
  readonly intervals: Intervals;
  /** Whether a bot still refers to an image that waited. */
  readonly isWanted: (entry: ImageEntry) => boolean;
  /** Replaces the copy of an entry, which still has the old one. */
  readonly onCopy: (entry: ImageEntry, copy: ImageCopy) => Promise<void>;
  /** Called when an image has failed; its copy stays. */
  readonly onFailure: (entry: ImageEntry) => void;
}

/** Fetches, decodes and stores the images that are due, and retries those that failed. */
export class ImageQueue {
  readonly #options: ImageQueueOptions;
  readonly #hostQueue: HostQueue<ImageEntry>;
  readonly #failing = new Set<ImageEntry>();
  readonly #progress: FetchProgress;
  readonly #closing = new AbortController();
  readonly #ticking: NodeJS.Timeout;

  constructor(options: ImageQueueOptions) {
    const { intervals, log } = options;
    this.#options = options;
    this.#hostQueue = openHostQueue({
      concurrency: maxFetches,
      work: async (entry, spend) => await this.#work(entry, spend),
      rest: { first: intervals.hostRest, max: intervals.maxHostRest },
    });
    this.#progress = new FetchProgress(log, intervals.progress, () => this.left);
    this.#ticking = setInterval(() => void this.#retry(), intervals.tick).unref();
  }

  get left(): number {
    return this.#hostQueue.left;
  }

  get failing(): number {
    return this.#failing.size;
  }

  /** Adds an image if it is due: without a copy or with an old one, and not failed a short time ago. */
  add(entry: ImageEntry, urgent: boolean): void {
    if (this.#closing.signal.aborted || entry.queued || !this.#isDue(entry)) return;
    entry.queued = true;
    this.#progress.begin();
    this.#hostQueue.add(hostOf(entry.url), entry, urgent);
  }

  /** Retries an image that failed when its time comes. One that was refused is fetched like an old copy. */
  retryLater(entry: ImageEntry): void {
    if (!entry.failure?.isRefused) this.#failing.add(entry);
  }

  remove(entry: ImageEntry): void {
    this.#failing.delete(entry);
  }

  /** Resolves when nothing is left. */
  async idle(): Promise<void> {
    await this.#hostQueue.idle();
  }

  /** Ends what is in progress. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#ticking);
    this.#progress.close();
    await Promise.all([this.#hostQueue.close(), this.#options.decoder.close()]);
  }

  #isDue({ copy, failure }: ImageEntry): boolean {
    const now = Date.now();
    if (failure) return failure.retryAt <= now;
    return copy === null || copy.fetchedAt + this.#options.refreshAfter <= now;
  }

  /** Fetches an image. Returns whether its host works. */
  async #work(entry: ImageEntry, spend: (ms: number) => void): Promise<boolean> {
    let result: Result = 'again';
    while (result === 'again' && this.#options.isWanted(entry) && this.#isDue(entry)) {
      result = await this.#attempt(entry, spend);
    }
    entry.queued = false;
    return result !== 'host failed';
  }

  async #attempt(entry: ImageEntry, spend: (ms: number) => void): Promise<Result> {
    try {
      await this.#fetch(entry, spend);
      return 'done';
    } catch (error) {
      if (this.#closing.signal.aborted) return 'done';
      if (!(error instanceof ImageError) && codeOf(error) !== undefined) {
        await this.#pause(messageOf(error));
        return this.#closing.signal.aborted ? 'done' : 'again';
      }
      const retry = error instanceof ImageError ? error.retry : 'image';
      // A bot without its avatar is worth a word; the text of an image in a page says what it would.
      if (retry === 'never' && entry.kind === 'wide') this.#refuse(entry, messageOf(error));
      else this.#fail(entry, messageOf(error));
      return retry === 'host' ? 'host failed' : 'done';
    }
  }

  async #fetch(entry: ImageEntry, spend: (ms: number) => void): Promise<void> {
    const { fetch, decoder, store, onCopy } = this.#options;
    const original = await fetch(entry.url, this.#closing.signal);
    const { bytes, width, height } = await decoder.decode(original, entry.kind, spend);
    const name = await store.put(bytes);
    entry.failure = null;
    this.#failing.delete(entry);
    this.#progress.fetched();
    await onCopy(entry, { name, width, height, fetchedAt: Date.now() });
  }

  /** Looks again when a copy would be old. */
  #refuse(entry: ImageEntry, message: string): void {
    const { log, refreshAfter, onFailure } = this.#options;
    entry.failure = { count: 1, retryAt: Date.now() + refreshAfter, message, isRefused: true };
    this.#failing.delete(entry);
    onFailure(entry);
    log.debug({ url: entry.url, message }, `${entry.url} ${message}`);
  }

  #fail(entry: ImageEntry, message: string): void {
    const { log, intervals, onFailure } = this.#options;
    const count = (entry.failure?.count ?? 0) + 1;
    const retryAt = Date.now() + retryDelay(count, intervals);
    entry.failure = { count, retryAt, message };
    this.#failing.add(entry);
    this.#progress.failed();
    onFailure(entry);
    const fields = { url: entry.url, message, count, retryAt: new Date(retryAt).toISOString() };
    log.debug(fields, `${entry.url} ${message}`);
  }

  /** Waits before the same image is tried again, as the error is one of this machine and not of the image. */
  async #pause(message: string): Promise<void> {
    const { log, intervals } = this.#options;
    log.error(
      { error: message },
      `could not store an image: ${message}; check the folder of the image cache, retrying`,
    );
    await wait(intervals.ownRest, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  async #retry(): Promise<void> {
    const { isWanted } = this.#options;
    const retry = (entry: ImageEntry): void => {
      if (isWanted(entry)) this.add(entry, false);
    };
    await forEachInSlices(this.#failing, retry, 'service', this.#closing.signal);
  }
}

/** Images that are fetched at once, at most; one per host. */
const maxFetches = 4;

/** `again`: an error of this machine, not of the image. */
type Result = 'done' | 'host failed' | 'again';

function hostOf(url: string): string {
  return URL.canParse(url) ? new URL(url).host : '';
}
