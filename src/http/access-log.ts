import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Log } from '../lib/log.ts';

export type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Returns a handler that logs each request once its response has ended: method, path, status, milliseconds, bytes sent
 * with the headers, and the ID that other lines of the log name it by. Queries and headers, which may hold secrets, are
 * not logged.
 */
export function logAccess(handle: RequestHandler, log: Log): RequestHandler {
  return (request, response) => {
    const started = performance.now();
    const { method = '', socket } = request;
    // Now, as the application's address of a page may be another one.
    const path = toLoggedPath(request);
    const before = socket.bytesWritten;
    response.once('close', () => {
      const status = response.statusCode;
      const ms = Math.round((performance.now() - started) * 10) / 10;
      const bytes = socket.bytesWritten - before;
      const aborted = !response.writableFinished;
      const fields = {
        method,
        path,
        status,
        ms,
        bytes,
        id: readRequestId(request),
        ...(aborted && { aborted }),
      };
      log.info(fields, `${method} ${path} ${aborted ? 'aborted' : status}`);
    });
    handle(request, response);
  };
}

/** Returns the ID of a request: a new UUID at the first call, and the same for the same request. */
export function readRequestId(request: IncomingMessage): string {
  const id = ids.get(request) ?? randomUUID();
  ids.set(request, id);
  return id;
}

const ids = new WeakMap<IncomingMessage, string>();

function toLoggedPath({ url = '' }: IncomingMessage): string {
  const path = (url.split('?', 1)[0] ?? '').replace(/[^\x21-\x7E]/g, '?');
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path;
}

/** Characters. */
const maxPathLength = 500;
