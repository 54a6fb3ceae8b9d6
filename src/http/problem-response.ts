import type { ServerResponse } from 'node:http';
import type { Context, Next } from 'koa';
import {
  EditConflictError,
  PreconditionFailedError,
  type UnavailableReason,
  UnknownBotError,
  WritesUnavailableError,
} from '../bot/errors.ts';
import { UnknownCursorError } from '../catalogue/changes/change-feed.ts';
import { ImageError } from '../images/image-error.ts';
import { QueueFullError } from '../lib/serial-queue.ts';
import { LogThrottle } from '../lib/log-throttle.ts';
import type { Log } from '../lib/log.ts';
import { readRequestId } from './access-log.ts';
import { ProblemError } from './problem.ts';

/** Logs what the operator should know about a thrown error, and returns its problem. */
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
    if (error instanceof WritesUnavailableError && reasons.shouldLog(problem.message))
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
  if (error instanceof WritesUnavailableError) {
    const { retryAfter = 30, detail = error.message } = unavailable[error.reason];
    return new ProblemError('writes-unavailable', detail, { headers: { 'Retry-After': String(retryAfter) } });
  }
  if (error instanceof EditConflictError)
    return new ProblemError('edit-conflict', error.message, { headers: { 'Retry-After': '60' } });
  if (error instanceof UnknownBotError) {
    const detail = `${error.message}: GET ${basePath}/api/v2/bots lists all bots`;
    return new ProblemError('unknown-bot', detail);
  }
  if (error instanceof UnknownCursorError) {
    const detail = `${error.message}: read ${basePath}/api/v2/export.ndjson again, and go on from its X-Cursor`;
    return new ProblemError('unknown-cursor', detail);
  }
  if (error instanceof QueueFullError)
    return new ProblemError('busy', error.message, { headers: { 'Retry-After': '2' } });
  if (error instanceof ImageError)
    return new ProblemError('busy', `the picture ${error.message}: try again later`, {
      headers: { 'Retry-After': '60' },
    });
  if (error instanceof PreconditionFailedError) {
    return new ProblemError('precondition-failed', error.message, { headers: { ETag: `"${error.digest}"` } });
  }
  return new ProblemError(
    'unexpected',
    'this is an error of the service: try again later, and tell the operator if it persists',
  );
}

/**
 * When the caller tries again, in seconds, and what it is told. Without a detail that is the message of the error, which
 * never names the server's folders.
 */
const unavailable: Readonly<
  Record<UnavailableReason, { readonly retryAfter?: number; readonly detail?: string }>
> = {
  stated: {},
  locked: { retryAfter: 5 },
  overloaded: { retryAfter: 10 },
  'faulty-page': { retryAfter: 3600 },
  'unusable-page': {
    detail:
      "the bot's page cannot be changed now: a maintainer has to fix it, the log of the service says why",
  },
  'disk-full': { detail: 'the disk is full: try again later, changes can be saved once there is room' },
  'no-repository': {
    detail: 'changes cannot be saved: the catalogue is in no Git repository that the service can write to',
  },
  internal: {
    detail: 'changes cannot be saved now: try again later. The reason is in the log of the service',
  },
};

/** Responds with a problem where the application does not. */
export function sendProblem(response: ServerResponse, problem: ProblemError): void {
  response.writeHead(problem.status, { ...problemHeaders, ...problem.headers });
  response.end(JSON.stringify(problem));
}

const problemHeaders = { 'Content-Type': 'application/problem+json', 'Cache-Control': 'no-store' };

function writeProblem(ctx: Context, problem: ProblemError): void {
  for (const name of ['ETag', 'Link', 'X-Total-Count', 'X-Searched-For', 'Content-Encoding'])
    ctx.remove(name);
  ctx.status = problem.status;
  ctx.set({ ...problemHeaders, ...problem.headers });
  if (ctx.method !== 'POST') ctx.set('Access-Control-Allow-Origin', '*');
  ctx.body = JSON.stringify(problem);
}
