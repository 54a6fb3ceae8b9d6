import { readFile, stat } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { writeAtomically } from '../lib/atomic-write.ts';
import { ignoreMissing, messageOf } from '../lib/errors.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import type { Log } from '../lib/log.ts';
import { readStrictJson } from '../lib/strict-json.ts';
import type { ImageConnector } from './connector.ts';
import { HostQueue } from './host-queue.ts';
import { ImageError } from './image-error.ts';

/** A link that did not work when it was last checked. Milliseconds since the epoch. */
export interface LinkFailure {
  /** The first of the failures in a row. */
  readonly since: number;
  readonly checkedAt: number;
  /** A sentence without its subject, the address. */
  readonly message: string;
}

export interface LinkCheckOptions {
  /** The file that keeps the failures between runs. It may be deleted. */
  readonly path: string;
  /** Closed with the check. */
  readonly connector: Pick<ImageConnector, 'probe' | 'close'>;
  /** Yields every link of the catalogue; one may come several times. */
  readonly listLinks: () => Iterable<string | null>;
  readonly log: Log;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  /** Shorter pauses after a request, for tests. Milliseconds. */
  readonly pauses?: { readonly usual: number; readonly platform: number };
}

/**
 * Requests each link once a week, in an hour that follows from its address, so that neither a start nor a large catalogue
 * makes a burst: one link of a host at a time, with a pause after each. Hours in which it does not run are left out.
 */
export class LinkCheck {
  readonly #options: LinkCheckOptions;
  readonly #now: () => number;
  /** By address. */
  #failures = new Map<string, LinkFailure>();
  /** The hour since the epoch whose links were queued last. */
  #hour = 0;
  readonly #closing = new AbortController();
  readonly #queue = new HostQueue<{ readonly url: string; readonly hour: number }>({
    concurrency: maxProbes,
    work: async ({ url, hour }) => {
      // What an hour had no time for waits for another week.
      if (hour === this.#hour) await this.#check(url);
      return true;
    },
    rest: { first: 0, max: 0 },
  });
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LinkCheckOptions) {
    this.#options = options;
    this.#now = options.now ?? Date.now;
  }

  /** The links that have failed for a week or longer, by address. */
  get failed(): ReadonlyMap<string, LinkFailure> {
    return pickFailed(this.#failures);
  }

  /** Reads what the last run has found, and queues the links of each hour from the next minute on. */
  async start(): Promise<void> {
    const { hour, failures } = await readState(this.#options.path);
    this.#failures = failures;
    // A clock that was ahead must not end the checks.
    this.#hour = Math.min(hour, toHour(this.#now()));
    if (this.#closing.signal.aborted) return;
    this.#timer = setInterval(() => void this.checkHour(), 60_000).unref();
  }

  /** Queues the links of this hour, unless they were. */
  async checkHour(): Promise<void> {
    const hour = toHour(this.#now());
    if (hour <= this.#hour) return;
    this.#hour = hour;
    const seen = new Set<string>();
    const add = (url: string | null): void => {
      if (url === null || seen.has(url)) return;
      const failure = this.#failures.get(url);
      const isDue = failure
        ? this.#now() - failure.checkedAt >= weekMs
        : crc32(url) % hoursPerWeek === hour % hoursPerWeek;
      if (isDue || failure) seen.add(url);
      // By chance, so that of a host with too many links others are left out each week.
      if (isDue) this.#queue.add(toHost(url), { url, hour }, Math.random() < 0.5);
    };
    await forEachInSlices(this.#options.listLinks(), add, 'service', this.#closing.signal);
    if (this.#closing.signal.aborted) return;
    for (const url of this.#failures.keys()) if (!seen.has(url)) this.#failures.delete(url);
    await this.#save();
  }

  /** Resolves when nothing is left of the hour. */
  async idle(): Promise<void> {
    await this.#queue.idle();
  }

  /** Ends what is in progress, and writes the file. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#queue.close();
    await this.#options.connector.close();
    if (this.#hour > 0) await this.#save();
  }

  async #check(url: string): Promise<void> {
    const message = await this.#findFailure(url);
    if (this.#closing.signal.aborted) return;
    const [failure, checkedAt] = [this.#failures.get(url), this.#now()];
    if (message === undefined) this.#failures.delete(url);
    else if (failure || this.#failures.size < maxFailures)
      this.#failures.set(url, {
        since: failure?.since ?? checkedAt,
        checkedAt,
        message: message.slice(0, maxMessageLength),
      });
    await this.#pause(url);
  }

  /** Returns what proves that a link does not work; undefined where nothing does. */
  async #findFailure(url: string): Promise<string | undefined> {
    const { connector } = this.#options;
    const probe = async (method: 'HEAD' | 'GET'): Promise<number> =>
      await connector.probe(url, method, isOnPlatform, this.#closing.signal);
    try {
      let status = await probe('HEAD');
      if ([403, 405, 501].includes(status)) {
        await this.#pause(url);
        status = await probe('GET');
      }
      return [404, 410].includes(status) || status >= 500 ? `has status ${status}` : undefined;
    } catch (error) {
      return error instanceof ImageError && error.retry === 'host' ? error.message : undefined;
    }
  }

  async #pause(url: string): Promise<void> {
    const { usual, platform } = this.#options.pauses ?? { usual: 1_000, platform: 10_000 };
    const { signal } = this.#closing;
    await sleep(isOnPlatform(url) ? platform : usual, undefined, { signal }).catch(() => {});
  }

  async #save(): Promise<void> {
    const { path, log } = this.#options;
    const text = JSON.stringify({ version: 1, hour: this.#hour, failures: [...this.#failures] });
    await writeAtomically(path, `${text}\n`, { fsync: 'none' }).catch((error: unknown) =>
      log.warn({ err: error }, `could not write ${path}: ${messageOf(error)}; retrying in an hour`),
    );
  }
}

/** Reads the links that have failed for a week or longer from the file of a link check, which need not exist. */
export async function readFailedLinks(path: string): Promise<ReadonlyMap<string, LinkFailure>> {
  return pickFailed((await readState(path)).failures);
}

function pickFailed(failures: ReadonlyMap<string, LinkFailure>): ReadonlyMap<string, LinkFailure> {
  return new Map([...failures].filter(([, { since, checkedAt }]) => checkedAt - since >= weekMs));
}

/** Reads the file; one that is missing, too large or of another format counts as empty. @throws a system error */
async function readState(path: string): Promise<{ hour: number; failures: Map<string, LinkFailure> }> {
  const { size } = (await ignoreMissing(stat(path))) ?? { size: 0 };
  const json = readStrictJson(size > maxFileBytes || size === 0 ? '{}' : await readFile(path, 'utf8'), path);
  const { version, hour, failures } = 'data' in json ? json.data : {};
  return version === 1 && isTime(hour) && Array.isArray(failures) && failures.every(isEntry)
    ? { hour, failures: new Map(failures.slice(0, maxFailures)) }
    : { hour: 0, failures: new Map() };
}

function isEntry(entry: unknown): entry is [string, LinkFailure] {
  const [url, failure] = Array.isArray(entry) ? (entry as unknown[]) : [];
  const { since, checkedAt, message } = { ...(failure as Partial<LinkFailure> | null | undefined) };
  return typeof url === 'string' && isTime(since) && isTime(checkedAt) && typeof message === 'string';
}

function isTime(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function toHour(time: number): number {
  return Math.floor(time / msPerHour);
}

/** Whether a link is to a chat platform, which limits requests. A redirect to it is not followed. */
function isOnPlatform(url: string): boolean {
  return platforms.has(toHost(url));
}

/** Returns the host of a link; all of a platform are one. */
function toHost(url: string): string {
  const hostname = new URL(url).hostname.replace(/\.$/, '');
  const domain = hostname.split('.').slice(-2).join('.');
  return platforms.has(domain) ? domain : hostname;
}

const platforms: ReadonlySet<string> = new Set(['discord.com', 'discordapp.com', 'discord.gg']);

/** Links that are requested at once; one per host. */
const maxProbes = 4;

/** Failures that are kept. Others are noted once some of these are over. */
const maxFailures = 10_000;
const maxMessageLength = 200;
const maxFileBytes = 32 * 2 ** 20;

const msPerHour = 3_600_000;
const hoursPerWeek = 7 * 24;
const weekMs = hoursPerWeek * msPerHour;
