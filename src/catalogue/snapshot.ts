import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type FileHandle, mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname } from 'node:path';
import { crc32 } from 'node:zlib';
import { readSchema, schemaNames } from '../bot/schemas.ts';
import { type BotMeta, fromBlock, toBlock } from './block.ts';
import type { IndexedBot } from './bot-index.ts';
import type { Stamp } from './folder.ts';

/** A bot as it was served, with the stamps of its files; none where they must be read again. */
export interface SnapshotEntry {
  readonly bot: IndexedBot;
  readonly stamps: readonly Stamp[];
}

/**
 * Writes a snapshot of the index to `path`, replacing the one there at once or not at all. It is a cache:
 * nothing is fsynced, every block carries a checksum instead.
 */
export async function writeSnapshot(path: string, entries: Iterable<SnapshotEntry>): Promise<void> {
  await mkdir(dirname(path), { recursive: true });
  const temporary = `${path}.${process.pid}.tmp`;
  const file = await open(temporary, 'w');
  try {
    await file.write(magic);
    let count = 0;
    for (const block of blocksOf(entries)) {
      const { meta, blob } = toBlock(block.map(({ bot }) => bot));
      await writeBlock(file, { bots: meta, stamps: block.map(({ stamps }) => stamps.map(metaOf)) }, blob);
      count += block.length;
    }
    await writeBlock(file, count, new Uint8Array());
  } catch (error) {
    await file.close();
    await rm(temporary, { force: true });
    throw error;
  }
  await file.close();
  await rename(temporary, path);
}

/**
 * Reads the snapshot at `path`. Undefined when there is none, when it was made by other code or other
 * schemas, when it is torn, or when any checksum is wrong: then nothing of it is used.
 */
export async function readSnapshot(path: string): Promise<SnapshotEntry[] | undefined> {
  let file: FileHandle;
  try {
    file = await open(path, 'r');
  } catch {
    return undefined;
  }
  try {
    const expected = Buffer.from(magic);
    if (!(await readExactly(file, expected.length))?.equals(expected)) return undefined;
    const entries: SnapshotEntry[] = [];
    for await (const { meta, blob, isLast } of readBlocks(file)) {
      if (typeof meta === 'number') return isLast && meta === entries.length ? entries : undefined;
      fromBlock({ meta: meta.bots, blob }).forEach((bot, i) =>
        entries.push({ bot, stamps: (meta.stamps[i] ?? []).map(stampOf) }),
      );
    }
    return undefined;
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** What a block of the file says beside its bytes. */
interface BlockMeta {
  readonly bots: readonly BotMeta[];
  readonly stamps: readonly (readonly StampMeta[])[];
}

type StampMeta = readonly [size: number, mtimeMs: number, ctimeMs: number, ino: number];

/** A block is closed once it holds so many bytes. */
const blockSize = 2 * 1024 * 1024;

/**
 * Names the format, the code that makes records and the schemas: a snapshot of another making is no good. Taken at
 * the start, as the files of the code may be others by the time a snapshot is written.
 */
const magic = nameOfCode();

function nameOfCode(): string {
  const code = ['../bot/', './'].flatMap((folder) => {
    const url = new URL(folder, import.meta.url);
    return readdirSync(url)
      .filter((name) => name.endsWith('.js'))
      .toSorted()
      .map((name) => readFileSync(new URL(name, url), 'utf8'));
  });
  const schemas = schemaNames.map((name) => JSON.stringify(readSchema(name)));
  const definitions = JSON.stringify(readSchema('definitions'));
  return `botshelf snapshot ${hash('sha1', JSON.stringify([code, schemas, definitions]))}\n`;
}

function* blocksOf(entries: Iterable<SnapshotEntry>): Generator<SnapshotEntry[]> {
  let block: SnapshotEntry[] = [];
  let size = 0;
  for (const entry of entries) {
    block.push(entry);
    size += entry.bot.record.length + entry.bot.element.length;
    if (size < blockSize) continue;
    yield block;
    block = [];
    size = 0;
  }
  if (block.length > 0) yield block;
}

function metaOf({ size, mtimeMs, ctimeMs, ino }: Stamp): StampMeta {
  return [size, mtimeMs, ctimeMs, ino];
}

function stampOf([size, mtimeMs, ctimeMs, ino]: StampMeta): Stamp {
  return { size, mtimeMs, ctimeMs, ino };
}

/** A block: the lengths of meta and blob and a checksum of both, 4 bytes each; the meta as JSON; the blob. */
async function writeBlock(file: FileHandle, meta: BlockMeta | number, blob: Uint8Array): Promise<void> {
  const json = Buffer.from(JSON.stringify(meta));
  const header = Buffer.alloc(12);
  header.writeUInt32LE(json.length, 0);
  header.writeUInt32LE(blob.length, 4);
  header.writeUInt32LE(checksum(json, blob), 8);
  await file.writev([header, json, blob]);
}

/** zlib takes an empty buffer for a fresh start when there is no memory behind it. */
function checksum(meta: Buffer, blob: Uint8Array): number {
  return blob.length > 0 ? crc32(blob, crc32(meta)) : crc32(meta);
}

interface ReadBlock {
  readonly meta: BlockMeta | number;
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
      const { meta, blob, next, filled } = await reading;
      if (filled < meta.length + blob.length || checksum(meta, blob) !== header.readUInt32LE(8)) return;
      const isLast = filled === meta.length + blob.length;
      header = filled === meta.length + blob.length + next.length ? next : undefined;
      reading = header && readBody(file, header);
      yield { meta: JSON.parse(meta.toString()) as BlockMeta | number, blob, isLast };
    }
  } finally {
    // Whoever has seen enough closes the file: the block that was read ahead must be in by then.
    await reading?.catch(() => undefined);
  }
}

const headerSize = 12;

interface Body {
  readonly meta: Buffer;
  readonly blob: Buffer;
  /** The header of the block behind this one. */
  readonly next: Buffer;
  /** So many bytes there were, of all three. */
  readonly filled: number;
}

async function readBody(file: FileHandle, header: Buffer): Promise<Body> {
  const [meta, blob] = [bufferOf(header.readUInt32LE(0)), bufferOf(header.readUInt32LE(4))];
  const next = bufferOf(headerSize);
  return { meta, blob, next, filled: await fill(file, [meta, blob, next]) };
}

async function readExactly(file: FileHandle, length: number): Promise<Buffer | undefined> {
  const bytes = bufferOf(length);
  return (await fill(file, [bytes])) === length ? bytes : undefined;
}

/** No block has more than a gigabyte: a length that says so is damaged, and its block is not whole. */
function bufferOf(length: number): Buffer {
  return Buffer.allocUnsafeSlow(length > 2 ** 30 ? 0 : length);
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
