import type { FileStat } from '../page/page-file.ts';
import type { IndexedBot } from './bot-index.ts';

/** A folder as it was read. */
export interface FolderState {
  readonly folder: string;
  /** Of the names and stats of all its files; empty if the folder must be scanned. */
  readonly fingerprint: string;
  readonly bots: readonly IndexedBot[];
  /** By file name; null for a file that must be read again. */
  readonly stats: ReadonlyMap<string, FileStat | null>;
}

/** The same as bytes, which can leave the thread or the process: unpacking a hundred thousand bots takes a second. */
export interface PackedFolder extends Pick<FolderState, 'folder' | 'fingerprint'> {
  /** How many bots it has. */
  readonly size: number;
  /** Everything but the records, as JSON. */
  readonly meta: string | Buffer;
  /** The records of all bots, each with the commands behind it, one after the other. */
  readonly records: Uint8Array;
}

interface FolderMeta {
  /** Each with the lengths of its record and its commands in place of these. */
  readonly bots: readonly (Omit<IndexedBot, 'record' | 'commands'> & {
    readonly record: number;
    readonly commands: number | null;
  })[];
  readonly stats: readonly (readonly [name: string, stat: FileStat | null])[];
}

export function packFolder(state: FolderState): PackedFolder {
  const { folder, fingerprint, bots } = state;
  const parts = listParts(bots);
  const records = recordMemory.take(parts.reduce((sum, part) => sum + part.length, 0));
  let offset = 0;
  for (const part of parts) offset += part.copy(records, offset);
  return { folder, fingerprint, size: bots.length, meta: packMeta(state), records };
}

/** Returns the `meta` of a packed folder. */
export function packMeta({ bots, stats }: FolderState): string {
  const withLengths = bots.map((bot) => ({
    ...bot,
    record: bot.record.length,
    commands: bot.commands && bot.commands.length,
  }));
  return JSON.stringify({ bots: withLengths, stats: [...stats] } satisfies FolderMeta);
}

/** Returns what a packed folder has of bots besides its `meta`, in order. */
export function listParts(bots: readonly IndexedBot[]): Buffer[] {
  return bots.flatMap(({ record, commands }) => (commands === null ? [record] : [record, commands]));
}

/** Unpacks a folder; the records are views of its bytes. @throws when it is damaged */
export function unpackFolder({ folder, fingerprint, meta, records }: PackedFolder): FolderState {
  const { bots, stats } = JSON.parse(meta.toString()) as FolderMeta;
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.length);
  let offset = 0;
  const take = (length: number): Buffer => bytes.subarray(offset, (offset += length));
  return {
    folder,
    fingerprint,
    // Of a copy without some keys (`{ record, ...others }`) V8 gives each object a hidden class of its own.
    bots: bots.map((bot) => ({
      ...bot,
      record: take(bot.record),
      commands: bot.commands === null ? null : take(bot.commands),
    })),
    stats: new Map(stats),
  };
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

/**
 * Of this size and above, glibc returns memory to the system immediately. What is not used of it takes up no memory.
 */
const blockSize = 32 * 1024 * 1024;

/** For the records of all bots. */
export const recordMemory = new BlockMemory();
