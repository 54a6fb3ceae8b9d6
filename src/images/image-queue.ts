import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { parseUrl } from '../lib/network.ts';
import { computeBackoff } from '../lib/retry.ts';
import { type Decoder, ImageError } from './decoder.ts';
import type { ImageCopy, ImageEntry, ImageStore } from './store.ts';

interface HostQueueOptions<T> {
  /** Maximum number of items in progress. */
  readonly maxConcurrent: number;
  /** Processes an item. Resolves with whether its host works; never rejects. */
  readonly work: (item: T) => Promise<boolean>;
  /** Milliseconds to pause a host after a failure, doubled with each failure in a row. */
  readonly pauseMs: { readonly first: number; readonly max: number };
}

/**
 * A queue of items that belong to hosts. A host works on one item at a time, the last one first, and hosts take turns, so
 * a slow or broken host delays only its own items.
 */
export class HostQueue<T> {
  readonly #options: HostQueueOptions<T>;
  readonly #hosts = new Map<string, Host<T>>();
  /** The hosts whose next item may start, in order of their turns. */
  readonly #ready = new Set<Host<T>>();
  #running = 0;
  readonly #onIdle: (() => void)[] = [];
  #left = 0;
  #closed = false;

  constructor(options: HostQueueOptions<T>) {
    this.#options = options;
  }

  /** The number of items that wait or are in progress. */
  get left(): number {
    return this.#left;
  }

  /** Adds an item of a host. */
  add(name: string, item: T): void {
    if (this.#closed) return;
    const host = this.#hosts.get(name) ?? { name, items: [], failures: 0, busy: false };
    this.#hosts.set(name, host);
    host.items.push(item);
    this.#left += 1;
    if (!host.busy) this.#ready.add(host);
    this.#startNext();
  }

  async idle(): Promise<void> {
    if (this.#left > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Starts no more work; resolves when the work in progress is done. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#setLeft(this.#running);
    await this.idle();
  }

  #startNext(): void {
    for (const host of this.#ready) {
      if (this.#closed || this.#running >= this.#options.maxConcurrent) return;
      this.#ready.delete(host);
      const item = host.items.pop();
      if (item !== undefined) void this.#runOne(host, item);
    }
  }

  async #runOne(host: Host<T>, item: T): Promise<void> {
    host.busy = true;
    this.#running += 1;
    const isHostUp = await this.#options.work(item);
    this.#running -= 1;
    host.busy = false;
    host.failures = isHostUp ? 0 : host.failures + 1;
    this.#setLeft(this.#left - 1);
    if (host.items.length === 0) this.#hosts.delete(host.name);
    else if (isHostUp) this.#ready.add(host);
    else this.#pause(host);
    this.#startNext();
  }

  #pause(host: Host<T>): void {
    const { first, max } = this.#options.pauseMs;
    host.busy = true;
    const wake = (): void => {
      host.busy = false;
      this.#ready.add(host);
      this.#startNext();
    };
    setTimeout(wake, computeBackoff(host.failures, first, max)).unref();
  }

  #setLeft(left: number): void {
    this.#left = left;
    if (left === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

interface Host<T> {
  readonly name: string;
  readonly items: T[];
  /** Failures in a row. */
  failures: number;
  /** Whether an item is in progress, or the host is paused. */
  busy: boolean;
}

/** Fetches the bytes of an image. Rejects with an ImageError, also when the signal is aborted. */
export type FetchImage = (url: string, signal: AbortSignal) => Promise<Buffer>;

interface ImageQueueOptions {
  readonly fetch: FetchImage;
  readonly decoder: Decoder;
  readonly store: ImageStore;
  readonly log: Log;
  readonly intervals: Intervals;
  /** Whether a bot still refers to an image. */
  readonly isWanted: (entry: ImageEntry) => boolean;
  /** Replaces the copy of an entry; the entry still has the old one. */
  readonly onCopy: (entry: ImageEntry, copy: ImageCopy) => Promise<void>;
  /** Called when an image has failed. Its copy stays. */
  readonly onFailure: (entry: ImageEntry) => void;
}

const minuteMs = 60_000;

/** The intervals of the image cache, in milliseconds. */
export const defaultIntervals = {
  /** The age at which a copy is refreshed. */
  refreshMs: 90 * 24 * 60 * minuteMs,
  /** The wait after an image's first failure; it doubles with each failure, up to `lastRetryMs`. */
  firstRetryMs: minuteMs,
  lastRetryMs: 24 * 60 * minuteMs,
  /** Maximum time that a form waits for its images. */
  formWaitMs: 3_000,
  /** The time between checks for images to retry. */
  retryCheckMs: 15_000,
  /** The pause after a host's first failure; it doubles with each failure, up to `maxHostPauseMs`. */
  firstHostPauseMs: 1_000,
  maxHostPauseMs: 5 * minuteMs,
  /** The pause after an error of this machine, such as a full disk. */
  storePauseMs: minuteMs,
  /** The grace period after the last reference to an image: first for its entry, then for its file. */
  graceMs: 24 * 60 * minuteMs,
  saveMs: 1_000,
  progressMs: 10_000,
};

export type Intervals = Readonly<typeof defaultIntervals>;

/** Fetches, decodes and stores the images that are due. Logs its progress while it works. */
export class ImageQueue {
  readonly #options: ImageQueueOptions;
  readonly #hosts: HostQueue<ImageEntry>;
  readonly #closing = new AbortController();
  #fetched = 0;
  #failed = 0;
  #lastProgress = '';
  #progress: NodeJS.Timeout | undefined;

  constructor(options: ImageQueueOptions) {
    const { intervals } = options;
    this.#options = options;
    this.#hosts = new HostQueue({
      maxConcurrent: maxFetches,
      work: async (entry) => await this.#work(entry),
      pauseMs: { first: intervals.firstHostPauseMs, max: intervals.maxHostPauseMs },
    });
  }

  get left(): number {
    return this.#hosts.left;
  }

  /** Adds an image if it is due: it has no copy or an old one, and did not fail a short time ago. */
  add(entry: ImageEntry): void {
    if (this.#closing.signal.aborted || entry.queued || !this.#isDue(entry)) return;
    entry.queued = true;
    this.#progress ??= setInterval(() => this.#logProgress(), this.#options.intervals.progressMs).unref();
    this.#hosts.add(hostOf(entry.url), entry);
  }

  /** Resolves when no image is left. */
  async idle(): Promise<void> {
    await this.#hosts.idle();
  }

  /** Stops all work in progress except in the decoder. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#progress);
    await this.#hosts.close();
  }

  #isDue({ copy, failure }: ImageEntry): boolean {
    const now = Date.now();
    if (failure) return failure.retryAt <= now;
    return copy === null || copy.fetchedAt + this.#options.intervals.refreshMs <= now;
  }

  /** Processes an image until it is stored or fails. Resolves with whether its host works. */
  async #work(entry: ImageEntry): Promise<boolean> {
    let result: Result = 'again';
    while (result === 'again' && this.#options.isWanted(entry) && this.#isDue(entry)) {
      result = await this.#attempt(entry);
    }
    entry.queued = false;
    return result !== 'host failed';
  }

  async #attempt(entry: ImageEntry): Promise<Result> {
    try {
      await this.#fetch(entry);
      return 'done';
    } catch (error) {
      if (this.#closing.signal.aborted) return 'done';
      if (!(error instanceof ImageError) && codeOf(error) !== undefined) {
        await this.#pause(messageOf(error));
        return this.#closing.signal.aborted ? 'done' : 'again';
      }
      const retry = error instanceof ImageError ? error.retry : 'image';
      // Only an image in a page can be refused, because its text replaces it. A missing avatar is a failure.
      this.#fail(entry, messageOf(error), retry === 'never' && entry.kind === 'wide');
      return retry === 'host' ? 'host failed' : 'done';
    }
  }

  async #fetch(entry: ImageEntry): Promise<void> {
    const { fetch, decoder, store, onCopy } = this.#options;
    const original = await fetch(entry.url, this.#closing.signal);
    const { bytes, width, height } = await decoder.decode(original, entry.kind);
    const name = await store.put(bytes);
    entry.failure = null;
    this.#fetched += 1;
    await onCopy(entry, { name, width, height, fetchedAt: Date.now() });
  }

  /** @param isRefused whether to try again only when a copy would be due for a refresh */
  #fail(entry: ImageEntry, message: string, isRefused: boolean): void {
    const { log, intervals, onFailure } = this.#options;
    const count = (entry.failure?.count ?? 0) + 1;
    const now = Date.now();
    const retryAt = now + (isRefused ? intervals.refreshMs : retryDelay(count, intervals));
    entry.failure = { count, retryAt, message, since: isRefused ? null : (entry.failure?.since ?? now) };
    if (!isRefused) this.#failed += 1;
    onFailure(entry);
    const fields = { url: entry.url, message, count, retryAt: new Date(retryAt).toISOString() };
    log.debug(fields, `${entry.url} ${message}`);
  }

  /** Pauses before the same image is tried again, because the error is of this machine. */
  async #pause(message: string): Promise<void> {
    const { log, intervals } = this.#options;
    log.error(
      { error: message },
      `could not store an image: ${message}; check the folder of the image cache, retrying`,
    );
    await wait(intervals.storePauseMs, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  #logProgress(): void {
    const [fetched, failed, left] = [this.#fetched, this.#failed, this.left];
    const message = `image cache: ${fetched} fetched, ${failed} failed, ${left} left`;
    // Skips repeated lines: the images of a failing host may wait for days.
    if (message !== this.#lastProgress) this.#options.log.info({ fetched, failed, left }, message);
    this.#lastProgress = message;
    if (left > 0) return;
    clearInterval(this.#progress);
    this.#progress = undefined;
    this.#fetched = 0;
    this.#failed = 0;
    this.#lastProgress = '';
  }
}

/** Maximum number of images fetched at a time, from different hosts. */
const maxFetches = 4;

/** `again`: an error of this machine, after which the same image is tried again. */
type Result = 'done' | 'host failed' | 'again';

function hostOf(url: string): string {
  return parseUrl(url)?.host ?? '';
}

/** Returns the milliseconds until an image that failed `count` times is retried, varied by up to a quarter. */
export function retryDelay(count: number, { firstRetryMs, lastRetryMs }: Intervals): number {
  return computeBackoff(count, firstRetryMs, lastRetryMs) * (0.75 + Math.random() / 2);
}
