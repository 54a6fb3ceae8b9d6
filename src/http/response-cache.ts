import type { IncomingMessage, ServerResponse } from 'node:http';
import { LRUCache } from 'lru-cache';
import { SerializedResponse } from './serialized-response.ts';

/** A response that may be sent again for as long as `current` says so. */
interface StoredResponse extends VaryKey {
  readonly etag: string;
  /** Bytes of the body. */
  readonly size: number;
  /** Undefined where nobody has asked for it yet: many readers have it from before a restart. */
  readonly whole: SerializedResponse | undefined;
  readonly notModified: SerializedResponse;
  current(): boolean;
}

/** What of a request's headers a read's answer depends on. */
interface VaryKey {
  readonly accept: string;
  readonly encoding: string;
  /** Only pages speak languages: empty for everything else. */
  readonly language: string;
}

/**
 * Whole responses by request, in front of everything that decides: a read that was answered before costs a
 * look-up and a write to the socket. It stores only what the application marked as repeatable, and answers
 * only what needs no decision: every other request goes on to the application.
 */
export class ResponseCache {
  /** By address: one response for each way in which it has been wished for. */
  readonly #responses = new LRUCache<string, readonly StoredResponse[]>({
    maxSize: 64 * 1024 * 1024,
    maxEntrySize: 1024 * 1024,
    sizeCalculation: (stored, url) => stored.reduce((all, { size }) => all + size + 2000, url.length),
  });

  /** How often it has answered: with a whole response, with a 304. */
  readonly hits = { whole: 0, notModified: 0 };

  /** Answers the request if it can; false when the application has to. */
  respond(request: IncomingMessage, response: ServerResponse): boolean {
    const { method, url = '' } = request;
    if (method !== 'GET') return false;
    const all = this.#responses.get(url);
    const asked = all && readVaryKey(request);
    const stored = asked && all.find((one) => isSame(one, asked));
    if (stored === undefined) return false;
    if (!stored.current()) {
      this.#responses.delete(url);
      return false;
    }
    const kind = kindOf(asked?.condition, stored.etag);
    if (kind === undefined || !stored[kind]?.send(response)) return false;
    this.hits[kind]++;
    return true;
  }

  /** Keeps an answer that has just been decided, with the headers as they were sent: a 200, or a 304 that has no body. */
  store(
    request: IncomingMessage,
    response: ServerResponse,
    body: Buffer | null,
    current: () => boolean,
  ): void {
    const { method, url = '' } = request;
    const asked = readVaryKey(request);
    const etag = response.getHeader('etag');
    if (asked === undefined || method !== 'GET' || url.length > longest || typeof etag !== 'string') return;
    const { accept, encoding, language } = asked;
    if (accept.length + encoding.length + language.length > longest) return;
    const pairs = Object.entries(response.getHeaders()).map(
      ([name, value]) => [name, String(value)] as const,
    );
    const describing = pairs.filter(([name]) => !/^content-(type|length|encoding)$/.test(name)).flat();
    const kept = (this.#responses.get(url) ?? []).filter((one) => one.current());
    if (body === null && kept.some((one) => isSame(one, asked))) return;
    const others = kept.filter((one) => !isSame(one, asked));
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
    this.#responses.set(url, [stored, ...others.slice(0, mostVariants - 1)]);
  }
}

/** What a condition is answered with; undefined where the application has to look closer. */
function kindOf(condition: string | undefined, etag: string): 'whole' | 'notModified' | undefined {
  if (condition === undefined) return 'whole';
  return condition === etag ? 'notModified' : undefined;
}

/** Characters of an address, or of what is wished, above which a response is not kept. */
const longest = 1000;

/** Responses kept for one address. */
const mostVariants = 16;

function isSame(a: VaryKey, b: VaryKey): boolean {
  return a.accept === b.accept && a.encoding === b.encoding && a.language === b.language;
}

/**
 * What of the headers matters for a read; undefined where more than that may matter. Read from the raw headers, as
 * making the object of all of them would take longer than all else here.
 */
function readVaryKey({
  rawHeaders,
  url = '',
}: IncomingMessage): (VaryKey & { readonly condition?: string }) | undefined {
  const forInterface = url.startsWith('/api/');
  const found: { [name in ReadHeader]?: string } = {};
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = headerOf(rawHeaders[i] ?? '');
    if (name === undefined) continue;
    if (found[name] !== undefined) return undefined;
    found[name] = rawHeaders[i + 1] ?? '';
  }
  // Only pages speak languages, and only to them a cookie says who asks.
  if (found['if-modified-since'] !== undefined || (!forInterface && found.cookie !== undefined))
    return undefined;
  return {
    accept: found.accept ?? '',
    encoding: found['accept-encoding'] ?? '',
    language: forInterface ? '' : (found['accept-language'] ?? ''),
    ...(found['if-none-match'] !== undefined && { condition: found['if-none-match'] }),
  };
}

const readNames = [
  'accept',
  'cookie',
  'if-none-match',
  'accept-encoding',
  'accept-language',
  'if-modified-since',
] as const;
type ReadHeader = (typeof readNames)[number];

/** The header if it is one of ours, in whatever case it was written. */
function headerOf(name: string): ReadHeader | undefined {
  // Most headers are none of these, which their lengths tell.
  if (name.length !== 6 && name.length !== 13 && name.length !== 15 && name.length !== 17) return undefined;
  const lower = name.toLowerCase();
  return readNames.find((known) => known === lower);
}
