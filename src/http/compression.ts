import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';

export type Coding = 'br' | 'gzip';

/** Bytes to send: in one piece, or in pieces that can be asked for again and again. */
export type Body = Buffer | (() => Iterable<Buffer>);

/** Compressed bodies by what they are the content of, made once and kept while they are asked for. */
export class CompressedBodies {
  readonly #cache = new LRUCache<string, Buffer, { body: Body; coding: Coding }>({
    maxSize: 128 * 1024 * 1024,
    maxEntrySize: 64 * 1024 * 1024,
    sizeCalculation: (bytes) => bytes.length + 200,
    fetchMethod: (_key, _stale, { context }) => compress(context.body, context.coding),
  });

  /**
   * The body in a content coding; nobody compresses the same one twice at once.
   * @param digest names the content: the same digest, the same bytes
   */
  async get(digest: string, coding: Coding, body: Body): Promise<Buffer> {
    return await this.#cache.forceFetch(`${digest} ${coding}`, { context: { body, coding } });
  }
}

/** Off the event loop. What comes in pieces is large: it is compressed faster and less. */
async function compress(body: Body, coding: Coding): Promise<Buffer> {
  if (Buffer.isBuffer(body)) {
    return await (coding === 'br'
      ? brotliOf(body, brotliOptions(5, body.length))
      : gzipOf(body, { level: 6 }));
  }
  const output = coding === 'br' ? createBrotliCompress(brotliOptions(4)) : createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  await pipeline(Readable.from(body(), { objectMode: false }), output, async (compressed) => {
    for await (const chunk of compressed) chunks.push(chunk as Buffer);
  });
  return Buffer.concat(chunks);
}

const gzipOf = promisify<Buffer, { level: number }, Buffer>(gzip);
const brotliOf = promisify<Buffer, ReturnType<typeof brotliOptions>, Buffer>(brotliCompress);

function brotliOptions(quality: number, size = 0): { params: Record<number, number> } {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: size } };
}
