import { setTimeout as sleep } from 'node:timers/promises';
import { codeOf, ExplainedError, messageOf } from '../lib/errors.ts';
import { FailureLog } from '../lib/failure-log.ts';
import type { Log } from '../lib/log.ts';
import { computeBackoff } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { DatedFiles, parseFileTime } from './dated-files.ts';
import { type Notice, toWebhookBody } from './notice.ts';

export interface NotificationsOptions {
  /** Where notices wait, a file each. */
  readonly folder: string;
  /** What notices are posted to. Only its host is logged, as the rest is a secret. */
  readonly url: string;
  readonly log: Log;
  /** How many notices wait at most; 1,000 by default. */
  readonly maxWaiting?: number;
  /** The time limit of a request; 10 s by default. */
  readonly timeoutMs?: number;
  /** The wait after the first failure, which doubles with each one up to 5 minutes; 1 s by default. */
  readonly minDelayMs?: number;
}

/**
 * Sends notices to one address, one at a time, in their order. A notice waits in a file until the receiver has it, also
 * through a restart; after a crash it may arrive twice.
 */
export class Notifications {
  readonly #options: Required<NotificationsOptions>;
  readonly #failures: FailureLog;
  readonly #closing = new AbortController();
  readonly #writes = new SerialQueue(maxUnsaved);
  /** The notices that wait. */
  readonly #files: DatedFiles<true>;
  #isFull = false;
  #sending: Promise<void> | null = null;
  /** What the receiver said in its last response. */
  #retryAfterMs: number | undefined;

  constructor(options: NotificationsOptions) {
    this.#options = { maxWaiting: 1000, timeoutMs: 10_000, minDelayMs: 1000, ...options };
    const { host } = new URL(options.url);
    this.#failures = new FailureLog({
      log: options.log,
      failed: (message) => `could not send notices to ${host}: ${message}; they wait, retrying for 24 hours`,
      ended: `${host} takes notices again`,
    });
    const limits = { maxAgeMs: Number.POSITIVE_INFINITY, maxFiles: this.#options.maxWaiting };
    this.#files = new DatedFiles(options.folder, limits);
    this.#write(async () => await this.#files.load(() => true));
  }

  /** Has a notice sent. It is saved in the background; a failure is logged. */
  notify(notice: Notice): void {
    this.#write(async () => {
      const { log, maxWaiting } = this.#options;
      const isOneTooMany = this.#files.list().length >= maxWaiting;
      await this.#files.add(toWebhookBody(notice), true);
      if (isOneTooMany && !this.#isFull)
        log.warn({}, `more than ${maxWaiting} notices wait: the oldest are dropped`);
      this.#isFull ||= isOneTooMany;
    });
  }

  /** Stops sending: what waits is sent after the next start. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.allSettled([this.#writes.run(async () => {}), this.#sending]);
  }

  #write(work: () => Promise<void>): void {
    if (this.#closing.signal.aborted) return;
    this.#writes.run(work).then(
      () => {
        if (this.#files.list().length > 0) this.#sending ??= this.#sendAll();
      },
      (error: unknown) =>
        this.#options.log.error(
          { err: error },
          `could not keep notices in ${this.#options.folder}: ${messageOf(error)}; one is not sent`,
        ),
    );
  }

  /** Sends until nothing waits. */
  async #sendAll(): Promise<void> {
    const { minDelayMs } = this.#options;
    const { signal } = this.#closing;
    let failures = 0;
    for (let [first] = this.#files.list(); first; [first] = this.#files.list()) {
      try {
        await this.#sendOrDrop(first[0]);
        this.#failures.end();
        failures = 0;
      } catch (error) {
        if (signal.aborted) break;
        // What fetch throws says nothing; its cause does, and has a code only where a host has several addresses.
        const cause = error instanceof TypeError ? error.cause : error;
        const message = messageOf(cause) || String(codeOf(cause));
        // What the receiver said may have times in it.
        this.#failures.add(cause, message, message.replace(/".*/s, ''));
        const delay = this.#retryAfterMs ?? computeBackoff(++failures, minDelayMs, maxDelayMs);
        await sleep(Math.max(delay, minDelayMs), undefined, { signal }).catch(() => {});
      }
    }
    this.#isFull = false;
    this.#sending = null;
  }

  /** Sends a notice, or drops it. @throws where another attempt may succeed */
  async #sendOrDrop(name: string): Promise<void> {
    const time = parseFileTime(name);
    this.#retryAfterMs = undefined;
    const body = await this.#files.read(name);
    const isLate = Date.now() - time > maxAgeMs;
    const refusal = isLate ? '24 hours have passed' : body && (await this.#post(body));
    if (refusal !== undefined)
      this.#options.log.warn({}, `the notice of ${new Date(time).toISOString()} is dropped: ${refusal}`);
    await this.#files.delete([name]);
  }

  /** Returns how the receiver refused a notice for good; undefined where it has it now. @throws as #sendOrDrop */
  async #post(body: string): Promise<string | undefined> {
    const { url, timeoutMs } = this.#options;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body,
      redirect: 'error',
      signal: AbortSignal.any([this.#closing.signal, AbortSignal.timeout(timeoutMs)]),
    });
    const { ok, status, headers } = response;
    const said = await readStart(response).catch(() => '');
    if (ok) return undefined;
    // An error may repeat the address.
    const secrets = url.split(/[/?&=]/).filter((part) => part.length >= minSecretLength);
    const shown = secrets.reduce((text, secret) => text.replaceAll(secret, '…'), said);
    const message = `the response was ${status} ${JSON.stringify(shown.slice(0, maxShownLength))}`;
    if (status >= 400 && status < 500 && !passingStatuses.has(status)) return message;
    this.#retryAfterMs = parseRetryAfter(headers.get('Retry-After'));
    throw new ExplainedError(message);
  }
}

/** Those below 500 that pass: a time-out, too early, too many requests. */
const passingStatuses: ReadonlySet<number> = new Set([408, 425, 429]);

/** Notices that are not on the disk yet. */
const maxUnsaved = 1000;

const maxAgeMs = 86_400_000;
const maxDelayMs = 300_000;
const maxRetryAfterMs = 3_600_000;
const maxShownLength = 300;

/** Shorter parts of an address are words such as "webhooks". */
const minSecretLength = 12;

/** Returns the first piece of a response's body, and leaves the rest. */
async function readStart({ body }: Response): Promise<string> {
  for await (const chunk of body ?? []) return Buffer.from(chunk).toString();
  return '';
}

/** Returns the milliseconds of a Retry-After header, an hour at most: seconds, or a date of HTTP. */
export function parseRetryAfter(value: string | null): number | undefined {
  const ms = Number(value ?? Number.NaN) * 1000 || Date.parse(value ?? '') - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(ms, maxRetryAfterMs);
}
