import { type ServerResponse, STATUS_CODES } from 'node:http';

/**
 * How long a connection waits for its next request: longer than proxies do (nginx: 60 s). Otherwise a proxy now and then
 * sends a POST into a connection that is closing, and responds to its client with 502.
 */
export const keepAliveSeconds = 75;

/**
 * A response as bytes, except for its date, so that sending it again is one write to the socket. Node builds the head of
 * each response again and writes it separately from the body.
 */
export class SerializedResponse {
  readonly #status: number;
  readonly #head: string;
  readonly #hasBody: boolean;
  /** Null once it has been sent: from then on it is in `#bytes`. */
  #body: Buffer | null;
  #bytes: Buffer | undefined;
  #second = 0;

  /**
   * @param headers name, value, name, value…, with a Content-Length where there is a body
   * @param body null for a response without one
   */
  constructor(status: number, headers: readonly string[], body: Buffer | null) {
    const lines = headers.flatMap((name, i) => (i % 2 === 0 ? [`${name}: ${headers[i + 1] ?? ''}\r\n`] : []));
    this.#status = status;
    this.#head = `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}\r\n${lines.join('')}${keepAlive}Date: `;
    this.#body = body;
    this.#hasBody = body !== null;
  }

  /** Sends it. Returns false, with nothing sent, where the connection ends after it or Node's internals have changed. */
  send(response: ServerResponse): boolean {
    const open = response as ServerResponse & WrittenHead;
    if (open._header !== null || !open.shouldKeepAlive) return false;
    response.statusCode = this.#status;
    if (!this.#hasBody) {
      open._header = `${this.#head}${formatDate()}\r\n\r\n`;
      response.end();
    } else {
      open._header = this.#head;
      open._headerSent = true;
      response.end(this.#dated());
    }
    return true;
  }

  #dated(): Buffer {
    const now = readSecond();
    const date = formatDate();
    if (this.#bytes === undefined) {
      const head = Buffer.from(`${this.#head}${date}\r\n\r\n`, 'latin1');
      this.#bytes = Buffer.concat([head, this.#body ?? Buffer.alloc(0)]);
      this.#body = null;
    }
    if (this.#second !== now) this.#bytes.write(date, this.#head.length, 'latin1');
    this.#second = now;
    return this.#bytes;
  }
}

const keepAlive = `Connection: keep-alive\r\nKeep-Alive: timeout=${keepAliveSeconds}\r\n`;

/**
 * Where Node keeps the head of a response. Undocumented; test/http/serialized-response.test.ts checks it for every
 * supported Node.
 */
interface WrittenHead {
  _header: string | null;
  _headerSent: boolean;
}

function readSecond(): number {
  return Math.floor(Date.now() / 1000);
}

/** Always 29 characters. */
function formatDate(): string {
  const now = readSecond();
  if (now !== dateSecond) {
    dateSecond = now;
    date = new Date(now * 1000).toUTCString();
  }
  return date;
}

let dateSecond = 0;
let date = '';
