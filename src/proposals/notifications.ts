import { maxFaults } from '../bot/validate.ts';
import type { Fault } from '../catalogue/page/fault.ts';
import { parseFilePath } from '../catalogue/page/layout.ts';
import { BotshelfError, codeOf, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { LogThrottle, computeBackoff, retry } from '../lib/retry.ts';
import { formatCount } from '../lib/text.ts';
import {
  type Proposal,
  isBot,
  isSentByBot,
  isSubmission,
  toProposalPath,
  toSubjectPath,
} from './proposal.ts';

export interface NotificationsOptions {
  /** The address to which notices are posted. Only its host is logged, because the rest is a secret. */
  readonly url: string;
  readonly log: Log;
  /** Milliseconds until a request must be complete; 10 s by default. */
  readonly timeoutMs?: number;
  /** Milliseconds to wait after the first failure, doubled after each further one; 10 s by default. */
  readonly minDelayMs?: number;
}

/** Sends notices to one address, one at a time and in order. Waiting notices are in memory, and lost when the process ends. */
export class Notifications {
  readonly #options: Required<NotificationsOptions>;
  readonly #waiting: Notice[] = [];
  readonly #drops = new LogThrottle();
  readonly #closing = new AbortController();
  #sending: Promise<void> | null = null;

  constructor(options: NotificationsOptions) {
    this.#options = { timeoutMs: 10_000, minDelayMs: 10_000, ...options };
  }

  /** Queues a notice. A failure is logged. */
  notify(notice: Notice): void {
    if (this.#waiting.length >= maxWaiting) {
      this.#waiting.shift();
      if (this.#drops.shouldLog('full'))
        this.#options.log.warn(
          {},
          `more than ${maxWaiting} notices wait: the oldest are dropped; see /review`,
        );
    }
    this.#waiting.push(notice);
    this.#sending ??= this.#sendAll();
  }

  /** Stops sending. Waiting notices are dropped, each with a line in the log. */
  async close(): Promise<void> {
    this.#closing.abort(new BotshelfError('request-failed', 'the service stops'));
    await this.#sending;
  }

  /** Sends notices until the queue is empty. */
  async #sendAll(): Promise<void> {
    const { url, log } = this.#options;
    const { signal } = this.#closing;
    for (let notice = this.#waiting.shift(); notice; notice = this.#waiting.shift()) {
      try {
        await this.#send(notice);
      } catch (error) {
        // `fetch` throws a generic TypeError; the useful error is its cause, which has no message if a host has
        // several addresses.
        const cause: unknown = signal.reason ?? (error instanceof TypeError ? error.cause : error);
        const message = messageOf(cause) || String(codeOf(cause));
        log.error(
          { err: cause },
          `could not send the notice about ${notice.url} to ${new URL(url).host}: ${message}; it is given up, see /review`,
        );
      }
    }
    this.#sending = null;
  }

  /** @throws the error of the last attempt */
  async #send(notice: Notice): Promise<void> {
    const { url, timeoutMs, minDelayMs } = this.#options;
    const { signal } = this.#closing;
    let response: Response | undefined;
    const post = async (): Promise<void> => {
      response = undefined;
      response = await fetch(url, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: toWebhookBody(notice),
        redirect: 'error',
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
      });
      void response.body?.cancel().catch(() => {});
      if (!response.ok) throw new BotshelfError('request-failed', `the response was ${response.status}`);
    };
    await retry(post, {
      maxAttempts,
      signal,
      isRetriable: () => !signal.aborted && !isRefusal(response?.status),
      delay: (attempt) => {
        const backoff = computeBackoff(attempt, minDelayMs, maxDelayMs);
        return Math.max(minDelayMs, parseRetryAfter(response?.headers.get('Retry-After')) ?? backoff);
      },
    });
  }
}

/** Returns whether a retry would get the same response. Time-outs, "too early" and "too many requests" are worth a retry. */
function isRefusal(status = 500): boolean {
  return status >= 400 && status < 500 && ![408, 425, 429].includes(status);
}

const maxWaiting = 100;
const maxAttempts = 5;
const maxDelayMs = 3_600_000;

/** Parses a Retry-After header, in seconds or as an HTTP date. Returns milliseconds, at most an hour. */
export function parseRetryAfter(value: string | null | undefined): number | undefined {
  const ms = Number(value ?? Number.NaN) * 1000 || Date.parse(value ?? '') - Date.now();
  return Number.isNaN(ms) ? undefined : Math.min(ms, maxDelayMs);
}

/** A message to the maintainers. */
export interface Notice {
  readonly kind: 'proposal' | 'decision' | 'fault' | 'report';
  readonly title: string;
  /** Plain text; may be empty. */
  readonly text: string;
  /** The page on which to act. */
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Returns the notice of a step of a proposal: to the reviewers about a submission, and about each decision. Null for a
 * withdrawal.
 * @param isReviewedHere false if the proposal is reviewed at the Git host, because then the review has no page of it
 */
export function createProposalNotice(
  proposal: Proposal,
  baseUrl: string,
  isReviewedHere: boolean,
): Notice | null {
  const { subject, proposer, state, reviewer, reason, text } = proposal;
  if (state === 'withdrawn') return null;
  const what = isBot(subject) ? `the bot ${subject}` : toSubjectPath(subject);
  const from = `the proposal of ${proposer.name} for ${what}`;
  const at = Date.now();
  if (isSubmission(proposal)) {
    const title = isSentByBot(proposal)
      ? `The bot ${proposer.name} (${proposer.id}) itself proposes a change of its page`
      : `${proposer.name} (${proposer.id}) proposes a change of ${what}`;
    const page = isReviewedHere ? `/${subject}/${proposer.id}` : '';
    return { kind: 'proposal', title, text, url: `${baseUrl}/review${page}`, at };
  }
  const decided = {
    accepted: 'Accepted',
    declined: 'Declined',
    'changes-asked': 'Changes asked for',
    waiting: 'Decision taken back',
  }[state];
  const title = `${decided}${reviewer === null ? '' : ` by ${reviewer.name}`}: ${from}`;
  const words = [reason ?? '', text].filter((part) => part !== '').join('\n');
  const page = state === 'accepted' ? toSubjectPath(subject) : toProposalPath(proposal);
  return { kind: 'decision', title, text: words, url: baseUrl + page, at };
}

/**
 * Formats a notice as JSON for Discord's webhooks, with mentions disabled
 * (https://discord.com/developers/docs/resources/webhook#execute-webhook). Other programs read the key `botshelf`;
 * Discord ignores unknown keys, although its documentation does not promise it.
 */
export function toWebhookBody(notice: Notice): string {
  const { url, at } = notice;
  const title = escapeMarkdown(notice.title.replaceAll(/\s+/g, ' '), 256);
  const description = escapeMarkdown(notice.text, 4096) || undefined;
  return JSON.stringify({
    content: `${title}\n<${url}>`.slice(0, 2000),
    embeds: [{ title, description, url, timestamp: new Date(at).toISOString() }],
    allowed_mentions: { parse: [] },
    botshelf: { ...notice, text: notice.text.slice(0, 4096) },
  });
}

/** Escapes markup, links and mentions of Discord. Returns at most `maxLength` characters. */
function escapeMarkdown(text: string, maxLength: number): string {
  let escaped = '';
  for (const character of text) {
    const piece = /[!-/:-@[-`{-~]/.test(character) ? `\\${character}` : character;
    if (escaped.length + piece.length >= maxLength) return `${escaped}…`;
    escaped += piece;
  }
  return escaped;
}

/**
 * Sends a notice when files become faulty: one for all files within a few seconds, because a merge may break many. A
 * file is reported once until it is fixed; files that are faulty at the call are not reported.
 * @param store lists the faults of all files
 * @returns a function that checks once more, and stops
 */
export function notifyFaults(
  store: { readonly faults: () => readonly Fault[] },
  baseUrl: string,
  notify: (notice: Notice) => void,
): () => void {
  let known: ReadonlySet<string> = new Set(store.faults().map(({ path }) => path));
  const look = (): void => {
    const faults = store.faults();
    const added = faults.filter(({ path }) => !known.has(path));
    known = new Set(faults.map(({ path }) => path));
    const [first, ...more] = new Set(added.map(({ path }) => path));
    if (first === undefined) return;
    const title =
      more.length > 0 ? `${formatCount(more.length + 1, 'file')} are faulty` : `${first} is faulty`;
    const lines = added.map(({ path, line, column, message }) => `${path}:${line}:${column}: ${message}`);
    const text = lines.slice(0, maxFaults).join('\n');
    const id = parseFilePath(first)?.id;
    const url = more.length > 0 || id === undefined ? baseUrl : `${baseUrl}/bots/${id}`;
    notify({ kind: 'fault', title, text, url, at: Date.now() });
  };
  const timer = setInterval(look, lookEveryMs).unref();
  return () => {
    clearInterval(timer);
    look();
  };
}

const lookEveryMs = 5000;
