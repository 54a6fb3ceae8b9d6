import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import { crc32 } from 'node:zlib';
import { writeAtomically } from '../lib/atomic-write.ts';
import { ignoreMissing, messageOf } from '../lib/errors.ts';
import type { Failure } from '../lib/failure-log.ts';
import { forEachInSlices } from '../lib/in-slices.ts';
import type { Log } from '../lib/log.ts';
import { readStrictJson } from '../lib/strict-json.ts';
import type { ImageConnector } from './connector.ts';
import { HostQueue } from './host-queue.ts';
import { ImageError } from './image-error.ts';

export interface LinkCheckOptions {
  /** The file that keeps the failures between runs. It may be deleted. */
  readonly path: string;
  /** Closed with the check. */
  readonly connector: Pick<ImageConnector, 'probe' | 'close'>;
  /** Yields every link of the catalogue; one may come several times. */
  readonly listLinks: () => Iterable<string>;
  readonly log: Log;
  /** Milliseconds after a request before the next one to the host: a second, and less in tests. */
  readonly pauseMs?: number;
}

/**
 * Requests each link once a week, in an hour that follows from its address, so that neither a start nor a large catalogue
 * makes a burst: one link of a host at a time, with a pause after each. An hour in which it does not run, or in which links of
 * an earlier one still wait, is left out. So are links to Discord, which has a page for any address.
 */
export class LinkCheck {
  readonly #options: LinkCheckOptions;
  #state: LinkState = { hour: 0, failures: new Map() };
  readonly #closing = new AbortController();
  readonly #queue = new HostQueue<string>({
    concurrency: maxProbes,
    work: async (url) => {
      await this.#check(url);
      return true;
    },
    rest: { first: 0, max: 0 },
  });
  #timer: NodeJS.Timeout | undefined;

  constructor(options: LinkCheckOptions) {
    this.#options = options;
  }

  /** Returns the links that failed twice in a row, by address. */
  failures(): ReadonlyMap<string, Failure> {
    return pickRepeated(this.#state);
  }

  /** Reads what the last run has found, and checks the links of each hour from the next minute on. */
  async start(): Promise<void> {
    this.#state = await readState(this.#options.path);
    this.#timer = setInterval(() => void this.checkHour(), 60_000).unref();
  }

  /** Checks the links of this hour, unless they were, or others are being checked. */
  async checkHour(): Promise<void> {
    const { signal } = this.#closing;
    const { hour, failures } = this.#state;
    const now = Math.floor(Date.now() / 3_600_000);
    if (now === hour || this.#queue.left > 0) return;
    this.#state.hour = now;
    const isDue = (url: string): boolean => crc32(url) % hoursPerWeek === now % hoursPerWeek;
    const due = new Set<string>();
    const add = (url: string): void => {
      if (isDue(url) && !discord.test(new URL(url).hostname)) due.add(url);
    };
    await forEachInSlices(this.#options.listLinks(), add, 'service', signal);
    if (signal.aborted) return;
    for (const url of failures.keys()) if (isDue(url) && !due.has(url)) failures.delete(url);
    for (const url of due) this.#queue.add(new URL(url).hostname, url, false);
    await this.#queue.idle();
    if (!signal.aborted) await this.#save();
  }

  /** Ends what is in progress, and writes the file. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#closing.abort();
    await this.#queue.close();
    await this.#options.connector.close();
    if (this.#state.hour > 0) await this.#save();
  }

  async #check(url: string): Promise<void> {
    const { failures } = this.#state;
    const { signal } = this.#closing;
    const message = await this.#options.connector.probe(url, signal).then(
      (status) => ([404, 410].includes(status) || status >= 500 ? `has status ${status}` : undefined),
      (error: unknown) => (error instanceof ImageError && error.retry === 'host' ? error.message : undefined),
    );
    if (signal.aborted) return;
    const { since } = failures.get(url) ?? {};
    const isRepeated = since !== undefined;
    if (message === undefined) failures.delete(url);
    else if (isRepeated || failures.size < maxFailures)
      failures.set(url, {
        since: since ?? Date.now(),
        message: message.slice(0, maxMessageLength),
        isRepeated,
      });
    await sleep(this.#options.pauseMs ?? 1_000, undefined, { signal }).catch(() => {});
  }

  async #save(): Promise<void> {
    const { path, log } = this.#options;
    const { hour, failures } = this.#state;
    const text = JSON.stringify({ version: 1, hour, failures: [...failures] });
    await writeAtomically(path, `${text}\n`, { fsync: 'none' }).catch((error: unknown) =>
      log.warn({ err: error }, `could not write ${path}: ${messageOf(error)}; retrying in an hour`),
    );
  }
}

/** Reads the links that failed twice in a row from the file of a link check, which need not exist. */
export async function readFailedLinks(path: string): Promise<ReadonlyMap<string, Failure>> {
  return pickRepeated(await readState(path));
}

interface LinkState {
  /** The hour since the epoch whose links were checked last. */
  hour: number;
  /** By address. */
  readonly failures: Map<string, LinkFailure>;
}

interface LinkFailure extends Failure {
  readonly isRepeated: boolean;
}

function pickRepeated({ failures }: LinkState): ReadonlyMap<string, Failure> {
  return new Map([...failures].filter(([, { isRepeated }]) => isRepeated));
}

/** Reads the file; one that is missing or of another format counts as empty. @throws a system error */
async function readState(path: string): Promise<LinkState> {
  const json = readStrictJson((await ignoreMissing(readFile(path, 'utf8'))) ?? '{}', path);
  const { version, hour, failures } = 'data' in json ? json.data : {};
  const isOwn = version === 1 && Array.isArray(failures) && failures.every(isEntry);
  return isOwn ? { hour: Number(hour), failures: new Map(failures) } : { hour: 0, failures: new Map() };
}

function isEntry(entry: unknown): entry is [string, LinkFailure] {
  const [url, failure] = (Array.isArray(entry) ? entry : []) as unknown[];
  const { since, message } = (failure ?? {}) as Partial<Record<string, unknown>>;
  return (
    typeof url === 'string' && URL.canParse(url) && typeof since === 'number' && typeof message === 'string'
  );
}

const discord = /(?:^|\.)discord(?:app)?\.(?:com|gg)\.?$/;

/** Links that are requested at once; one per host. */
const maxProbes = 4;

/** Failures that are kept. Others are noted once some of these are over. */
const maxFailures = 10_000;
const maxMessageLength = 200;
const hoursPerWeek = 7 * 24;
