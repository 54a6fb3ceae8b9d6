import type { FileStat } from '../page/layout.ts';
import type { IndexedBot } from './bot-index.ts';

/** The bots and stats of a folder. */
export interface FolderState {
  readonly folder: string;
  /** A hash of the names and stats of all files; empty if the folder must be scanned. */
  readonly fingerprint: string;
  readonly bots: readonly IndexedBot[];
  /** By file name; null for a file that must be read again. */
  readonly stats: ReadonlyMap<string, FileStat | null>;
}

/**
 * The state of a folder as bytes, for another thread or the snapshot. It stays packed because unpacking a hundred
 * thousand bots takes a second.
 */
export interface PackedFolder extends Pick<FolderState, 'folder' | 'fingerprint'> {
  /** The number of bots. */
  readonly size: number;
  /** Everything except the records and the commands, as JSON. */
  readonly meta: string | Buffer;
  /** The records of all bots, each followed by its commands. */
  readonly records: Uint8Array;
}

interface FolderMeta {
  /** Bots with the lengths of their record and commands in place of these. */
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

/** Returns the parts of a packed folder besides its `meta`, in order. */
export function listParts(bots: readonly IndexedBot[]): Buffer[] {
  return bots.flatMap(({ record, commands }) => (commands === null ? [record] : [record, commands]));
}

/** Returns the bots and stats of a folder; the records are views of its bytes. @throws when the folder is damaged */
export function unpackFolder({ meta, records }: PackedFolder): Pick<FolderState, 'bots' | 'stats'> {
  const { bots, stats } = JSON.parse(meta.toString()) as FolderMeta;
  const bytes = Buffer.from(records.buffer, records.byteOffset, records.length);
  let offset = 0;
  const take = (length: number): Buffer => bytes.subarray(offset, (offset += length));
  return {
    // Written out, because for copies without some keys (`{ record, ...others }`) V8 creates a hidden class per object.
    bots: bots.map((bot) => ({
      ...bot,
      record: take(bot.record),
      commands: bot.commands === null ? null : take(bot.commands),
    })),
    stats: new Map(stats),
  };
}

/**
 * Memory for parts with equally long lives. They share large blocks, because small blocks of different ages leave
 * holes that the process keeps. The memory is shared: threads pass it on without a copy, and it does not make the
 * garbage collector run more often.
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

/** From this size on, glibc returns freed memory to the system immediately. Unused parts of a block take up no memory. */
const blockSize = 32 * 1024 * 1024;

/** For the records of all bots. */
export const recordMemory = new BlockMemory();
