import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { finished, pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { type BrotliCompress, constants, createBrotliCompress, createGzip, type Gzip } from 'node:zlib';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { isError } from '../lib/errors.ts';
import { type Client, findFullShare, toClient } from '../lib/network.ts';
import { FairQueue, SerialQueue } from '../lib/serial-queue.ts';
import type { Pieces } from '../lib/text.ts';
import { corsHeaders, ProblemError } from './problem.ts';

export type Coding = 'br' | 'gzip';

/** A body to send: in one piece, or in several that are produced for each response. */
export type Body = Buffer | Pieces;

/** Whether a body is so large that it is compressed while it is sent, and not kept. */
function isStreamed(body: Body): body is Pieces {
  return !Buffer.isBuffer(body) && body.bytes > maxKeptBytes;
}

/** Bytes before compression, which makes a third of them or less. */
const maxKeptBytes = 128 * 1024 * 1024;

/**
 * Compressed bodies by digest, least recently used first out. Bodies in pieces are compressed one at a time, and clients take
 * turns: several at once would take all threads that also sync files.
 */
export class CompressedBodies {
  readonly #cache: LRUCache<string, Buffer, { body: Body; coding: Coding; address: string }>;
  readonly #queue = new FairQueue(64);
  /** Compresses the pieces of all bodies that are compressed while they are sent, one at a time. */
  readonly #pieceQueue = new SerialQueue();
  /** The client of each body that is compressed while it is sent. */
  readonly #streams = new Set<Client>();

  /** @param maxSize how many bytes are kept, after compression */
  constructor(maxSize = 128 * 1024 * 1024) {
    this.#cache = new LRUCache({
      maxSize,
      maxEntrySize: 64 * 1024 * 1024,
      // A body that larger ones evict while it waits is sent all the same.
      ignoreFetchAbort: true,
      sizeCalculation: (bytes) => bytes.length + 200,
      fetchMethod: async (_key, _stale, { context: { body, coding, address } }) =>
        toOwnMemory(
          await (Buffer.isBuffer(body)
            ? buffer(compress(body, coding))
            : this.#queue.run(address, async () => await compressPieces(body.read(), coding))),
        ),
    });
  }

  /**
   * Returns the body in a content coding: in pieces if it is too large to be kept; undefined if too many others are being
   * compressed, of this client or in all. Callers that want the same one at the same time share the work of any other.
   * @param digest identifies the body: equal digests mean equal bytes
   * @param address that of the client
   */
  async get(digest: string, coding: Coding, body: Body, address: string): Promise<Body | undefined> {
    if (!isStreamed(body)) {
      const context = { body, coding, address };
      return await this.#cache.forceFetch(`${digest} ${coding}`, { context }).catch((error: unknown) => {
        if (isError(error, 'queue-full', 'share-full')) return undefined;
        throw error;
      });
    }
    const streams = [...this.#streams];
    const isFull = findFullShare(toClient(address), streams, maxStreams) !== undefined;
    if (isFull || streams.length >= maxStreams) return undefined;
    return this.stream(body, coding, address);
  }

  /** Returns the body in a content coding, compressed while it is read. */
  stream(body: Pieces, coding: Coding, address: string): Pieces {
    return { bytes: body.bytes, read: () => this.#compressSlowly(body, coding, toClient(address)) };
  }

  /** Yields the compressed body, no faster than it is read. A reader that stops holds a piece in memory, and no thread. */
  async *#compressSlowly(body: Pieces, coding: Coding, client: Client): AsyncGenerator<Buffer> {
    this.#streams.add(client);
    const compressed: Buffer[] = [];
    const output = createCompressor(coding).on('data', (bytes: Buffer) => compressed.push(bytes));
    const write = promisify<Buffer, void>(output.write.bind(output));
    const ended = finished(output);
    // An error of the compressor rejects the write, too.
    ended.catch(() => {});
    try {
      for await (const piece of body.read()) {
        await this.#pieceQueue.run(async () => await write(piece));
        yield* compressed.splice(0);
      }
      output.end();
      await ended;
      yield* compressed;
    } finally {
      output.destroy();
      this.#streams.delete(client);
    }
  }
}

/** Bodies that are compressed while they are sent, each with half a megabyte of memory. */
const maxStreams = 32;

/** Returns a stream of a body in one piece, compressed. */
function compress(body: Buffer, coding: Coding): Gzip | BrotliCompress {
  return createCompressor(coding, { quality: 5, level: 6, size: body.length }).end(body);
}

/** Copies the output of zlib, because a few kilobytes of it keep a chunk of 8 or 16 KiB in memory. */
function toOwnMemory(bytes: Buffer): Buffer {
  const own = Buffer.allocUnsafeSlow(bytes.length);
  bytes.copy(own);
  return own;
}

/**
 * Compresses a body in pieces: at a lower quality than a body in one piece, because it is large. Of 7.5 MB of counts,
 * brotli makes 1.80 MB in 35 ms at quality 1 and 1.86 MB in 131 ms at 4, gzip 1.92 MB in 52 ms.
 */
export async function compressPieces(pieces: AsyncIterable<Buffer>, coding: Coding): Promise<Buffer> {
  return await pipeline(pieces, createCompressor(coding), buffer);
}

function createCompressor(coding: Coding, { quality, level, size } = fastest): Gzip | BrotliCompress {
  if (coding === 'gzip') return createGzip({ level });
  const params = { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: size };
  return createBrotliCompress({ params });
}

/** The quality of brotli, the level of gzip, and the size of the body in bytes; 0 if it is not known. */
const fastest = { quality: 1, level: 1, size: 0 };

/** Content with its type. */
export interface Document {
  /** The media type, with its parameters. */
  readonly type: string;
  /** Identifies this content; the ETag is made from it. */
  readonly digest: string;
  readonly body: Body;
}

/** A document in one piece. */
export interface WholeDocument extends Document {
  readonly body: Buffer;
}

/** Returns the document that has these bytes. */
export function createDocument(type: string, body: Buffer): WholeDocument {
  return { type, body, digest: hash('sha1', body, 'base64url') };
}

/** Returns the document that has a value as JSON. */
export function createJson(value: object): WholeDocument {
  return createDocument('application/json', Buffer.from(JSON.stringify(value)));
}

/** A resource at one moment, ready to be sent. */
export interface Representation extends Document {
  /** The headers, besides those that `send` adds; `readHeaders` if left out. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the resource is unchanged, so that the response may be sent again; if left out, it is never sent again. */
  readonly current?: () => boolean;
}

/**
 * Responds to a read with a representation: strong ETag, 304, HEAD, compression, CORS.
 * @throws {ProblemError} not-acceptable, if Accept-Encoding refuses every coding
 */
export async function send(ctx: Context, representation: Representation): Promise<void> {
  await sendEncoded(ctx, representation, negotiate(ctx, representation.type, representation.body));
}

/** Responds in a content coding, or uncompressed while too many other bodies are being compressed. */
async function sendEncoded(
  ctx: Context,
  { current, ...representation }: Representation,
  coding: Coding | 'identity',
): Promise<void> {
  const { type, digest, body, headers = readHeaders } = representation;
  ctx.status = 200;
  ctx.set({ ...headers, ETag: formatEtag(digest, coding) });
  (ctx.state as RepeatableState).repeatableWhile = current;
  if (isNotModified(ctx)) {
    ctx.status = 304;
    return;
  }
  const bytes = coding === 'identity' ? body : await compressedBodies.get(digest, coding, body, ctx.ip);
  // Without `current`, so that it is not sent again when compression is possible.
  if (bytes === undefined) return await sendEncoded(ctx, representation, 'identity');
  ctx.type = type;
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
  ctx.body = Buffer.isBuffer(bytes) ? bytes : Readable.from(bytes.read(), { objectMode: false });
}

/** Sets the body of a response for this one request, compressed as `send` does it. @throws as `send` */
export function setBodyOnce(ctx: Context, type: string, body: Buffer): void {
  const coding = negotiate(ctx, type, body);
  ctx.body = coding === 'identity' ? body : compress(body, coding);
  ctx.type = type;
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
}

/**
 * Whether the client has this response already, by If-None-Match. Ignores the request's Cache-Control: it is for caches
 * in between, and `fetch` in Node sends `no-cache` with every condition.
 */
export function isNotModified(ctx: Context): boolean {
  const known = parseEtags(ctx.get('If-None-Match'));
  return known.includes('*') || known.includes(ctx.response.get('ETag'));
}

/** Returns the ETags in a condition. Proxies that compress make weak ones, which are compared by their content. */
export function parseEtags(condition: string): string[] {
  return condition.split(',').map((etag) => etag.trim().replace(/^W\//, ''));
}

export const readHeaders = {
  'Cache-Control': 'no-cache',
  ...corsHeaders,
  Vary: 'Accept-Encoding',
};

/** Returns the ETags of a representation, one for each coding. */
export function listEtags(digest: string): string[] {
  return (['identity', 'gzip', 'br'] as const).map((coding) => formatEtag(digest, coding));
}

/** Returns the `current` that `send` noted for this response; undefined when it must not be stored. */
export function readRepeatCheck(state: Context['state']): (() => boolean) | undefined {
  return (state as RepeatableState).repeatableWhile;
}

interface RepeatableState {
  repeatableWhile?: (() => boolean) | undefined;
}

export const compressedBodies = new CompressedBodies();

/** A smaller body gains nothing from compression. */
const minCompressibleBytes = 512;

/** Media types whose bytes are compressed already. */
const compressedTypes = /^(?:application\/(?:gzip|zip)|image\/(?:png|x-icon))$/;

/** Returns the media type that the client prefers; the first one if Accept has no preference (RFC 9110, 12.5.1). */
export function chooseType<T extends string>(ctx: Context, types: readonly T[]): T {
  return types.find((type) => type === ctx.accepts([...types])) ?? (types[0] as T);
}

function negotiate(ctx: Context, type: string, body: Body): Coding | 'identity' {
  const isIncompressible =
    compressedTypes.test(type) || (Buffer.isBuffer(body) && body.length < minCompressibleBytes);
  const codings = isIncompressible ? ['identity'] : ['br', 'gzip', 'identity'];
  const coding = ctx.acceptsEncodings(codings);
  if (coding === 'br' || coding === 'gzip' || coding === 'identity') return coding;
  throw new ProblemError(
    'not-acceptable',
    `this resource is available as ${codings.join(', ')}: accept one of them`,
  );
}

function formatEtag(digest: string, coding: Coding | 'identity'): string {
  return coding === 'identity' ? `"${digest}"` : `"${digest}-${coding}"`;
}
