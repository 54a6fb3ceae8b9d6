import type { IndexedBot } from './bot-index.ts';

/** Bots in a form that can leave the process: what is small as plain data, all bytes in one piece. */
export interface Block {
  readonly meta: readonly BotMeta[];
  readonly blob: Uint8Array;
}

/** A bot without its bytes; their lengths say where in the blob they are, one after the other. */
export type BotMeta = Omit<IndexedBot, 'record' | 'element'> & {
  readonly record: number;
  readonly element: number;
};

export function toBlock(bots: readonly IndexedBot[]): Block {
  return {
    meta: bots.map(({ record, element, ...rest }) => ({
      ...rest,
      record: record.length,
      element: element.length,
    })),
    blob: Buffer.concat(bots.flatMap(({ record, element }) => [record, element])),
  };
}

/** The bots of a block; their bytes are views of the blob. */
export function fromBlock({ meta, blob }: Block): IndexedBot[] {
  const bytes = Buffer.from(blob.buffer, blob.byteOffset, blob.byteLength);
  let offset = 0;
  return meta.map(({ record, element, ...rest }) => ({
    ...rest,
    record: bytes.subarray(offset, (offset += record)),
    element: bytes.subarray(offset, (offset += element)),
  }));
}
