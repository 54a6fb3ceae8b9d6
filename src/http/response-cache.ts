import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';

/** A whole response that may be sent again for as long as `current` says so. */
export interface StoredResponse {
  readonly headers: readonly string[];
  readonly etag: string;
  readonly body: Buffer;
  current(): boolean;
}

/**
 * Whole responses by request, in front of everything that decides: a read that was answered before costs a
 * look-up and a write to the socket. It stores only what the application marked as repeatable, and answers
 * only what needs no decision: every other request goes on to the application.
 */
export class ResponseCache {
  readonly #responses = new LRUCache<string, StoredResponse>({
    maxSize: 128 * 1024 * 1024,
    maxEntrySize: 1024 * 1024,
    sizeCalculation: ({ body }, key) => body.length + key.length + 1000,
  });

  /** How often it has answered: with a whole response, with a 304. */
  readonly answered = { whole: 0, notModified: 0 };

  /** Answers the request if it can; false when the application has to. */
  answer(request: IncomingMessage, response: ServerResponse): boolean {
    const key = keyOf(request);
    if (key === undefined) return false;
    const stored = this.#responses.get(key);
    if (stored === undefined) return false;
    if (!stored.current()) {
      this.#responses.delete(key);
      return false;
    }
    const condition = request.headers['if-none-match'];
    if (condition === undefined) {
      this.answered.whole++;
      response.writeHead(200, stored.headers as string[]);
      response.end(request.method === 'HEAD' ? undefined : stored.body);
      return true;
    }
    if (condition !== stored.etag) return false;
    this.answered.notModified++;
    response.writeHead(304, notModified(stored.headers));
    response.end();
    return true;
  }

  /** Keeps a 200 that has just been decided, with the headers as they were sent. */
  store(request: IncomingMessage, response: ServerResponse, body: Buffer, current: () => boolean): void {
    const key = keyOf(request);
    const etag = response.getHeader('etag');
    if (key === undefined || request.method !== 'GET' || typeof etag !== 'string') return;
    const headers = Object.entries(response.getHeaders()).flatMap(([name, value]) => [name, String(value)]);
    this.#responses.set(key, { headers, etag, body, current });
  }
}

/** All that a read's answer depends on; undefined where more than that may matter, or the key would be long. */
function keyOf({ method, url, headers }: IncomingMessage): string | undefined {
  if ((method !== 'GET' && method !== 'HEAD') || headers['if-modified-since'] !== undefined) return undefined;
  const forInterface = url?.startsWith('/api/') ?? false;
  // Only pages speak languages, and only to them a cookie says who asks.
  if (!forInterface && headers.cookie !== undefined) return undefined;
  const language = forInterface ? '' : (headers['accept-language'] ?? '');
  const key = `${url}\n${headers.accept ?? ''}\n${headers['accept-encoding'] ?? ''}\n${language}`;
  return key.length <= longestKey ? key : undefined;
}

const longestKey = 1000;

/** A 304 carries the headers that describe the resource, none that describe a body. */
function notModified(headers: readonly string[]): string[] {
  return headers.filter((_, i) => !/^content-(type|length|encoding)$/.test(headers[i - (i % 2)] ?? ''));
}
