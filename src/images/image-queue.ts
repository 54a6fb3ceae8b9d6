import { setTimeout as wait } from 'node:timers/promises';
import { codeOf, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { parseUrl } from '../lib/network.ts';
import { computeBackoff } from '../lib/retry.ts';
import { type Decoder, ImageError } from './decoder.ts';
import type { ImageCopy, ImageEntry, ImageStore } from './store.ts';

interface HostQueueOptions<T> {
  /** The maximum number of items in progress; never two of one host. */
  readonly concurrency: number;
  /** Does an item, and returns whether its host works. Never rejects. */
  readonly work: (item: T) => Promise<boolean>;
  /** Milliseconds that a host is left alone after it failed; doubled each time until it works again. */
  readonly rest: { readonly first: number; readonly max: number };
}

/** A queue of items that each belong to a host. Hosts take turns, so that a slow or broken one holds up its own items alone. */
export class HostQueue<T> {
  readonly #options: HostQueueOptions<T>;
  readonly #hosts = new Map<string, Host<T>>();
  /** Hosts that have work and may be worked on, in the order of their turns. */
  readonly #ready = new Set<Host<T>>();
  readonly #running = new Set<Promise<void>>();
  readonly #onIdle: (() => void)[] = [];
  #left = 0;
  #closed = false;

  constructor(options: HostQueueOptions<T>) {
    this.#options = options;
  }

  /** Items that wait or are worked on. */
  get left(): number {
    return this.#left;
  }

  /** Adds an item of a host; an urgent one goes before those that are not. */
  add(name: string, item: T, urgent: boolean): void {
    if (this.#closed) return;
    const host = this.#hosts.get(name) ?? { name, urgent: [], others: [], failures: 0, busy: false };
    this.#hosts.set(name, host);
    (urgent ? host.urgent : host.others).push(item);
    this.#left += 1;
    if (!host.busy) this.#ready.add(host);
    this.#startNext();
  }

  /** Resolves when nothing is left. */
  async idle(): Promise<void> {
    if (this.#left > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Starts no more work; resolves when what has started is done. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
    this.#setLeft(0);
  }

  #startNext(): void {
    for (const host of this.#ready) {
      if (this.#closed || this.#running.size >= this.#options.concurrency) return;
      this.#ready.delete(host);
      const item = host.urgent.pop() ?? host.others.pop();
      if (item === undefined) continue;
      const run = this.#runOne(host, item).finally(() => {
        this.#running.delete(run);
        this.#startNext();
      });
      this.#running.add(run);
    }
  }

  async #runOne(host: Host<T>, item: T): Promise<void> {
    host.busy = true;
    const works = await this.#options.work(item);
    host.busy = false;
    host.failures = works ? 0 : host.failures + 1;
    this.#setLeft(this.#left - 1);
    if (host.urgent.length === 0 && host.others.length === 0) this.#hosts.delete(host.name);
    else if (works) this.#ready.add(host);
    else this.#pause(host);
  }

  #pause(host: Host<T>): void {
    const { first, max } = this.#options.rest;
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
  readonly urgent: T[];
  readonly others: T[];
  /** Failures in a row. */
  failures: number;
  /** Worked on, or left alone after a failure. */
  busy: boolean;
}

/** Fetches an image's bytes. Rejects with an ImageError, also when the signal is aborted. */
export type FetchImage = (url: string, signal: AbortSignal) => Promise<Buffer>;

interface ImageQueueOptions {
  readonly fetch: FetchImage;
  readonly decoder: Decoder;
  readonly store: ImageStore;
  readonly log: Log;
  readonly intervals: Intervals;
  /** Whether a bot still refers to an image that waited. */
  readonly isWanted: (entry: ImageEntry) => boolean;
  /** Replaces the copy of an entry, which still has the old one. */
  readonly onCopy: (entry: ImageEntry, copy: ImageCopy) => Promise<void>;
  /** Called when an image has failed; its copy stays. */
  readonly onFailure: (entry: ImageEntry) => void;
}

const minuteMs = 60_000;

/** The times of the image cache. Milliseconds. */
export const defaultIntervals = {
  /** How old a copy gets before it is fetched again. */
  refresh: 90 * 24 * 60 * minuteMs,
  /** The wait after an image's first failure. It doubles with each failure, up to `lastRetry`. */
  firstRetry: minuteMs,
  lastRetry: 24 * 60 * minuteMs,
  /** How long a form waits for the images that it names. */
  formWait: 3_000,
  /** How often failed images are checked for a retry. */
  tick: 15_000,
  /** The pause after a host fails; it doubles too. */
  hostRest: 1_000,
  maxHostRest: 5 * minuteMs,
  /** The pause after an error of this machine, such as a full disk. */
  ownRest: minuteMs,
  /** The grace period of an entry, and then of its file, after the last bot that referred to it. */
  grace: 24 * 60 * minuteMs,
  round: 60 * minuteMs,
  save: 1_000,
  progress: 10_000,
};

export type Intervals = Readonly<typeof defaultIntervals>;

/** Fetches, decodes and stores the images that are due, and logs how far it is while there is work. */
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
      concurrency: maxFetches,
      work: async (entry) => await this.#work(entry),
      rest: { first: intervals.hostRest, max: intervals.maxHostRest },
    });
  }

  get left(): number {
    return this.#hosts.left;
  }

  /** Adds an image if it is due: without a copy or with an old one, and not failed a short time ago. */
  add(entry: ImageEntry, urgent: boolean): void {
    if (this.#closing.signal.aborted || entry.queued || !this.#isDue(entry)) return;
    entry.queued = true;
    this.#progress ??= setInterval(() => this.#logProgress(), this.#options.intervals.progress).unref();
    this.#hosts.add(hostOf(entry.url), entry, urgent);
  }

  /** Resolves when nothing is left. */
  async idle(): Promise<void> {
    await this.#hosts.idle();
  }

  /** Ends all work in progress except the decoder. */
  async close(): Promise<void> {
    this.#closing.abort();
    clearInterval(this.#progress);
    await this.#hosts.close();
  }

  #isDue({ copy, failure }: ImageEntry): boolean {
    const now = Date.now();
    if (failure) return failure.retryAt <= now;
    return copy === null || copy.fetchedAt + this.#options.intervals.refresh <= now;
  }

  /** Fetches an image. Returns whether its host works. */
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
      // A missing avatar is logged; an image in a page has its text instead.
      if (retry === 'never' && entry.kind === 'wide') this.#refuse(entry, messageOf(error));
      else this.#fail(entry, messageOf(error));
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

  /** Looks again when a copy would be old. */
  #refuse(entry: ImageEntry, message: string): void {
    const { log, intervals, onFailure } = this.#options;
    entry.failure = { count: 1, retryAt: Date.now() + intervals.refresh, message, since: null };
    onFailure(entry);
    log.debug({ url: entry.url, message }, `${entry.url} ${message}`);
  }

  #fail(entry: ImageEntry, message: string): void {
    const { log, intervals, onFailure } = this.#options;
    const count = (entry.failure?.count ?? 0) + 1;
    const now = Date.now();
    const retryAt = now + retryDelay(count, intervals);
    entry.failure = { count, retryAt, message, since: entry.failure?.since ?? now };
    this.#failed += 1;
    onFailure(entry);
    const fields = { url: entry.url, message, count, retryAt: new Date(retryAt).toISOString() };
    log.debug(fields, `${entry.url} ${message}`);
  }

  /** Waits before the same image is tried again, because the error is one of this machine and not of the image. */
  async #pause(message: string): Promise<void> {
    const { log, intervals } = this.#options;
    log.error(
      { error: message },
      `could not store an image: ${message}; check the folder of the image cache, retrying`,
    );
    await wait(intervals.ownRest, undefined, { signal: this.#closing.signal }).catch(() => {});
  }

  #logProgress(): void {
    const [fetched, failed, left] = [this.#fetched, this.#failed, this.left];
    const message = `image cache: ${fetched} fetched, ${failed} failed, ${left} left`;
    // The images of a host that fails may wait for days.
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

/** The maximum number of images fetched at a time; one per host. */
const maxFetches = 4;

/** `again`: an error of this machine, not of the image. */
type Result = 'done' | 'host failed' | 'again';

function hostOf(url: string): string {
  return parseUrl(url)?.host ?? '';
}

/** Returns the milliseconds until an image that failed `count` times is retried, varied by a quarter. */
export function retryDelay(count: number, { firstRetry, lastRetry }: Intervals): number {
  return computeBackoff(count, firstRetry, lastRetry) * (0.75 + Math.random() / 2);
}
