import type {
  BotListElement,
  BotListPart,
  BotRecord,
  BotStats,
  CatalogueChanges,
  CommandsAnswer,
  ExportLine,
  LatestCount,
  ListQuery,
  PageAnswer,
  Problem,
  UpdateAnswer,
  UpdateValues,
} from './api.ts';

export type * from './api.ts';

export interface ClientOptions {
  /** The address of the list, such as `https://bots.example.org`. */
  readonly baseUrl: string;
  /** How long a request may take, with its response; 10,000 milliseconds. Of an export: until its next bytes. */
  readonly timeoutMs?: number;
  /** Names your program and how to reach you, such as `my-stats/1.0 (ops@example.org)`. Browsers do not send it. */
  readonly userAgent?: string;
}

/** A list of bots. A read that fails in passing is tried three times. */
export interface Client {
  /** Returns a bot with its pages. @throws {BotshelfError} */
  read(id: string): Promise<BotRecord>;
  /** Returns the latest count of a bot: both values are null without one. @throws {BotshelfError} */
  stats(id: string): Promise<BotStats>;
  /**
   * Yields the bots of a query, without their pages: all, or `limit` of them; with `fields`, each has those keys only.
   * @throws {BotshelfError}
   */
  list(query: ListQuery & { fields: string }): AsyncGenerator<BotListPart, void, undefined>;
  list(query?: ListQuery & { fields?: undefined }): AsyncGenerator<BotListElement, void, undefined>;
  /** Returns the latest counts by bot: all, those of `ids`, or those reported later than `since`. @throws {BotshelfError} */
  counts(query?: CountsQuery): Promise<Record<string, LatestCount>>;
  /** Returns all bots with their pages and files, which are read as they come. @throws {BotshelfError} */
  export(): Promise<Export>;
  /**
   * Yields what changes, page by page and without end, and retries what fails. A page is yielded once: keep its `next` after
   * you processed it, and pass it as `since` when your program starts again.
   * @throws {BotshelfError} with status 410 if the history was rewritten: export again
   */
  changes(options?: ChangesOptions): AsyncGenerator<CatalogueChanges, void, undefined>;
  /** Changes a bot: all of the values or none. What is returned is saved. @throws {BotshelfError} */
  post(id: string, token: string | undefined, values: UpdateValues): Promise<UpdateAnswer>;
  /** Puts the commands of a bot in place of those it had. What is returned is saved. @throws {BotshelfError} */
  putCommands(id: string, token: string | undefined, commands: Commands): Promise<CommandsAnswer>;
  /** Sends a page, which waits for a review unless the list publishes it. @throws {BotshelfError} */
  putPage(id: string, token: string | undefined, page: SentPage): Promise<PageAnswer>;
}

/** A page of a bot. */
export interface SentPage {
  /** Its language, such as `en`. */
  readonly locale: string;
  /** The text, in markdown. */
  readonly text: string;
  /** What the bot does, in a sentence; the list keeps what it has by default. */
  readonly description?: string | undefined;
}

export interface CountsQuery {
  readonly since?: string | undefined;
  readonly ids?: readonly string[] | undefined;
}

/** Commands as Discord's API or discord.js has them: a list, or a collection by id. */
export interface Commands {
  values(): Iterable<unknown>;
}

export interface Export {
  /** Where the changes after the export begin; undefined if the list cannot read its history. */
  readonly cursor: string | undefined;
  readonly bots: AsyncGenerator<ExportLine, void, undefined>;
}

export interface ChangesOptions {
  /** The cursor after which the changes begin, from an export or a page of changes; without it they begin now. */
  readonly since?: string | undefined;
  /** Only these bots, at most 100; all if left out. */
  readonly ids?: readonly string[];
  /** Milliseconds between two requests; five minutes. Up to a tenth more passes. */
  readonly intervalMs?: number;
  /** Ends the changes when it aborts. */
  readonly signal?: AbortSignal;
  /** Is called when a request fails that is retried; prints the message by default. */
  readonly onError?: (error: unknown) => unknown;
}

export interface AutopostOptions extends ClientOptions {
  readonly id: string;
  /** The token of the bot. It is in no error. */
  readonly token?: string | undefined;
  /** Returns in how many servers the bot is, or undefined where that is not known yet. */
  readonly count: () => number | undefined | Promise<number | undefined>;
  /** Returns the commands of the bot, which are posted where they have changed since. */
  readonly commands?: () => Commands | Promise<Commands>;
  /** Milliseconds between two looks at the count; half an hour. Up to a tenth more passes, so that bots take turns. */
  readonly intervalMs?: number;
  /** Whether the process stays alive for the next post. */
  readonly keepAlive?: boolean;
  /** Is called after a post. */
  readonly onPost?: (count: number) => unknown;
  /**
   * Is called when a post fails, or `count` or `commands` does; prints the message where it is left out. After a final
   * error the next post is an hour later, and the message says so.
   */
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
  /** The type of the problem, such as `urn:botshelf:problem:bad-token`; undefined if the service did not send the response. */
  readonly type: string | undefined;
  /** Each mistake of the request. */
  readonly errors: NonNullable<Problem['errors']>;
  /** The id that the log of the service has for this error. */
  readonly requestId: string | undefined;
  /** How long the service asks to wait before the next request, at most an hour. */
  readonly retryAfterMs: number;
  /** Whether the same request fails again until somebody changes something, such as the token. */
  readonly isFinal: boolean;

  constructor(message: string, details: ErrorDetails = {}) {
    super(message);
    this.status = details.status;
    this.type = details.type;
    this.errors = details.errors ?? [];
    this.requestId = details.requestId;
    this.retryAfterMs = details.retryAfterMs ?? 0;
    this.isFinal = details.isFinal ?? false;
  }

  /** Whether the bot is not listed, or no longer. A 404 of a proxy does not say so. */
  get isRemoved(): boolean {
    return /:(?:unknown|removed)-bot$/.test(this.type ?? '');
  }
}

type ErrorDetails = {
  readonly [Key in 'status' | 'type' | 'errors' | 'requestId' | 'retryAfterMs' | 'isFinal']?:
    | BotshelfError[Key]
    | undefined;
};

/** Returns a client of a list of bots. */
export function createClient(options: ClientOptions): Client {
  const api = `${options.baseUrl.replace(/\/+$/, '')}/api/v2`;
  const toBotAddress = (id: string): string => `${api}/bots/${encodeURIComponent(id)}`;
  const read = async (address: string, isExpected: IsExpected): Promise<Received> =>
    await retry(async () => await request(options, address, isExpected));
  return {
    read: async (id) => (await read(toBotAddress(id), has('contents'))).json as BotRecord,
    stats: async (id) => (await read(`${toBotAddress(id)}/stats`, has('server_count'))).json as BotStats,
    async *list({ limit = Number.POSITIVE_INFINITY, ...query }: ListQuery = {}) {
      // It may be a BigInt where types are not checked.
      let left = Number(`${limit}`);
      let search: string | undefined = formatQuery({ ...query, limit: Math.min(left, 100) });
      while (search !== undefined) {
        const { json, headers } = await read(`${api}/bots${search}`, Array.isArray);
        const bots = (json as BotListElement[]).slice(0, left);
        yield* bots;
        left -= bots.length;
        // Only the query is followed, so that no response leads to another address.
        const next = /<[^>?]*(\?[^>]*)>; *rel="?next\b/.exec(headers.get('Link') ?? '')?.[1];
        search = left > 0 ? next : undefined;
      }
    },
    counts: async (query = {}) =>
      (await read(`${api}/counts${formatQuery(query)}`, areCounts)).json as Record<string, LatestCount>,
    export: async () => await retry(async () => await startExport(options, `${api}/export.ndjson`)),
    async *changes({
      since,
      ids,
      intervalMs = 0,
      signal,
      onError = printError('The changes were not read'),
    } = {}) {
      const everyMs = toIntervalMs(intervalMs, msPerHour / 12);
      let cursor = since;
      let failures = 0;
      for (;;) {
        if (signal?.aborted) return;
        let page: CatalogueChanges | undefined;
        let waitMs = everyMs * (1 + Math.random() / 10);
        try {
          const address = `${api}/changes${formatQuery({ since: cursor, ids })}`;
          page = (await request(options, address, has('changes', 'next'))).json as CatalogueChanges;
          if (page.more) waitMs = 0;
          failures = 0;
        } catch (error) {
          const { isFinal, status, retryAfterMs } = error as BotshelfError;
          // No request of ours makes a 404: the service is not there for a while.
          if (isFinal && status !== 404) throw error;
          call(() => onError(error));
          waitMs = toBackOffMs(everyMs, failures++, retryAfterMs);
        }
        if (page !== undefined && page.next !== cursor) {
          yield page;
          cursor = page.next;
        }
        await wait(waitMs, signal);
      }
    },
    post: async (id, token, values) => {
      const body = toJson(() => ({ bot: values }));
      const sent = { method: 'POST', token, body } as const;
      return (await write(options, toBotAddress(id), has('bot'), sent)) as UpdateAnswer;
    },
    putCommands: async (id, token, commands) => {
      const sent = { method: 'PUT', token, body: formatCommands(commands) } as const;
      const address = `${toBotAddress(id)}/commands`;
      return (await write(options, address, has('commands'), sent)) as CommandsAnswer;
    },
    putPage: async (id, token, { locale, text, description }) => {
      const body = `---\n${toJson(() => ({ description }))}\n---\n\n${text}\n`;
      const sent = { method: 'PUT', token, body, type: 'text/markdown' } as const;
      const address = `${toBotAddress(id)}/pages/${encodeURIComponent(locale)}`;
      return (await write(options, address, has('state'), sent)) as PageAnswer;
    },
  };
}

/** Whether JSON is what the list sends; other JSON is from a server in between. Undefined is no JSON. */
type IsExpected = (json: unknown) => boolean;

/** Returns whether a value is an object with these keys. */
function has(...keys: readonly string[]): (value: unknown) => boolean {
  return (value) => typeof value === 'object' && value !== null && keys.every((key) => key in value);
}

const areCounts: IsExpected = (json) => has()(json) && Object.values(json as object).every(has('reportedAt'));

/** Calls a read again that failed in passing. @throws {BotshelfError} of the last attempt */
async function retry<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await read();
    } catch (error) {
      const { isFinal, retryAfterMs } = toDetails(error);
      if (isFinal || attempt === maxAttempts || retryAfterMs > maxRetryAfterMs) throw error;
      await wait(Math.max(retryAfterMs, attempt * 500) * (1 + Math.random() / 2));
    }
  }
}

const maxAttempts = 3;
const maxRetryAfterMs = 10_000;

/** Returns a value as JSON. @throws {BotshelfError} for a value that JSON does not have */
function toJson(create: () => unknown): string {
  try {
    return JSON.stringify(create());
  } catch (error) {
    const reason = `this cannot be sent as JSON: ${(error as Error).message}`;
    throw new BotshelfError(reason, { isFinal: true });
  }
}

/** @throws {BotshelfError} */
async function write(
  options: ClientOptions,
  address: string,
  isExpected: IsExpected,
  {
    method,
    token,
    body,
    type = 'application/json',
  }: { method: 'POST' | 'PUT'; token: unknown; body: string; type?: string },
): Promise<unknown> {
  const secret = typeof token === 'string' ? token.trim() : '';
  if (!/^[!-~]+$/.test(secret))
    throw new BotshelfError('the token is empty or incomplete: set it as it was issued', { isFinal: true });
  const headers = { Authorization: secret, 'Content-Type': type };
  return (await request(options, address, isExpected, { method, headers, body }, secret)).json;
}

/** Returns commands as JSON with the keys that the list keeps, which discord.js spells in another way. */
function formatCommands(commands: Commands): string {
  const pick = (value: unknown): object => {
    const given = value as Readonly<Record<string, unknown>>;
    const { type, name, description, nsfw, required, options } = given;
    return {
      type,
      name,
      description,
      nsfw,
      required,
      name_localizations: given['name_localizations'] ?? given['nameLocalizations'],
      description_localizations: given['description_localizations'] ?? given['descriptionLocalizations'],
      options: Array.isArray(options) ? options.map(pick) : undefined,
    };
  };
  return toJson(() => [...commands.values()].map(pick));
}

/**
 * Posts a bot's count now, and from then on when it has changed or an hour has passed, and its commands where they have
 * changed. Never throws and never ends by itself: a failure is told to `onError` and retried, later each time; after an
 * hour if the service refuses the token or does not know the bot.
 */
export function autopost(options: AutopostOptions): Autopost {
  const { id, token, count, commands, keepAlive = false, timeoutMs = defaultTimeoutMs } = options;
  const { onPost = () => {}, onError = printError('The count was not posted'), intervalMs = 0 } = options;
  const everyMs = toIntervalMs(intervalMs, msPerHour / 2);
  const stopping = new AbortController();
  const { signal } = stopping;
  const ask = async <T>(name: string, get: () => T | Promise<T>): Promise<T | undefined> => {
    const got = (async () => await get())();
    await wait(timeoutMs, signal, keepAlive, got);
    const late = new Error(`${name}() took longer than ${timeoutMs} ms`);
    return await Promise.race([got, signal.aborted ? undefined : Promise.reject(late)]);
  };
  /** Tells of an error. Returns how long to wait at least: what is wrong may be the service for a moment. */
  const report = (error: unknown): number => {
    const { isFinal, retryAfterMs } = toDetails(error);
    if (!isFinal) call(() => onError(error));
    else call(() => onError(toPostponed(error as BotshelfError)));
    return isFinal ? msPerHour * (0.9 + Math.random() / 5) : retryAfterMs;
  };
  let postedCommands = '';
  let commandsDueAt = 0;
  const postCommands = async (): Promise<void> => {
    const now = commands && (await ask('commands', commands));
    const text = now === undefined ? '' : formatCommands(now);
    if (now === undefined || text === postedCommands || signal.aborted) return;
    if (performance.now() < commandsDueAt) return;
    await createClient(options).putCommands(id, token, now);
    postedCommands = text;
  };
  const run = async (): Promise<void> => {
    let posted = { count: -1, at: 0 };
    let failures = 0;
    while (!signal.aborted) {
      let waitMs = Math.min(everyMs, firstBackOffMs);
      try {
        const now = await ask('count', count);
        if (now !== undefined) waitMs = everyMs * (1 + Math.random() / 10);
        const isDue = now !== posted.count || performance.now() - posted.at >= msPerHour;
        if (now !== undefined && isDue && !signal.aborted) {
          await createClient(options).post(id, token, { count: now });
          posted = { count: now, at: performance.now() };
          call(() => onPost(now));
        }
        failures = 0;
        // A later look tries again: counts do not depend on them.
        if (now !== undefined)
          await postCommands().catch((error: unknown) => {
            commandsDueAt = performance.now() + report(error);
          });
      } catch (error) {
        const leastMs = report(error);
        waitMs = toDetails(error).isFinal ? leastMs : toBackOffMs(everyMs, failures++, leastMs);
      }
      await wait(waitMs, signal, keepAlive);
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

/** Returns a final error that says when the next attempt is. */
function toPostponed(error: BotshelfError): BotshelfError {
  const { message, status, type, errors, requestId, isFinal } = error;
  const details = { status, type, errors, requestId, isFinal, retryAfterMs: msPerHour };
  return new BotshelfError(`${message}; the next attempt is in an hour`, details);
}

function toDetails(error: unknown): Pick<BotshelfError, 'isFinal' | 'retryAfterMs'> {
  return error instanceof BotshelfError ? error : { isFinal: false, retryAfterMs: 0 };
}

const msPerHour = 3_600_000;
const msPerDay = 24 * msPerHour;
const firstBackOffMs = 5_000;
const maxDetailLength = 500;

function toIntervalMs(intervalMs: number, defaultMs: number): number {
  return intervalMs > 0 ? Math.min(intervalMs, msPerDay) : defaultMs;
}

/** Returns how long to wait after a failure, the longer the more there were before it. */
function toBackOffMs(everyMs: number, failures: number, retryAfterMs: number): number {
  const backOffMs = Math.min(everyMs, firstBackOffMs * 2 ** failures);
  return Math.max(retryAfterMs, backOffMs) * (1 + Math.random() / 2);
}

/** Resolves after a time, when a signal aborts, or when something else is over. */
async function wait(
  ms: number,
  signal?: AbortSignal,
  keepAlive = true,
  other?: Promise<unknown>,
): Promise<void> {
  await new Promise<void>((resolve) => {
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, ms);
    // Browsers have a number here.
    if (!keepAlive) (timer as { unref?: () => void }).unref?.();
    signal?.addEventListener('abort', end);
    if (signal?.aborted) end();
    other?.then(end, end);
  });
}

/** Calls a function of the caller's, which may fail as it likes. */
function call(callback: () => unknown): void {
  void (async () => await callback())().catch(() => {});
}

/** Returns a function that prints errors. @param failure what did not happen */
function printError(failure: string): (error: unknown) => void {
  return (error) => {
    console.error(`${failure}: ${(error as Partial<Error>).message ?? String(error)}`);
  };
}

function formatQuery({ ids, ...query }: Omit<ListQuery, 'ids'> & CountsQuery): string {
  // A hundred ids would be too many parameters.
  const pairs = Object.entries({ ...query, ids: ids?.join() }).flatMap(([name, value]) =>
    [value].flat().flatMap((one) => (one === undefined ? [] : [[name, String(one)]])),
  );
  return `?${String(new URLSearchParams(pairs))}`;
}

interface Received {
  readonly json: unknown;
  readonly headers: Headers;
}

/** Sends a request and reads its response. @param secret is in no error @throws {BotshelfError} */
async function request(
  options: ClientOptions,
  address: string,
  isExpected: IsExpected,
  init: RequestInit = {},
  secret = '',
): Promise<Received> {
  const fail = createFail(init.method ?? 'GET', address, secret);
  const signal = AbortSignal.timeout(options.timeoutMs ?? defaultTimeoutMs);
  const response = await send(options, address, { ...init, signal }, fail);
  const json = await readJson(response, fail);
  const { status, headers } = response;
  if (!isExpected(json)) throw fail(foreignBody, { status });
  return { json, headers };
}

const foreignBody = 'the response is not that of a list of bots: is this the address of the list?';

const defaultTimeoutMs = 10_000;

type Fail = (reason: string, details?: ErrorDetails) => BotshelfError;

/** Returns a function that makes errors of a request. @param secret is in none of them */
function createFail(method: string, address: string, secret = ''): Fail {
  const hide = (text: string): string => (secret === '' ? text : text.replaceAll(secret, '(the token)'));
  return (reason, details = {}) => {
    const shown = JSON.parse(hide(JSON.stringify(details))) as ErrorDetails;
    return new BotshelfError(`${method} ${address}: ${hide(reason).slice(0, maxDetailLength)}`, shown);
  };
}

/** Starts an export. Its timeout begins again with each piece of the response. */
async function startExport(options: ClientOptions, address: string): Promise<Export> {
  const { timeoutMs = defaultTimeoutMs } = options;
  const fail = createFail('GET', address);
  const timeout = new AbortController();
  const within = async <T>(promise: Promise<T>): Promise<T> => {
    const late = new Error(`nothing came for ${timeoutMs} ms`);
    const timer = setTimeout(() => timeout.abort(late), timeoutMs);
    return await promise.finally(() => clearTimeout(timer));
  };
  const response = await within(send(options, address, { signal: timeout.signal }, fail));
  const { status, headers } = response;
  if (!headers.get('Content-Type')?.startsWith('application/x-ndjson')) throw fail(foreignBody, { status });
  async function* readBots(): Export['bots'] {
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    try {
      for (;;) {
        const read = await within(reader?.read() ?? Promise.reject(new Error('it is empty')));
        if (read.done && rest !== '') throw new Error('it was cut off within a line');
        if (read.done) return;
        const lines = (rest + read.value).split('\n');
        rest = lines.pop() ?? '';
        for (const line of lines) yield JSON.parse(line) as ExportLine;
      }
    } catch (error) {
      throw fail(toReason(error));
    } finally {
      timeout.abort();
    }
  }
  return { cursor: headers.get('X-Cursor') ?? undefined, bots: readBots() };
}

/** Sends a request. @returns a response that is no error, unread */
async function send(
  { userAgent }: ClientOptions,
  address: string,
  init: RequestInit,
  fail: Fail,
): Promise<Response> {
  const sent = createHeaders(address, init.headers, userAgent, fail);
  // A redirect would take the token elsewhere, or make a GET of a POST. Workers have no `error` here.
  const response = await fetch(address, { ...init, headers: sent, redirect: 'manual' }).catch(
    (error: unknown) => {
      throw fail(toReason(error));
    },
  );
  const { status, headers } = response;
  if (response.ok) return response;
  // Browsers report a redirect as status 0.
  if (status < 400) throw fail('the address redirects: use the one that it leads to');
  const json = await readJson(response, fail);
  // A broken proxy may respond 404 or 401, too.
  const isProblem =
    headers.get('Content-Type')?.startsWith('application/problem+json') === true && has()(json);
  const problem = (isProblem ? json : {}) as Partial<Problem>;
  throw fail(`${status} ${problem.detail ?? response.statusText}`, {
    status,
    type: problem.type,
    errors: Array.isArray(problem.errors) ? problem.errors : [],
    requestId: headers.get('X-Request-Id') ?? undefined,
    retryAfterMs: readRetryAfter(headers.get('Retry-After')),
    // 409 and 429 say that it is to be tried again.
    isFinal: isProblem && status < 500 && status !== 409 && status !== 429,
  });
}

/** @throws {BotshelfError} final, for a header or an address that no request can have */
function createHeaders(
  address: string,
  headers: RequestInit['headers'],
  userAgent: string | undefined,
  fail: Fail,
): Headers {
  try {
    const { url, headers: created } = new Request(address, { headers: headers ?? {} });
    if (!/^https?:/.test(url)) throw new Error('it does not begin with https://');
    if (userAgent !== undefined) created.set('User-Agent', userAgent);
    return created;
  } catch (error) {
    throw fail(`the address, or a header, is invalid: ${(error as Error).message}`, { isFinal: true });
  }
}

/** Returns the body of a response, or undefined if it is not JSON. */
async function readJson(response: Response, fail: Fail): Promise<unknown> {
  const text = await response.text().catch((error: unknown) => {
    throw fail(toReason(error));
  });
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Says why no response came, or only a part. The cause of an error of `fetch` says more than the error. */
function toReason(error: unknown): string {
  const { message, cause } = error as Error & { readonly cause?: { message?: string; code?: string } };
  return `no response: ${cause?.message || cause?.code || message}`;
}

/** Reads the seconds or the date of a `Retry-After` header (RFC 9110, section 10.2.3) as milliseconds from now. */
function readRetryAfter(value: string | null): number {
  const ms = /^\d+$/.test(value?.trim() ?? '') ? Number(value) * 1000 : Date.parse(value ?? '') - Date.now();
  return Math.min(Math.max(ms || 0, 0), msPerHour);
}
