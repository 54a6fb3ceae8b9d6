import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { readSchema, schemaNames } from '../../bot/schemas.ts';
import { writeAtomically } from '../../lib/atomic-write.ts';
import { BlockMemory, type BotMeta, packInParts, recordMemory, unpackBots } from './packed-bots.ts';
import type { IndexedBot } from './bot-index.ts';
import type { PageLimits } from '../page/rules.ts';
import type { FileStat } from './folder.ts';

/** A bot as it is served, with the stats of its files; no stats where the files must be read again. */
export interface SnapshotEntry {
  readonly bot: IndexedBot;
  readonly stats: readonly FileStat[];
}

/** A folder as it is served. */
export interface SnapshotFolder {
  readonly folder: string;
  /** Of the names and stats of all its files; empty where the folder must be scanned. */
  readonly fingerprint: string;
  readonly entries: readonly SnapshotEntry[];
}

/** A folder of a snapshot, still packed: unpacking a hundred thousand bots at a start would take a second. */
export interface PackedFolder extends BlockHead {
  /** @throws when it is damaged */
  unpack(): SnapshotEntry[];
}

/**
 * Writes a snapshot of the index, whose records fit `limits`, to `path`, as a whole or not at all. It is a cache:
 * nothing is fsynced, every block has a checksum instead.
 * @throws a system error
 */
export async function writeSnapshot(
  path: string,
  folders: Iterable<SnapshotFolder>,
  limits: PageLimits,
): Promise<void> {
  const write = async (file: FileHandle): Promise<void> => {
    await file.write(formatMagic(limits));
    let count = 0;
    for (const { folder, fingerprint, entries } of folders) {
      const { meta, parts } = packInParts(entries.map(({ bot }) => bot));
      const stats = entries.map((entry) => entry.stats.map(toStatMeta));
      await writeBlock(file, { folder, fingerprint, size: entries.length }, { bots: meta, stats }, parts);
      count += 1;
    }
    await writeBlock(file, count, null, []);
  };
  await writeAtomically(path, write, { fsync: 'none' });
}

/**
 * Reads the snapshot at `path`. Returns undefined when there is none, when other code, schemas or limits made it, when
 * it is torn, or when any checksum is wrong: then nothing of it is used.
 */
export async function readSnapshot(path: string, limits: PageLimits): Promise<PackedFolder[] | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const expected = Buffer.from(formatMagic(limits));
    // The records stay; the rest is dropped when a folder is unpacked.
    const memory = new BlockMemory();
    if (!(await readExactly(file, memory, expected.length))?.equals(expected)) return undefined;
    const folders: PackedFolder[] = [];
    for await (const { head, meta, blob, isLast } of readBlocks(file, memory)) {
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
  return unpackBots({ meta: bots, blob }).map((bot, i) => ({ bot, stats: (stats[i] ?? []).map(toFileStat) }));
}

/** The folder of a block. The head of the last block is the number of folders. */
interface BlockHead extends Pick<SnapshotFolder, 'folder' | 'fingerprint'> {
  /** How many bots it has. */
  readonly size: number;
}

/** The data of a block besides the bytes of its bots. */
interface BlockMeta {
  readonly bots: readonly BotMeta[];
  readonly stats: readonly (readonly StatMeta[])[];
}

type StatMeta = readonly [size: number, mtimeMs: number, ctimeMs: number, ino: number];

/** Identifies the code that made a snapshot, and the limits that its records fit. */
function formatMagic({ categories, languages }: PageLimits): string {
  return `${magic} ${hash('sha1', JSON.stringify([categories, languages]))}\n`;
}

/**
 * Identifies the format, the code that makes records, and the schemas: a snapshot with another magic is not used. Made
 * at the start, as an update may have replaced the files of the code by the time a snapshot is written.
 */
const magic = formatCodeMagic();

function formatCodeMagic(): string {
  const code = ['../../bot/', '../../lib/', '../../catalogue/'].flatMap((folder) => {
    const url = new URL(folder, import.meta.url);
    return readdirSync(url, { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.js'))
      .toSorted()
      .map((name) => [name, readFileSync(new URL(name, url), 'utf8')]);
  });
  const schemas = schemaNames.map((name) => JSON.stringify(readSchema(name)));
  const definitions = JSON.stringify(readSchema('definitions'));
  return `botshelf snapshot ${hash('sha1', JSON.stringify([code, schemas, definitions]))}`;
}

function toStatMeta({ size, mtimeMs, ctimeMs, ino }: FileStat): StatMeta {
  return [size, mtimeMs, ctimeMs, ino];
}

function toFileStat([size, mtimeMs, ctimeMs, ino]: StatMeta): FileStat {
  return { size, mtimeMs, ctimeMs, ino };
}

/**
 * Writes a block: the lengths of head, meta and blob and a checksum of all, 4 bytes each; head and meta as JSON; the
 * blob.
 */
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
  header.writeUInt32LE(computeCrc([...front, ...blob]), headerSize - 4);
  await file.writev([header, ...front, ...blob]);
}

/** An empty buffer without memory behind it would reset zlib's checksum. */
function computeCrc(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => (part.length > 0 ? crc32(part, sum) : sum), 0);
}

interface ReadBlock {
  readonly head: BlockHead | number;
  readonly meta: Buffer;
  readonly blob: Buffer;
  /** Whether the file ends here. */
  readonly isLast: boolean;
}

/** Reads the blocks up to the end, or to the first that is not whole. Each is read while the one before is used. */
async function* readBlocks(file: FileHandle, memory: BlockMemory): AsyncGenerator<ReadBlock> {
  let header = await readExactly(file, memory, headerSize);
  let reading = header && readBody(file, memory, header);
  try {
    while (header && reading) {
      const { parts, next, filled } = await reading;
      const [head, meta, blob] = parts;
      const size = head.length + meta.length + blob.length;
      const isWhole =
        filled >= size && parts.every(({ length }, i) => length === header?.readUInt32LE(4 * i));
      if (!isWhole || computeCrc(parts) !== header.readUInt32LE(headerSize - 4)) return;
      header = filled === size + next.length ? next : undefined;
      reading = header && readBody(file, memory, header);
      yield { head: JSON.parse(head.toString()) as BlockHead | number, meta, blob, isLast: filled === size };
    }
  } finally {
    // The caller closes the file once it stops: the block that is read ahead must have ended by then.
    await reading?.catch(() => undefined);
  }
}

const headerSize = 16;

interface BlockBody {
  readonly parts: readonly [head: Buffer, meta: Buffer, blob: Buffer];
  /** The header of the next block. */
  readonly next: Buffer;
  /** How many bytes of all these the file has. */
  readonly filled: number;
}

async function readBody(file: FileHandle, memory: BlockMemory, header: Buffer): Promise<BlockBody> {
  const part = (of: BlockMemory, i: number): Buffer => of.take(capLength(header.readUInt32LE(4 * i)));
  const parts = [part(memory, 0), part(memory, 1), part(recordMemory, 2)] as const;
  const next = memory.take(headerSize);
  return { parts, next, filled: await fillBuffers(file, [...parts, next]) };
}

async function readExactly(
  file: FileHandle,
  memory: BlockMemory,
  length: number,
): Promise<Buffer | undefined> {
  const bytes = memory.take(length);
  return (await fillBuffers(file, [bytes])) === length ? bytes : undefined;
}

/** No block has more than a gigabyte: a larger length is damaged, and its block is not whole. */
function capLength(length: number): number {
  return length > 2 ** 30 ? 0 : length;
}

/** Fills the buffers one after the other with the next bytes of the file. Returns the number of bytes read. */
async function fillBuffers(file: FileHandle, buffers: readonly Buffer[]): Promise<number> {
  const wanted = buffers.reduce((sum, { length }) => sum + length, 0);
  let filled = 0;
  let rest = buffers;
  while (filled < wanted) {
    const { bytesRead } = await file.readv(rest);
    if (bytesRead === 0) break;
    filled += bytesRead;
    rest = skipBytes(rest, bytesRead);
  }
  return filled;
}

/** Returns the buffers without their first `bytes` bytes. */
function skipBytes(buffers: readonly Buffer[], bytes: number): Buffer[] {
  let skip = bytes;
  return buffers.flatMap((buffer) => {
    const left = buffer.subarray(Math.min(skip, buffer.length));
    skip -= buffer.length - left.length;
    return left.length > 0 ? [left] : [];
  });
}
