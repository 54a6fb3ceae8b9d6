import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Context, Next } from 'koa';
import { LRUCache } from 'lru-cache';
import { readRepeatCheck } from './representation.ts';
import { hasTwoHosts } from './request.ts';

/** A response that may be sent again while it is current. */
interface StoredResponse {
  readonly etag: string;
  /** Bytes of the body. */
  readonly size: number;
  /** Undefined if only a 304 has been sent, to a client that has the body from before a restart. */
  readonly whole: SerializedResponse | undefined;
  readonly notModified: SerializedResponse;
  current(): boolean;
}

/**
 * Whole responses by request, in front of Koa: a read that was served before costs a look-up and a write to the socket.
 * Stores only what the application marked as repeatable, and passes on every request that is not exactly the same.
 */
export class ResponseCache {
  readonly #responses = new LRUCache<string, StoredResponse>({
    maxSize: 64 * 1024 * 1024,
    maxEntrySize: maxEntryBytes,
    sizeCalculation: ({ size }, key) => size + key.length + 2000,
  });

  /** The number of responses from the cache: whole ones and 304s. */
  readonly hits = { whole: 0, notModified: 0 };

  /** Responds from the cache if possible; otherwise returns false, and the application has to respond. */
  respond(request: IncomingMessage, response: ServerResponse): boolean {
    const read = readRequest(request);
    if (read === undefined) return false;
    const stored = this.#responses.get(read.key);
    if (stored === undefined) return false;
    if (!stored.current()) {
      this.#responses.delete(read.key);
      return false;
    }
    const { condition } = read;
    if (condition !== undefined && condition !== stored.etag) return false;
    const kind = condition === undefined ? 'whole' : 'notModified';
    if (!stored[kind]?.send(response)) return false;
    this.hits[kind]++;
    return true;
  }

  /** Middleware: stores the responses that the application marked as repeatable, a 200 or a 304. */
  async fill({ req, res, state, response }: Context, next: Next): Promise<void> {
    await next();
    const { status, body } = response;
    const current = readRepeatCheck(state);
    const read = readRequest(req);
    if (current === undefined || read === undefined || read.key.length > maxKeyLength) return;
    const headers = Object.entries(res.getHeaders()).map(([name, value]) => [name, String(value)] as const);
    const describing = headers.filter(([name]) => !/^content-(type|length|encoding)$/.test(name));
    const isStorable = status === 200 && Buffer.isBuffer(body) && body.length < maxEntryBytes;
    const whole = isStorable ? new SerializedResponse(200, headers, body) : undefined;
    if (whole === undefined && (status !== 304 || this.#responses.get(read.key)?.current())) return;
    this.#responses.set(read.key, {
      etag: response.get('ETag'),
      size: Buffer.isBuffer(body) ? body.length : 0,
      whole,
      notModified: new SerializedResponse(304, describing),
      current,
    });
  }
}

/** Bytes above which a response is not stored, and its body not copied. */
const maxEntryBytes = 4 * 1024 * 1024;

/** Characters of address and headers together above which a response is not stored. */
const maxKeyLength = 1000;

/**
 * Reads If-None-Match, and the key of a response: the address and the headers that it depends on. Undefined if it depends on
 * other headers too, or there are two hosts.
 */
function readRequest({ method, url = '', headers, rawHeaders }: IncomingMessage) {
  if (method !== 'GET' || hasTwoHosts(rawHeaders)) return undefined;
  const { accept = '', 'accept-encoding': encoding = '', 'accept-language': language = '' } = headers;
  const { 'if-none-match': condition, 'if-modified-since': since, cookie } = headers;
  if (since !== undefined) return undefined;
  // Only pages depend on the language and on who is logged in.
  const isForPrograms = url.startsWith('/api/');
  if (cookie !== undefined && !isForPrograms) return undefined;
  return { key: `${url}\n${accept}\n${encoding}\n${isForPrograms ? '' : language}`, condition };
}

/**
 * How long a connection waits for its next request: longer than proxies do (nginx: 60 s). Otherwise a proxy now and then
 * sends a POST into a connection that is closing, and responds to its client with 502.
 */
export const keepAliveSeconds = 75;

/**
 * A response as bytes, except for its date, so that sending it again is one write to the socket. `writeHead` and `end`
 * build the head again and write it separately from the body: measured next to this with `wrk -c32` on one core, they send
 * 0.74 × as many records of 4 kB a second, 0.80 × as many pages, and take up to 1.2 × the time for a 304.
 */
class SerializedResponse {
  readonly #status: number;
  readonly #bytes: Buffer;
  readonly #dateAt: number;
  /** Of the date in the bytes, since the epoch. */
  #second = 0;

  /** @param headers with a Content-Length where there is a body */
  constructor(status: number, headers: readonly (readonly [name: string, value: string])[], body = noBody) {
    const lines = headers.map(([name, value]) => `${name}: ${value}\r\n`);
    const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`;
    const head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}${keepAlive}Date: `;
    this.#status = status;
    this.#dateAt = head.length;
    this.#bytes = Buffer.concat([Buffer.from(`${head}${new Date().toUTCString()}\r\n\r\n`, 'latin1'), body]);
  }

  /** Sends the response; returns false instead if the connection ends after it or Node's internals have changed. */
  send(response: ServerResponse): boolean {
    const open = response as ServerResponse & WrittenHead;
    if (open._header !== null || typeof open._writeRaw !== 'function' || !open.shouldKeepAlive) return false;
    const second = Math.floor(Date.now() / 1000);
    if (this.#second !== second) {
      this.#second = second;
      // The date always has 29 characters.
      this.#bytes.write(formatSecond(second), this.#dateAt, 'latin1');
    }
    response.statusCode = this.#status;
    open._header = 'in the bytes';
    open._headerSent = true;
    // `end` with the bytes would write an empty string after them.
    open._writeRaw(this.#bytes);
    response.end();
    return true;
  }
}

let latest = { second: 0, date: '' };

/** Returns the date of a second. Formatting it for each response would take as long as finding the response. */
function formatSecond(second: number): string {
  if (latest.second !== second) latest = { second, date: new Date(second * 1000).toUTCString() };
  return latest.date;
}

const noBody: Buffer = Buffer.alloc(0);

/**
 * Node's internals for the head of a response. Undocumented; test/http/serialized-response.test.ts checks it for every
 * supported Node.
 */
interface WrittenHead {
  _header: string | null;
  _headerSent: boolean;
  /** Writes to the connection, or queues behind earlier responses. */
  _writeRaw(bytes: Buffer): void;
}
