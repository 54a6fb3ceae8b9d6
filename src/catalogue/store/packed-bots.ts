import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import type { BotFacts, IndexedBot, IndexedFile } from './bot-index.ts';

/** Bots in a form that can leave the thread or the process: what is small as plain data, all bytes in one piece. */
export interface PackedBots {
  readonly meta: readonly BotMeta[];
  readonly blob: Uint8Array;
}

/**
 * A bot without its bytes; their lengths say where in the blob they are, one after the other. Lists, not objects, as a
 * start reads a hundred thousand of them.
 */
export type BotMeta = readonly [
  id: BotId,
  digest: string,
  record: number,
  pages: readonly number[],
  facts: BotFacts,
  files: readonly FileMeta[],
];

type FileMeta = readonly [locale: Locale, main: boolean, size: number, sha: string, tail: number];

export function packBots(bots: readonly IndexedBot[]): PackedBots {
  const { meta, parts } = packInParts(bots);
  const blob = recordMemory.take(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    blob.set(part, offset);
    offset += part.length;
  }
  return { meta, blob };
}

/** Packs bots without a copy: the parts of the blob are the bytes of the bots. */
export function packInParts(bots: readonly IndexedBot[]): {
  readonly meta: readonly BotMeta[];
  readonly parts: readonly Buffer[];
} {
  return { meta: bots.map(toBotMeta), parts: bots.map(({ record }) => record) };
}

/**
 * Memory for pieces that are used equally long, which shares large blocks among them: small blocks of different ages leave
 * holes that the process keeps. It is shared memory: threads pass it on without a copy, and the garbage collector does not
 * count it, so it does not make the collector run more often.
 */
export class BlockMemory {
  #block: Buffer = Buffer.alloc(0);
  #used = 0;

  /** Returns a buffer of `length` bytes. */
  take(length: number): Buffer {
    if (length > blockSize) return Buffer.from(new SharedArrayBuffer(length));
    if (length > this.#block.length - this.#used) {
      this.#block = Buffer.from(new SharedArrayBuffer(blockSize));
      this.#used = 0;
    }
    return this.#block.subarray(this.#used, (this.#used += length));
  }
}

/** Of this size and above, glibc returns memory to the system at once. What is not used of it takes up no memory. */
const blockSize = 32 * 1024 * 1024;

/** For the records of all bots. */
export const recordMemory = new BlockMemory();

/** Unpacks bots; their bytes are views of the blob. */
export function unpackBots({ meta, blob }: PackedBots): IndexedBot[] {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  let offset = 0;
  return meta.map(([id, digest, record, pages, facts, files]) => ({
    id,
    record: bytes.subarray(offset, (offset += record)),
    pages,
    digest,
    facts,
    files: files.map(toIndexedFile),
  }));
}

function toBotMeta({ id, digest, record, pages, facts, files }: IndexedBot): BotMeta {
  const metas = files.map(({ locale, main, size, sha, tail }): FileMeta => [locale, main, size, sha, tail]);
  return [id, digest, record.length, pages, facts, metas];
}

function toIndexedFile([locale, main, size, sha, tail]: FileMeta): IndexedFile {
  return { locale, main, size, sha, tail };
}
