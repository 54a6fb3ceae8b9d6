import { pipeline } from 'node:stream/promises';
import { promisify } from 'node:util';
import { brotliCompress, constants, createBrotliCompress, createGzip, gzip } from 'node:zlib';
import { LRUCache } from 'lru-cache';
import { SerialQueue } from '../concurrency/serial-queue.ts';

export type Coding = 'br' | 'gzip';

/** A body to send: in one piece, or as a function that produces its pieces, any number of times. */
export type Body = Buffer | (() => AsyncIterable<Buffer>);

/**
 * Compressed bodies by digest, least recently used first out. Bodies in pieces are compressed one at a time: several at
 * once would take all threads that also sync files.
 */
export class CompressedBodies {
  readonly #cache = new LRUCache<string, Buffer, { body: Body; coding: Coding }>({
    maxSize: 128 * 1024 * 1024,
    maxEntrySize: 64 * 1024 * 1024,
    sizeCalculation: (bytes) => bytes.length + 200,
    fetchMethod: async (_key, _stale, { context: { body, coding } }) =>
      await (Buffer.isBuffer(body)
        ? compress(body, coding)
        : this.#queue.run(async () => await compressPieces(body(), coding))),
  });
  readonly #queue = new SerialQueue(64);

  /**
   * Returns the body in a content coding. Callers that want the same one at the same time share the work.
   * @param digest identifies the body: equal digests mean equal bytes
   * @throws {QueueFullError}
   */
  async get(digest: string, coding: Coding, body: Body): Promise<Buffer> {
    return await this.#cache.forceFetch(`${digest} ${coding}`, { context: { body, coding } });
  }
}

async function compress(body: Buffer, coding: Coding): Promise<Buffer> {
  return await (coding === 'br' ? brotliOf(body, brotliOptions(5, body.length)) : gzipOf(body, { level: 6 }));
}

/** Compresses a body in pieces: faster and less than one in one piece, as it is large. */
export async function compressPieces(pieces: AsyncIterable<Buffer>, coding: Coding): Promise<Buffer> {
  const output = coding === 'br' ? createBrotliCompress(brotliOptions(4)) : createGzip({ level: 1 });
  const chunks: Buffer[] = [];
  await pipeline(pieces, output, async (compressed) => {
    for await (const chunk of compressed) chunks.push(chunk as Buffer);
  });
  return Buffer.concat(chunks);
}

const gzipOf = promisify<Buffer, { level: number }, Buffer>(gzip);
const brotliOf = promisify<Buffer, ReturnType<typeof brotliOptions>, Buffer>(brotliCompress);

function brotliOptions(quality: number, size = 0): { params: Record<number, number> } {
  return { params: { [constants.BROTLI_PARAM_QUALITY]: quality, [constants.BROTLI_PARAM_SIZE_HINT]: size } };
}
