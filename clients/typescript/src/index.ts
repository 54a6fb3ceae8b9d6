import type { BotListElement, BotRecord, ListQuery, Problem, UpdateAnswer, UpdateValues } from './api.ts';

export type * from './api.ts';

export interface ClientOptions {
  /** The address of the list, such as `https://bots.example.org`. */
  readonly baseUrl: string;
  /** How long a request may take, with its response; 10,000 milliseconds. */
  readonly timeoutMs?: number;
}

export interface Client {
  /** Returns a bot with its pages. @throws {BotshelfError} */
  read(id: string): Promise<BotRecord>;
  /** Yields all bots of a query, without their pages. `limit` is how many a request returns. @throws {BotshelfError} */
  list(query?: Omit<ListQuery, 'fields'>): AsyncGenerator<BotListElement, void, undefined>;
  /** Changes a bot: all of the values or none. What is returned is saved. @throws {BotshelfError} */
  post(id: string, token: string, values: UpdateValues): Promise<UpdateAnswer>;
}

export interface AutopostOptions extends ClientOptions {
  readonly id: string;
  /** The token of the bot. It is in no error. */
  readonly token: string;
  /** Returns in how many servers the bot is, or undefined where that is not known yet. */
  readonly count: () => number | undefined | Promise<number | undefined>;
  /** Milliseconds between two looks at the count; half an hour. Up to a tenth more passes, so that bots take turns. */
  readonly intervalMs?: number;
  /** Whether the process stays alive for the next post. */
  readonly keepAlive?: boolean;
  /** Is called after a post. */
  readonly onPost?: (count: number) => unknown;
  /** Is called when a post fails, or `count` does; prints the message where it is left out. */
  readonly onError?: (error: unknown) => unknown;
}

export interface Autopost {
  /** Resolves when nothing is in flight and nothing will be. */
  stop(): Promise<void>;
}

/** Why a request failed. */
export class BotshelfError extends Error {
  override readonly name = 'BotshelfError';
  /** The HTTP status; undefined where no response came. */
  readonly status: number | undefined;
  /** How long the service asks to wait before the next request, at most an hour. */
  readonly retryAfterMs: number;
  /** Whether the same request fails again until somebody changes something, such as the token. */
  readonly isFinal: boolean;

  constructor(message: string, { status, retryAfterMs = 0, isFinal = false }: ErrorDetails = {}) {
    super(message);
    this.status = status;
    this.retryAfterMs = retryAfterMs;
    this.isFinal = isFinal;
  }
}

interface ErrorDetails {
  readonly status?: number;
  readonly retryAfterMs?: number;
  readonly isFinal?: boolean;
}

/** Returns a client of a list of bots. */
export function createClient({ baseUrl, timeoutMs = 10_000 }: ClientOptions): Client {
  const address = `${baseUrl.replace(/\/+$/, '')}/api/v2/bots`;
  const toBotAddress = (id: string): string => `${address}/${encodeURIComponent(id)}`;
  return {
    read: async (id) => (await request(toBotAddress(id), timeoutMs)).json as BotRecord,
    async *list(query = {}) {
      let search: string | undefined = formatQuery({ limit: 100, ...query });
      while (search !== undefined) {
        const { json, headers } = await request(address + search, timeoutMs);
        yield* json as BotListElement[];
        // Only the query is followed, so that no response leads to another address.
        search = /<[^>?]*(\?[^>]*)>; *rel="?next\b/.exec(headers.get('Link') ?? '')?.[1];
      }
    },
    post: async (id, token, values) => {
      const secret = token?.trim() ?? '';
      if (!/^[!-~]+$/.test(secret))
        throw new BotshelfError('the token is empty or incomplete: set it as it was issued', {
          isFinal: true,
        });
      const headers = { Authorization: secret, 'Content-Type': 'application/json' };
      const init = { method: 'POST', headers, body: JSON.stringify({ bot: values }) };
      return (await request(toBotAddress(id), timeoutMs, init, secret)).json as UpdateAnswer;
    },
  };
}

/**
 * Posts a bot's count now, and from then on when it has changed or an hour has passed. Never throws: a failure is told to
 * `onError` and retried, later each time. Ends by itself where the service refuses the token or does not know the bot.
 */
export function autopost(options: AutopostOptions): Autopost {
  const { id, token, count, keepAlive = false, timeoutMs = 10_000 } = options;
  const { onPost = () => {}, onError = printError, intervalMs = defaultIntervalMs } = options;
  const everyMs = intervalMs > 0 ? Math.min(intervalMs, msPerDay) : defaultIntervalMs;
  const stopping = new AbortController();
  const { signal } = stopping;
  /** Resolves after a time, when it is stopped, or when something else is over. */
  const wait = async (ms: number, other?: Promise<unknown>): Promise<void> =>
    await new Promise((resolve) => {
      const end = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer = setTimeout(end, ms);
      // Browsers have a number here.
      if (!keepAlive) (timer as { unref?: () => void }).unref?.();
      signal.addEventListener('abort', end);
      if (signal.aborted) end();
      other?.then(end, end);
    });
  const readCount = async (): Promise<number | undefined> => {
    const counted = (async () => await count())();
    await wait(timeoutMs, counted);
    const late = new Error(`count() took longer than ${timeoutMs} ms`);
    return await Promise.race([counted, signal.aborted ? undefined : Promise.reject(late)]);
  };
  const run = async (): Promise<void> => {
    let posted = { count: -1, at: 0 };
    let failures = 0;
    while (!signal.aborted) {
      let waitMs = Math.min(everyMs, firstBackOffMs);
      try {
        const now = await readCount();
        if (now !== undefined) waitMs = everyMs * (1 + Math.random() / 10);
        const isDue = now !== posted.count || performance.now() - posted.at >= msPerHour;
        if (now !== undefined && isDue && !signal.aborted) {
          await createClient(options).post(id, token, { count: now });
          posted = { count: now, at: performance.now() };
          call(() => onPost(now));
        }
        failures = 0;
      } catch (error) {
        call(() => onError(error));
        const { isFinal = false, retryAfterMs = 0 } = error instanceof BotshelfError ? error : {};
        if (isFinal) return;
        const backOffMs = Math.min(everyMs, firstBackOffMs * 2 ** failures++);
        waitMs = Math.max(retryAfterMs, backOffMs) * (1 + Math.random() / 2);
      }
      await wait(waitMs);
    }
  };
  const ended = run();
  return {
    stop: async () => {
      stopping.abort();
      await ended;
    },
  };
}

const msPerHour = 3_600_000;
const msPerDay = 24 * msPerHour;
const defaultIntervalMs = msPerHour / 2;
const firstBackOffMs = 5_000;
const maxDetailLength = 500;

/** Calls a function of the caller's, which may fail as it likes. */
function call(callback: () => unknown): void {
  void (async () => await callback())().catch(() => {});
}

function printError(error: unknown): void {
  const { message = String(error), isFinal = false } = error as Partial<BotshelfError>;
  console.error(`The count was not posted${isFinal ? ', and will not be' : ''}: ${message}`);
}

function formatQuery(query: ListQuery): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [[name, String(one)]])),
  );
  return `?${String(new URLSearchParams(pairs))}`;
}

/** Sends a request and reads its response. @param secret is in no error @throws {BotshelfError} */
async function request(
  address: string,
  timeoutMs: number,
  init: RequestInit = {},
  secret = '',
): Promise<{ readonly json: unknown; readonly headers: Headers }> {
  const fail = (reason: string, details: ErrorDetails = {}): BotshelfError => {
    const hidden = secret === '' ? reason : reason.replaceAll(secret, '(the token)');
    return new BotshelfError(
      `${init.method ?? 'GET'} ${address}: ${hidden.slice(0, maxDetailLength)}`,
      details,
    );
  };
  let response: Response;
  let text: string;
  try {
    // A redirect would take the token elsewhere, or make a GET of a POST.
    response = await fetch(address, { ...init, redirect: 'error', signal: AbortSignal.timeout(timeoutMs) });
    text = await response.text();
  } catch (error) {
    const { message, cause } = error as Error & { readonly cause?: { message?: string; code?: string } };
    throw fail(`no response: ${cause?.message || cause?.code || message}`);
  }
  const { status, headers, ok } = response;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    json = undefined;
  }
  if (ok && json !== undefined) return { json, headers };
  // What stands between may say 404 or 401, too, for as long as it is not well.
  const isProblem = headers.get('Content-Type')?.startsWith('application/problem+json') ?? false;
  const { detail = response.statusText } = (isProblem && json ? json : {}) as Partial<Problem>;
  const isFinal = isProblem && [401, 403, 404].includes(status);
  const retryAfterMs = readRetryAfter(headers.get('Retry-After'));
  throw fail(ok ? 'the response is not JSON: is this the address of the list?' : `${status} ${detail}`, {
    status,
    retryAfterMs,
    isFinal,
  });
}

/** Reads the seconds or the date of a `Retry-After` header (RFC 9110, section 10.2.3) as milliseconds from now. */
function readRetryAfter(value: string | null): number {
  const ms = /^\d+$/.test(value?.trim() ?? '') ? Number(value) * 1000 : Date.parse(value ?? '') - Date.now();
  return Math.min(Math.max(ms || 0, 0), msPerHour);
}
