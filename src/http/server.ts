import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { report } from 'node:process';
import { codeOf, messageOf, UserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { parseUrl } from '../lib/network.ts';
import { ProblemError, readRequestId, sendProblem } from './problem.ts';
import { type ResponseCache, keepAliveSeconds } from './response-cache.ts';

export interface ListeningServer {
  /** The configured port, or the free one chosen for 0. */
  readonly port: number;
  /** Accepts no new request, finishes those in progress, and ends what is not done after ten seconds. */
  close(): Promise<void>;
}

interface ServerOptions {
  readonly host: string;
  readonly port: number;
  /** The setting with the port; PORT if left out. */
  readonly portSetting?: string;
  /** The most connections at a time; more are refused. */
  readonly maxConnections: number;
  /** Maps the address of a request to the application's; left out if they are the same. */
  readonly rewrite?: ((url: string) => string) | undefined;
  /** Whether every request is logged; not by default. */
  readonly accessLog?: boolean;
  readonly log: Log;
}

/**
 * Serves an application, behind a response cache if there is one; the application fills it (`ResponseCache.fill`).
 * @throws {UserError} when the address cannot be listened on, with the setting to change
 */
export async function listen(
  compute: (request: IncomingMessage, response: ServerResponse) => Promise<void>,
  { host, port, portSetting = 'PORT', maxConnections, rewrite, accessLog = false, log }: ServerOptions,
  cache?: ResponseCache,
): Promise<ListeningServer> {
  let closing = false;
  // No set of the responses in progress is kept, because V8 would move them to the old generation.
  class Response<R extends IncomingMessage> extends ServerResponse<R> {
    override writeHead(...args: unknown[]): this {
      // Closing waits for connections that are kept alive.
      if (closing) this.shouldKeepAlive = false;
      return super.writeHead(...(args as [number]));
    }
  }
  const respond: RequestHandler = (request, response) => {
    if (closing) response.shouldKeepAlive = false;
    const target = readTarget(request.url);
    if (target === undefined) {
      refuseRequest(response, 'the address of the request is not valid: check it');
      return;
    }
    const wanted = withoutCacheBuster(target);
    request.url = rewrite ? rewrite(wanted) : wanted;
    const isCached = cache?.respond(request, response) ?? false;
    // Like `server.timeout`, but without a timer for cached responses, which are sent immediately.
    if (!isCached || request.socket.writableLength > 0) response.setTimeout(idleTimeout);
    if (!isCached) void compute(request, response);
  };
  const handle = accessLog ? logAccess(respond, log) : respond;
  const server = createServer({ ...limits, ServerResponse: Response }, (request, response) =>
    handleInOrder(request, response, handle),
  );
  server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) =>
    handleInOrder(request, response, refuseExpectation),
  );
  server.maxConnections = maxConnections;
  logRefusals(server, log);
  server.on('clientError', refuse);
  server.listen(port, host);
  await once(server, 'listening').catch((error: unknown) => {
    throw toAddressError(error, host, port, portSetting);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: async () => {
      closing = true;
      await close(server);
    },
  };
}

type RequestHandler = (request: IncomingMessage, response: ServerResponse) => void;

/**
 * Returns a handler that logs each request once its response has ended: method, path, status, milliseconds, bytes sent
 * with the headers, and the ID that other lines of the log name it by. Queries and headers, which may hold secrets, are
 * not logged.
 */
export function logAccess(handle: RequestHandler, log: Log): RequestHandler {
  return (request, response) => {
    const started = performance.now();
    const { method = '', socket } = request;
    // Read now, because the application may change the address of a page.
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

function toLoggedPath({ url = '' }: IncomingMessage): string {
  const path = (url.split('?', 1)[0] ?? '').replace(/[^\x21-\x7E]/g, '?');
  return path.length > maxPathLength ? `${path.slice(0, maxPathLength)}…` : path;
}

/** Characters. */
const maxPathLength = 500;

/** Returns the error for an address that cannot be listened on. @param setting the one with the port */
export function toAddressError(error: unknown, host: string, port: number, setting: string): UserError {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return new UserError(
        `port ${port} is in use: stop what listens there, or set ${setting} to another one`,
      );
    case 'EACCES':
      return new UserError(`port ${port} may not be used: set ${setting} to one above 1023`);
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return new UserError(
        `${host} is not an address of this machine: set HOST to one that is, such as 127.0.0.1`,
      );
    default:
      return new UserError(`cannot listen on ${host}, port ${port}: ${messageOf(error)}`);
  }
}

/** Returns how many connections to accept, so that file descriptors are left for files, pipes and outgoing sockets. */
export function computeMaxConnections(): number {
  // Otherwise Node looks up the name of each address that this process is connected to.
  Object.assign(report, { excludeNetwork: true });
  const { userLimits } = report.getReport() as {
    userLimits?: { open_files?: { soft: number | 'unlimited' } };
  };
  const openFiles = Number(userLimits?.open_files?.soft);
  return Number.isNaN(openFiles) ? Infinity : Math.floor(openFiles - Math.min(openFiles / 4, 1000));
}

/** Milliseconds. */
const limits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: keepAliveSeconds * 1000,
  connectionsCheckingInterval: 5_000,
};

/** Milliseconds. A connection without traffic for this long ends, because its client does not read. */
const idleTimeout = 120_000;

/** Returns path and query of an address, which may be a whole one (RFC 9112, section 3.2); undefined if it is not valid. */
function readTarget(url = ''): string | undefined {
  if (/^[/*]/.test(url)) return url;
  const parsed = /^https?:/i.test(url) ? parseUrl(url) : undefined;
  return parsed && parsed.pathname + parsed.search;
}

/** Removes the parameter `_` from an address: jQuery and others send a new value each time, past all caches. */
function withoutCacheBuster(url: string): string {
  return /[?&]_/.test(url) ? url.replace(/(?<=[?&])_(?:=[^&]*)?(?:&|$)/g, '').replace(/[?&]$/, '') : url;
}

/** Logs when connections start to be refused, and when they are accepted again. */
function logRefusals(server: Server, log: Log): void {
  const { maxConnections } = server;
  let refusing = false;
  const look = (): void => {
    server.getConnections((_error, count) => {
      if (!refusing || count > maxConnections * 0.9) return;
      refusing = false;
      server.off('connection', look);
      log.info({ connections: count }, 'new connections are accepted again');
    });
  };
  server.on('drop', () => {
    if (refusing) return;
    refusing = true;
    server.on('connection', look);
    log.warn(
      { maxConnections },
      `the limit of ${maxConnections} connections is reached, new ones are refused: raise the limit on open files (LimitNOFILE, ulimit -n), or check which clients hold them`,
    );
  });
}

/**
 * Responds to bytes that are not HTTP with a short problem document and ends the connection. Where another response is in
 * progress it only ends the connection, after that response, because the client would read the document as part of it. Such
 * bytes are often the rest of a body that is longer than its Content-Length.
 */
function refuse(error: NodeJS.ErrnoException & { readonly rawPacket?: Buffer }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy();
    return;
  }
  if (!hasNoResponseInProgress(socket)) {
    endAfterResponse(socket);
    return;
  }
  const [status, detail] =
    error.code === 'HPE_HEADER_OVERFLOW'
      ? [
          '431 Request Header Fields Too Large',
          'the address and headers are too long: keep them below 16 KiB in total',
        ]
      : error.code === 'ERR_HTTP_REQUEST_TIMEOUT'
        ? ['408 Request Timeout', 'the request did not arrive in time: send it again']
        : ['400 Bad Request', 'this is not a valid HTTP/1.1 request: check the request line and the headers'];
  const problem = new ProblemError('bad-request', detail).toJSON();
  const body = JSON.stringify({ ...problem, status: Number.parseInt(status, 10) });
  const isHead = error.rawPacket?.toString('latin1', 0, 5) === 'HEAD ';
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/problem+json\r\nContent-Length: ${Buffer.byteLength(body)}\r\nConnection: close\r\n\r\n${isHead ? '' : body}`,
  );
}

function refuseExpectation(_request: IncomingMessage, response: ServerResponse): void {
  refuseRequest(response, 'the header Expect can only be 100-continue: leave it out');
}

function refuseRequest(response: ServerResponse, detail: string): void {
  sendProblem(response, new ProblemError('bad-request', detail));
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close');
  server.close();
  server.closeIdleConnections();
  const cutOff = setTimeout(() => server.closeAllConnections(), 10_000);
  await closed;
  clearTimeout(cutOff);
}

/**
 * Handles a request. A pipelined one waits until the response before it is sent: otherwise a client that sends and never
 * reads would make the service prepare any number of responses. Too many waiting requests end the connection.
 */
function handleInOrder(request: IncomingMessage, response: ServerResponse, handle: RequestHandler): void {
  const { socket } = request;
  if (response.socket !== null) {
    latest.set(socket, response);
    handle(request, response);
    return;
  }
  const count = (waiting.get(socket) ?? 0) + 1;
  waiting.set(socket, count);
  if (count > maxWaitingRequests) {
    if (count === maxWaitingRequests + 1) destroySoon(socket);
    return;
  }
  response.once('socket', () => {
    latest.set(socket, response);
    const left = (waiting.get(socket) ?? 0) - 1;
    if (left >= maxWaitingRequests) refuseAll(response);
    else {
      if (left > 0) waiting.set(socket, left);
      else waiting.delete(socket);
      handle(request, response);
    }
  });
}

/**
 * Whether bytes written to the connection now are read as the response to the client's last request: no other response is
 * in progress.
 */
function hasNoResponseInProgress(socket: Socket): boolean {
  const response = latest.get(socket);
  if (!response) return true;
  if (response.writableEnded) return !waiting.has(socket);
  return !response.headersSent && !response.req.complete;
}

/** Ends the connection once the response in progress is sent, or immediately if it has begun to be sent. */
function endAfterResponse(socket: Socket): void {
  const response = latest.get(socket);
  if (!response || response.headersSent) socket.destroy();
  else {
    socket.pause();
    response.shouldKeepAlive = false;
  }
}

/** The latest response of each connection that has begun. */
const latest = new WeakMap<Socket, ServerResponse>();

/** How many requests of a connection wait. */
const waiting = new WeakMap<Socket, number>();

/** 32 including the one that is handled. */
const maxWaitingRequests = 31;

/** Stops reading, and ends the connection after a second at most. */
function destroySoon(socket: Socket): void {
  socket.pause();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** Responds with the reason why this request and all behind it are refused. */
function refuseAll(response: ServerResponse): void {
  const problem = new ProblemError(
    'too-many-requests',
    `more than ${maxWaitingRequests + 1} requests at once on one connection: wait for responses before sending more`,
    { headers: { 'Retry-After': '1', Connection: 'close' } },
  );
  sendProblem(response, problem);
}
