import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { readSchema, schemaNames } from '../../bot/schemas.ts';
import { writeAtomically } from '../../disk/atomic-write.ts';
import { type BotMeta, fromBlock, memoryOf, takeApart } from './block.ts';
import type { IndexedBot } from '../index/bot-index.ts';
import type { FileStat } from './folder.ts';

/** A bot as it was served, with the stats of its files; none where they must be read again. */
export interface SnapshotEntry {
  readonly bot: IndexedBot;
  readonly stats: readonly FileStat[];
}

/** A folder as it was served. */
export interface SnapshotFolder {
  readonly folder: string;
  /** Names and stats of all its files in one word; empty where it must be looked at. */
  readonly fingerprint: string;
  readonly entries: readonly SnapshotEntry[];
}

/** A folder of a snapshot, still packed: making a hundred thousand bots at a start would take a second. */
export interface PackedFolder {
  readonly folder: string;
  readonly fingerprint: string;
  /** How many bots it has. */
  readonly size: number;
  /** @throws when it is not what was packed */
  unpack(): SnapshotEntry[];
}

/**
 * Writes a snapshot of the index to `path`, replacing the one there at once or not at all. It is a cache:
 * nothing is fsynced, every block carries a checksum instead.
 */
export async function writeSnapshot(path: string, folders: Iterable<SnapshotFolder>): Promise<void> {
  const write = async (file: FileHandle): Promise<void> => {
    await file.write(magic);
    let count = 0;
    for (const { folder, fingerprint, entries } of folders) {
      const { meta, parts } = takeApart(entries.map(({ bot }) => bot));
      const stats = entries.map((entry) => entry.stats.map(metaOf));
      await writeBlock(file, { folder, fingerprint, size: entries.length }, { bots: meta, stats }, parts);
      count += 1;
    }
    await writeBlock(file, count, null, []);
  };
  await writeAtomically(path, write, { fsync: 'none' });
}

/**
 * Reads the snapshot at `path`. Undefined when there is none, when it was made by other code or other
 * schemas, when it is torn, or when any checksum is wrong: then nothing of it is used.
 */
export async function readSnapshot(path: string): Promise<PackedFolder[] | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const expected = Buffer.from(magic);
    if (!(await readExactly(file, expected.length))?.equals(expected)) return undefined;
    const folders: PackedFolder[] = [];
    for await (const { head, meta, blob, isLast } of readBlocks(file)) {
      if (typeof head === 'number') return isLast && head === folders.length ? folders : undefined;
      folders.push({ ...head, unpack: () => unpack(meta, blob) });
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

function unpack(meta: Buffer, blob: Buffer): SnapshotEntry[] {
  const { bots, stats } = JSON.parse(meta.toString()) as BlockMeta;
  return fromBlock({ meta: bots, blob }).map((bot, i) => ({ bot, stats: (stats[i] ?? []).map(statOf) }));
}

/** What a block of the file says of its folder; the last one says how many there are. */
type BlockHead = Pick<SnapshotFolder, 'folder' | 'fingerprint'> & { readonly size: number };

/** What a block of the file says beside its bytes. */
interface BlockMeta {
  readonly bots: readonly BotMeta[];
  readonly stats: readonly (readonly StatMeta[])[];
}

type StatMeta = readonly [size: number, mtimeMs: number, ctimeMs: number, ino: number];

/**
 * Names the format, the code that makes records and the schemas: a snapshot of another making is no good. Taken at
 * the start, as the files of the code may be others by the time a snapshot is written.
 */
const magic = nameOfCode();

function nameOfCode(): string {
  const code = ['../../bot/', '../../json/', '../../catalogue/'].flatMap((folder) => {
    const url = new URL(folder, import.meta.url);
    return readdirSync(url, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .toSorted()
      .map((name) => [name, readFileSync(new URL(name, url), 'utf8')]);
  });
  const schemas = schemaNames.map((name) => JSON.stringify(readSchema(name)));
  const definitions = JSON.stringify(readSchema('definitions'));
  return `botshelf snapshot ${hash('sha1', JSON.stringify([code, schemas, definitions]))}\n`;
}

function metaOf({ size, mtimeMs, ctimeMs, ino }: FileStat): StatMeta {
  return [size, mtimeMs, ctimeMs, ino];
}

function statOf([size, mtimeMs, ctimeMs, ino]: StatMeta): FileStat {
  return { size, mtimeMs, ctimeMs, ino };
}

/** A block: the lengths of head, meta and blob and a checksum of all, 4 bytes each; head and meta as JSON; the blob. */
async function writeBlock(
  file: FileHandle,
  head: BlockHead | number,
  meta: BlockMeta | null,
  blob: readonly Uint8Array[],
): Promise<void> {
  const front = [Buffer.from(JSON.stringify(head)), Buffer.from(JSON.stringify(meta))];
  const lengths = [...front.map(({ length }) => length), blob.reduce((sum, { length }) => sum + length, 0)];
  const header = Buffer.alloc(headerSize);
  for (const [i, length] of lengths.entries()) header.writeUInt32LE(length, 4 * i);
  header.writeUInt32LE(checksum([...front, ...blob]), headerSize - 4);
  await file.writev([header, ...front, ...blob]);
}

/** zlib takes an empty buffer for a fresh start when there is no memory behind it. */
function checksum(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => (part.length > 0 ? crc32(part, sum) : sum), 0);
}

interface ReadBlock {
  readonly head: BlockHead | number;
  readonly meta: Buffer;
  readonly blob: Buffer;
  /** Whether the file ends here. */
  readonly isLast: boolean;
}

/** The blocks of the file up to its end, or to the first that is not whole. One is read while the one before is used. */
async function* readBlocks(file: FileHandle): AsyncGenerator<ReadBlock> {
  let header = await readExactly(file, headerSize);
  let reading = header && readBody(file, header);
  try {
    while (header && reading) {
      const { parts, next, filled } = await reading;
      const [head, meta, blob] = parts;
      const size = head.length + meta.length + blob.length;
      if (filled < size || checksum(parts) !== header.readUInt32LE(headerSize - 4)) return;
      header = filled === size + next.length ? next : undefined;
      reading = header && readBody(file, header);
      yield { head: JSON.parse(head.toString()) as BlockHead | number, meta, blob, isLast: filled === size };
    }
  } finally {
    // Whoever has seen enough closes the file: the block that was read ahead must be in by then.
    await reading?.catch(() => undefined);
  }
}

const headerSize = 16;

interface Body {
  readonly parts: readonly [head: Buffer, meta: Buffer, blob: Buffer];
  /** The header of the block behind this one. */
  readonly next: Buffer;
  /** So many bytes there were, of all of them. */
  readonly filled: number;
}

async function readBody(file: FileHandle, header: Buffer): Promise<Body> {
  const part = (i: number): Buffer => bufferOf(header.readUInt32LE(4 * i));
  const parts = [part(0), part(1), part(2)] as const;
  const next = bufferOf(headerSize);
  return { parts, next, filled: await fill(file, [...parts, next]) };
}

async function readExactly(file: FileHandle, length: number): Promise<Buffer | undefined> {
  const bytes = bufferOf(length);
  return (await fill(file, [bytes])) === length ? bytes : undefined;
}

/** No block has more than a gigabyte: a length that says so is damaged, and its block is not whole. */
function bufferOf(length: number): Buffer {
  return memoryOf(length > 2 ** 30 ? 0 : length);
}

/** Fills the buffers, one after the other, with what comes next in the file; gives how many bytes there were. */
async function fill(file: FileHandle, buffers: readonly Buffer[]): Promise<number> {
  const wanted = buffers.reduce((sum, { length }) => sum + length, 0);
  let filled = 0;
  let rest = buffers;
  while (filled < wanted) {
    const { bytesRead } = await file.readv(rest);
    if (bytesRead === 0) break;
    filled += bytesRead;
    rest = behind(rest, bytesRead);
  }
  return filled;
}

/** What is left of the buffers behind their first `bytes` bytes. */
function behind(buffers: readonly Buffer[], bytes: number): Buffer[] {
  let skip = bytes;
  return buffers.flatMap((buffer) => {
    const left = buffer.subarray(Math.min(skip, buffer.length));
    skip -= buffer.length - left.length;
    return left.length > 0 ? [left] : [];
  });
}
