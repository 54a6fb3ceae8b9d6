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
    await file.write(magic());
    let count = 0;
    for (const block of blocksOf(entries)) {
      const { meta, blob } = toBlock(block.map(({ bot }) => bot));
      await writeBlock(file, { bots: meta, stamps: block.map(({ stamps }) => stamps) }, blob);
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
    const expected = Buffer.from(magic());
    if (!(await readExactly(file, expected.length))?.equals(expected)) return undefined;
    const entries: SnapshotEntry[] = [];
    for (;;) {
      const block = await readBlock(file);
      if (block === undefined) return undefined;
      if (typeof block.meta === 'number') {
        const whole = block.meta === entries.length && (await readExactly(file, 1)) === undefined;
        return whole ? entries : undefined;
      }
      const { bots, stamps } = block.meta;
      fromBlock({ meta: bots, blob: block.blob }).forEach((bot, i) =>
        entries.push({ bot, stamps: stamps[i] ?? [] }),
      );
    }
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** What a block of the file says beside its bytes. */
interface BlockMeta {
  readonly bots: readonly BotMeta[];
  readonly stamps: readonly (readonly Stamp[])[];
}

/** A block is closed once it holds so many bytes. */
const blockSize = 2 * 1024 * 1024;

/** Names the format, the code that makes records and the schemas: a snapshot of another making is no good. */
function magic(): string {
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

/** A block: the lengths of meta and blob and a checksum of both, 4 bytes each; the meta as JSON; the blob. */
async function writeBlock(file: FileHandle, meta: BlockMeta | number, blob: Uint8Array): Promise<void> {
  const json = Buffer.from(JSON.stringify(meta));
  const header = Buffer.alloc(12);
  header.writeUInt32LE(json.length, 0);
  header.writeUInt32LE(blob.length, 4);
  header.writeUInt32LE(crc32(blob, crc32(json)), 8);
  await file.writev([header, json, blob]);
}

async function readBlock(file: FileHandle): Promise<{ meta: BlockMeta | number; blob: Buffer } | undefined> {
  const header = await readExactly(file, 12);
  if (header === undefined) return undefined;
  const metaLength = header.readUInt32LE(0);
  const json = await readExactly(file, metaLength);
  const blob = await readExactly(file, header.readUInt32LE(4));
  if (json === undefined || blob === undefined || crc32(blob, crc32(json)) !== header.readUInt32LE(8))
    return undefined;
  return { meta: JSON.parse(json.toString()) as BlockMeta | number, blob };
}

/** The next `length` bytes of the file, undefined when it ends before; a length no block has is torn too. */
async function readExactly(file: FileHandle, length: number): Promise<Buffer | undefined> {
  if (length > 2 ** 30) return undefined;
  const bytes = Buffer.allocUnsafeSlow(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await file.read(bytes, filled, length - filled, null);
    if (bytesRead === 0) return undefined;
    filled += bytesRead;
  }
  return bytes;
}
