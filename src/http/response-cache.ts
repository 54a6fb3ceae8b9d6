import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Context, Next } from 'koa';
import { LRUCache } from 'lru-cache';
import { readRepeatCheck } from './representation.ts';
import { SerializedResponse } from './serialized-response.ts';

/** A response that may be sent again while it is current. */
interface StoredResponse extends VaryKey {
  readonly etag: string;
  /** Bytes of the body. */
  readonly size: number;
  /** Undefined where only a 304 has been sent, to a client that has the body from before a restart. */
  readonly whole: SerializedResponse | undefined;
  readonly notModified: SerializedResponse;
  current(): boolean;
}

/** The request headers that a response depends on. */
interface VaryKey {
  readonly accept: string;
  readonly encoding: string;
  /** Accept-Language; empty below /api/, where responses do not depend on it. */
  readonly language: string;
}

/**
 * Whole responses by request, in front of Koa: a read that was served before costs a look-up and a write to the socket.
 * Stores only what the application marked as repeatable, and passes on every request that is not exactly the same.
 */
export class ResponseCache {
  /** By address: one response for each key. */
  readonly #responses = new LRUCache<string, readonly StoredResponse[]>({
    maxSize: 64 * 1024 * 1024,
    maxEntrySize: 1024 * 1024,
    sizeCalculation: (stored, url) => stored.reduce((all, { size }) => all + size + 2000, url.length),
  });

  /** How many responses came from the cache: whole ones and 304s. */
  readonly hits = { whole: 0, notModified: 0 };

  /** Responds if it can; false when the application has to. */
  respond(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request;
    if (method !== 'GET') return false;
    const all = this.#responses.get(url);
    const key = all && readVaryKey(request);
    const stored = key && all.find((one) => isSameVaryKey(one, key));
    if (stored === undefined) return false;
    if (!stored.current()) {
      this.#responses.delete(url);
      return false;
    }
    const kind = selectResponse(key?.condition, stored.etag);
    if (kind === undefined || !stored[kind]?.send(response)) return false;
    this.hits[kind]++;
    return true;
  }

  /** Stores a response of the application, with the headers as they were sent: a 200, or a 304 without a body. */
  store(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer | null,
    current: () => boolean,
  ): void {
    const { method, url = '' } = request;
    const key = readVaryKey(request);
    const etag = response.getHeader('etag');
    if (key === undefined || method !== 'GET' || url.length > maxKeyLength || typeof etag !== 'string')
      return;
    const { accept, encoding, language } = key;
    if (accept.length + encoding.length + language.length > maxKeyLength) return;
    const pairs = Object.entries(response.getHeaders()).map(
      ([name, value]) => [name, String(value)] as const,
    );
    const describing = pairs.filter(([name]) => !/^content-(type|length|encoding)$/.test(name)).flat();
    const kept = (this.#responses.get(url) ?? []).filter((one) => one.current());
    if (body === null && kept.some((one) => isSameVaryKey(one, key))) return;
    const others = kept.filter((one) => !isSameVaryKey(one, key));
    const stored = {
      accept,
      encoding,
      language,
      etag,
      size: body?.length ?? 0,
      whole: body === null ? undefined : new SerializedResponse(200, pairs.flat(), body),
      notModified: new SerializedResponse(304, describing, null),
      current,
    };
    this.#responses.set(url, [stored, ...others.slice(0, maxVariants - 1)]);
  }
}

/** Fills a cache with the responses that the application marked as repeatable. */
export function storeResponses(cache: ResponseCache): (ctx: Context, next: Next) => Promise<void> {
  const storeAfter = async (ctx: Context, next: Next): Promise<void> => {
    await next();
    const { req, res, status, body } = ctx;
    const current = readRepeatCheck(ctx);
    if (current && status === 304) cache.store(req, res, null, current);
    else if (current && status === 200 && Buffer.isBuffer(body)) cache.store(req, res, body, current);
  };
  return (ctx, next) => (ctx.method === 'GET' ? storeAfter(ctx, next) : next());
}

/** Returns which response a condition selects; undefined where the application has to decide. */
function selectResponse(condition: string | undefined, etag: string): 'whole' | 'notModified' | undefined {
  if (condition === undefined) return 'whole';
  return condition === etag ? 'notModified' : undefined;
}

/** Characters of an address, or of a key, above which a response is not stored. */
const maxKeyLength = 1000;

/** Responses stored for one address. */
const maxVariants = 16;

function isSameVaryKey(a: VaryKey, b: VaryKey): boolean {
  return a.accept === b.accept && a.encoding === b.encoding && a.language === b.language;
}

/**
 * Reads the headers that a read depends on; undefined where others may matter, or one is there twice. Uses the raw
 * headers, because building Node's object of all headers would take longer than everything else here.
 */
function readVaryKey({
  rawHeaders,
  url = '',
}: IncomingMessage): (VaryKey & { readonly condition: string | undefined }) | undefined {
  // Only pages depend on the language and on who is logged in.
  const forInterface = url.startsWith('/api/');
  let accept: string | undefined;
  let encoding: string | undefined;
  let language: string | undefined;
  let condition: string | undefined;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? '';
    const value = rawHeaders[i + 1] ?? '';
    // The length rules out most headers.
    if (!headerLengths.has(name.length)) continue;
    switch (name.toLowerCase()) {
      case 'accept':
        if (accept !== undefined) return undefined;
        accept = value;
        break;
      case 'accept-encoding':
        if (encoding !== undefined) return undefined;
        encoding = value;
        break;
      case 'accept-language':
        if (language !== undefined) return undefined;
        language = value;
        break;
      case 'if-none-match':
        if (condition !== undefined) return undefined;
        condition = value;
        break;
      case 'cookie':
        if (!forInterface) return undefined;
        break;
      case 'if-modified-since':
        return undefined;
      default:
    }
  }
  return {
    accept: accept ?? '',
    encoding: encoding ?? '',
    language: forInterface ? '' : (language ?? ''),
    condition,
  };
}

/** Lengths of those names; skips other headers without lower-casing them. */
const headerLengths = new Set([6, 13, 15, 17]);
