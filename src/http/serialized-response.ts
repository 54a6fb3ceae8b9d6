import { type ServerResponse, STATUS_CODES } from 'node:http';

/**
 * How long a connection waits for its next request: longer than proxies do (nginx: 60 s). Otherwise a proxy now and then
 * sends a POST into a connection that is closing, and responds to its client with 502.
 */
export const keepAliveSeconds = 75;

/**
 * A response as bytes, except for its date, so that sending it again is one write to the socket. `writeHead` and `end`
 * build the head again and write it separately from the body: measured beside this with `wrk -c32` on one core, they send
 * 0.74 × as many records of 4 kB a second, 0.80 × as many pages, and take up to 1.2 × the time for a 304.
 */
export class SerializedResponse {
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

  /** Sends it. Returns false, with nothing sent, where the connection ends after it or Node's internals have changed. */
  send(response: ServerResponse): boolean {
    const open = response as ServerResponse & WrittenHead;
    if (open._header !== null || !open.shouldKeepAlive) return false;
    const second = Math.floor(Date.now() / 1000);
    if (this.#second !== second) {
      this.#second = second;
      // Always 29 characters.
      this.#bytes.write(new Date(second * 1000).toUTCString(), this.#dateAt, 'latin1');
    }
    response.statusCode = this.#status;
    open._header = 'in the bytes';
    open._headerSent = true;
    response.end(this.#bytes);
    return true;
  }
}

const noBody: Buffer = Buffer.alloc(0);

/**
 * Where Node keeps the head of a response. Undocumented; test/http/serialized-response.test.ts checks it for every
 * supported Node.
 */
interface WrittenHead {
  _header: string | null;
  _headerSent: boolean;
}
