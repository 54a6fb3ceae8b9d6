import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import type { BotFacts, IndexedBot, IndexedFile } from '../index/bot-index.ts';

/** Bots in a form that can leave the process: what is small as plain data, all bytes in one piece. */
export interface Block {
  readonly meta: readonly BotMeta[];
  readonly blob: Uint8Array;
}

/**
 * A bot without its bytes; their lengths say where in the blob they are, one after the other. Lists, not objects:
 * there are a hundred thousand of them to be read at a start.
 */
export type BotMeta = readonly [
  id: BotId,
  digest: string,
  record: number,
  element: number,
  facts: BotFacts,
  files: readonly FileMeta[],
];

type FileMeta = readonly [locale: Locale, main: boolean, size: number, sha: string, tail: number];

export function toBlock(bots: readonly IndexedBot[]): Block {
  const { meta, parts } = takeApart(bots);
  const blob = memoryOf(parts.reduce((sum, { length }) => sum + length, 0));
  let offset = 0;
  for (const part of parts) {
    blob.set(part, offset);
    offset += part.length;
  }
  return { meta, blob };
}

/** A block whose blob is in pieces, as they are in memory. */
export function takeApart(bots: readonly IndexedBot[]): {
  readonly meta: readonly BotMeta[];
  readonly parts: readonly Buffer[];
} {
  return { meta: bots.map(metaOf), parts: bots.flatMap(({ record, element }) => [record, element]) };
}

/**
 * Memory for the bytes of many bots. It is shared memory, which threads hand on for nothing and the garbage collector
 * does not count: other memory, as it is filled, has it walk over everything there is again and again.
 */
export function memoryOf(length: number): Buffer {
  return Buffer.from(new SharedArrayBuffer(length));
}

/** The bots of a block; their bytes are views of the blob. */
export function fromBlock({ meta, blob }: Block): IndexedBot[] {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  let offset = 0;
  return meta.map(([id, digest, record, element, facts, files]) => ({
    id,
    record: bytes.subarray(offset, (offset += record)),
    element: bytes.subarray(offset, (offset += element)),
    digest,
    facts,
    files: files.map(fileOf),
  }));
}

function metaOf({ id, digest, record, element, facts, files }: IndexedBot): BotMeta {
  const metas = files.map(({ locale, main, size, sha, tail }): FileMeta => [locale, main, size, sha, tail]);
  return [id, digest, record.length, element.length, facts, metas];
}

function fileOf([locale, main, size, sha, tail]: FileMeta): IndexedFile {
  return { locale, main, size, sha, tail };
}
