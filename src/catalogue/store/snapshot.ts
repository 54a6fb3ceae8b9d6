import { hash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { readSchema, schemaNames } from '../../bot/schemas.ts';
import { writeAtomically } from '../../lib/files.ts';
import type { PageLimits } from '../page/rules.ts';
import {
  BlockMemory,
  type FolderState,
  listParts,
  packMeta,
  type PackedFolder,
  recordMemory,
} from './packed-folder.ts';

/**
 * Writes a snapshot of the index, and the limits with which its records were read, to `path` atomically. Nothing is
 * fsynced, because it is a cache: every block has a checksum instead.
 * @throws a system error
 */
export async function writeSnapshot(
  path: string,
  folders: Iterable<FolderState>,
  { categories, languages }: PageLimits,
): Promise<void> {
  const write = async (file: FileHandle): Promise<void> => {
    await file.write(`${magic}\n`);
    for (const state of folders) {
      const { folder, fingerprint, bots } = state;
      const head: BlockHead = { folder, fingerprint, size: bots.length };
      await writeBlock(file, head, packMeta(state), listParts(bots));
    }
    await writeBlock(file, { limits: { categories, languages } }, '', []);
  };
  await writeAtomically(path, write, { fsync: 'none' });
}

/** The folders of a snapshot, and the limits with which their records were read. */
interface Snapshot {
  readonly folders: readonly PackedFolder[];
  readonly limits: PageLimits;
}

/**
 * Reads the snapshot at `path`. Returns undefined if it is missing, incomplete, of other code or schemas, or has a
 * wrong checksum.
 */
export async function readSnapshot(path: string): Promise<Snapshot | undefined> {
  const file = await open(path).catch(() => undefined);
  if (file === undefined) return undefined;
  try {
    return await readBlocks(file, Buffer.from(`${magic}\n`));
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/**
 * Identifies the format, the code that makes records, and the schemas; a snapshot with another magic is not used.
 * Computed at the start, because an update may replace the code's files before a snapshot is written.
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

/** The head of a block: of a folder, or of the last block, which has the limits. */
type BlockHead = Pick<PackedFolder, 'folder' | 'fingerprint' | 'size'> | Pick<Snapshot, 'limits'>;

/**
 * Writes a block: the lengths of head, meta and records and a checksum of all, 4 bytes each; then head and meta as
 * JSON; then the records.
 */
async function writeBlock(
  file: FileHandle,
  head: BlockHead,
  meta: string,
  records: readonly Buffer[],
): Promise<void> {
  const [front, body] = [Buffer.from(JSON.stringify(head)), Buffer.from(meta)];
  const parts = [front, body, ...records];
  const length = records.reduce((sum, record) => sum + record.length, 0);
  await file.writev([Uint32Array.of(front.length, body.length, length, computeCrc(parts)), ...parts]);
}

/** Skips empty buffers, because one without memory would reset zlib's checksum. */
function computeCrc(parts: readonly Uint8Array[]): number {
  return parts.reduce((sum, part) => (part.length > 0 ? crc32(part, sum) : sum), 0);
}

/** Returns the content of a snapshot; undefined if it has another magic or ends early. @throws when a block is damaged */
async function readBlocks(file: FileHandle, expected: Buffer): Promise<Snapshot | undefined> {
  const { size: fileSize } = await file.stat();
  const found = Buffer.alloc(expected.length);
  let header = new Uint32Array(4);
  await file.readv([found, header]);
  if (!found.equals(expected)) return undefined;
  // For heads and `meta`, which are dropped when a folder is unpacked; the records stay.
  const memory = new BlockMemory();
  const folders: PackedFolder[] = [];
  for (;;) {
    const [headLength = 0, metaLength = 0, recordsLength = 0, crc] = header;
    const length = headLength + metaLength + recordsLength;
    if (length > fileSize) return undefined;
    const [head, meta] = [memory.take(headLength), memory.take(metaLength)];
    const records = recordMemory.take(recordsLength);
    header = new Uint32Array(4);
    const { bytesRead } = await file.readv([head, meta, records, header]);
    if (bytesRead < length || computeCrc([head, meta, records]) !== crc) return undefined;
    const block = JSON.parse(head.toString()) as BlockHead;
    if ('limits' in block) return bytesRead === length ? { folders, limits: block.limits } : undefined;
    folders.push({ ...block, meta, records });
  }
}
