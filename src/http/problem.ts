import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Next } from 'koa';
import { isUnavailable } from '../bot/errors.ts';
import { BotshelfError, errorCodes } from '../lib/errors.ts';
import type { Problem as ProblemDocument } from '../../schemas/types.ts';
import type { Log } from '../lib/log.ts';
import { LogThrottle } from '../lib/retry.ts';

/** Returns the ID of a request: a new UUID at the first call, and the same for the same request. */
export function readRequestId(request: IncomingMessage): string {
  const id = ids.get(request) ?? randomUUID();
  ids.set(request, id);
  return id;
}

const ids = new WeakMap<IncomingMessage, string>();

/** One error of a request: its place, and the fix. */
export interface ProblemDetail {
  /** A JSON pointer into the body as a URI fragment (`#/bot/count`), or a query parameter (`?limit`). */
  readonly pointer: string;
  readonly detail: string;
}

/** Every kind of problem, with its status and title. The names are part of the API. */
export const problemKinds = {
  'bad-query': [400, 'A query parameter is invalid'],
  'bad-json': [400, 'The body is not JSON'],
  'no-token': [401, 'A token is needed'],
  'bad-token': [401, 'The token is not valid'],
  'bad-signature': [401, 'The signature is not valid'],
  'other-token': [403, 'The token is for another bot'],
  'cross-site': [403, 'The request comes from another site'],
  'other-repository': [403, 'The event is of another repository'],
  'read-only': [403, 'Nothing can be sent here'],
  'proposal-refused': [403, 'The list does not take this proposal'],
  'not-found': [404, 'Not found'],
  'unknown-bot': [404, 'There is no such bot'],
  'removed-bot': [410, 'The bot was removed'],
  'unknown-cursor': [410, 'The cursor is not in the history'],
  'method-not-allowed': [405, 'The method is not allowed here'],
  'not-acceptable': [406, 'There is no such representation'],
  'edit-conflict': [409, 'A maintainer is editing the bot'],
  'precondition-failed': [412, 'The bot has changed'],
  'too-large': [413, 'The body is too large'],
  'unsupported-type': [415, 'The body is of the wrong type'],
  'invalid-update': [422, 'The update is invalid'],
  'too-many-requests': [429, 'Too many requests'],
  'bad-request': [400, 'The request is malformed'],
  unexpected: [500, 'Internal error'],
  'writes-unavailable': [503, 'Writes are not possible now'],
  busy: [503, 'The service is busy'],
  starting: [503, 'The service is starting'],
} as const satisfies Readonly<Record<string, readonly [number, string]>>;

export type ProblemKind = keyof typeof problemKinds;

/** An error with a problem document: thrown by any handler, turned into a response in one place. */
export class ProblemError extends Error {
  readonly kind: ProblemKind;
  readonly errors: readonly ProblemDetail[];
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    kind: ProblemKind,
    detail: string,
    more: { errors?: readonly ProblemDetail[]; headers?: Readonly<Record<string, string>> } = {},
  ) {
    super(detail);
    this.name = 'ProblemError';
    this.kind = kind;
    this.errors = more.errors ?? [];
    this.headers = more.headers ?? {};
  }

  /** Makes a problem from its errors. Names only the first ones, because a client decides how many there are. */
  static ofErrors(kind: ProblemKind, errors: readonly ProblemDetail[]): ProblemError {
    const named = errors.slice(0, maxErrors);
    const sentences = named.map(({ pointer, detail }) => `${pointer.replace(/^\?/, '') || '""'}: ${detail}`);
    return new ProblemError(kind, joinSentences(sentences, errors.length), { errors: named });
  }

  /** Makes a problem from several sentences. */
  static ofSentences(kind: ProblemKind, sentences: readonly string[]): ProblemError {
    return new ProblemError(kind, joinSentences(sentences.slice(0, maxErrors), sentences.length));
  }

  get status(): number {
    return problemKinds[this.kind][0];
  }

  /** Returns the RFC 9457 document. */
  toJSON(): ProblemDocument {
    const [status, title] = problemKinds[this.kind];
    return {
      type: `urn:botshelf:problem:${this.kind}`,
      title,
      status,
      detail: this.message,
      ...(this.errors.length > 0 && { errors: [...this.errors] }),
    };
  }
}

/** Errors that a document names. */
const maxErrors = 20;

function joinSentences(sentences: readonly string[], total: number): string {
  const more = total - sentences.length;
  return [...sentences, ...(more > 0 ? [`and ${more} more`] : [])].join('; ');
}

/** Logs a thrown error if the operator should know it, and returns its problem. */
export type ReportError = (ctx: Context, error: unknown) => ProblemError;

/** Turns a thrown error into a problem document: a ProblemError into its own, an unexpected error into a plain 500. */
export function handleErrors(report: ReportError): (ctx: Context, next: Next) => Promise<void> {
  return async (ctx, next) => {
    try {
      await next();
    } catch (error) {
      writeProblem(ctx, report(ctx, error));
    }
  };
}

/** The header with the ID of a request that failed unexpectedly, which the log has too. */
export const requestIdHeader = 'X-Request-Id';

/** @param basePath the path of the public address, such as `/bots`, for details that name an address */
export function createReportError(log: Log, basePath = ''): ReportError {
  const reasons = new LogThrottle();
  return (ctx, error) => {
    const problem = toProblem(error, basePath);
    const request = { method: ctx.method, path: ctx.path };
    if (isUnavailable(error) && reasons.shouldLog(problem.message))
      log.warn({ err: error, ...request }, `requests are refused: ${error.message}`);
    if (problem.kind !== 'unexpected') return problem;
    const id = readRequestId(ctx.req);
    log.error({ err: error, ...request, id }, `request ${id} failed unexpectedly, the client got status 500`);
    return new ProblemError('unexpected', problem.message, { headers: { [requestIdHeader]: id } });
  };
}

/** Maps an error to a problem; an unexpected error becomes a plain 500. @param basePath as that of createReportError */
export function toProblem(error: unknown, basePath = ''): ProblemError {
  if (error instanceof ProblemError) return error;
  if (!(error instanceof BotshelfError)) return new ProblemError('unexpected', unexpected);
  const { problem = 'unexpected', retryAfter, detail } = errorCodes[error.code];
  if (problem === 'unexpected') return new ProblemError(problem, unexpected);
  const { digest } = error.details;
  const headers = {
    ...(retryAfter !== undefined && { 'Retry-After': String(retryAfter) }),
    ...(digest !== undefined && { ETag: `"${digest}"` }),
  };
  return new ProblemError(problem, detail?.(error.message, basePath) ?? error.message, { headers });
}

const unexpected = 'this is an error of the service: try again later, and tell the operator if it persists';

/** Responds with a problem outside the application. */
export function sendProblem(response: ServerResponse, problem: ProblemError): void {
  response.writeHead(problem.status, { ...problemHeaders, ...problem.headers });
  response.end(JSON.stringify(problem));
}

/** The headers with which scripts of other sites may read a response. */
export const corsHeaders = {
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers':
    'Date, ETag, Link, RateLimit, RateLimit-Policy, Retry-After, X-Cursor, X-Request-Id, X-Searched-For, X-Total-Count, X-Unknown-Ids',
};

const problemHeaders = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };

function writeProblem(ctx: Context, problem: ProblemError): void {
  for (const name of ['ETag', 'Link', 'X-Total-Count', 'X-Searched-For', 'X-Unknown-Ids', 'Content-Encoding'])
    ctx.remove(name);
  ctx.status = problem.status;
  ctx.set({ ...problemHeaders, ...problem.headers });
  if (!['POST', 'PUT'].includes(ctx.method)) ctx.set(corsHeaders);
  ctx.body = JSON.stringify(problem);
}
