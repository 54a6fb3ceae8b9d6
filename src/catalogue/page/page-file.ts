import { closeSync, constants, fstatSync, openSync, readSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { maxCommandDepth } from '../../bot/commands.ts';
import type { BotId } from '../../bot/id.ts';
import { computeBlobId, type HashName, parseTree } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { codeOf, messageOf } from '../../lib/errors.ts';
import { type Fault, createFileFault } from './fault.ts';
import { pathOf, type FilePlace, botsFolder, folderOf, isPage, parseFilePath } from './layout.ts';
import { maxFileSize, type Page, type ParsedPage, parsePage } from './page.ts';
import { parseJsonFile } from './side-file.ts';

/**
 * A page or a commands file as it was read. `page` is undefined if the file cannot be parsed. For commands,
 * `page.data` is the object in the file, and `page` is also undefined if the object breaks its schema.
 */
export interface PageFile extends FilePlace {
  /** Relative to the catalogue's folder. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** The Git blob id. */
  readonly sha: string;
  /** A checksum of the last bytes. If they end as before, an editor has finished writing the file. */
  readonly tail: number;
  readonly page: Page | undefined;
  readonly faults: readonly Fault[];
}

/**
 * Reads and parses the file at `place` below `root`. Returns undefined if it does not exist. Never throws: a file that
 * cannot be read, or is not a regular file, has a fault.
 * @param hash the hash function of the repository
 */
export function readPageFile(root: string, place: FilePlace, hash: HashName = 'sha1'): PageFile | undefined {
  return toPageFile(place, readRegularFile(join(root, pathOf(place.id, place.locale))), hash);
}

/** Parses a file like readPageFile, from the result of readRegularFile. */
export function toPageFile(place: FilePlace, reading: FileReading, hash: HashName): PageFile | undefined {
  if (typeof reading !== 'string') return reading && parsePageFile(place, reading, hash);
  return createRefusedPageFile(
    place,
    createFileFault(pathOf(place.id, place.locale), 'regular-file', reading),
  );
}

/** Reads the text of a file below `root`; undefined if it cannot be read or is too large. @param path must not be user input */
export function readFileText(root: string, path: string): string | undefined {
  const bytes = readRegularFile(join(root, path));
  return Buffer.isBuffer(bytes) && bytes.length <= maxFileSize ? bytes.toString() : undefined;
}

/** Whether the file at a path below `root` is the blob with this id. @param path must not be user input */
export function isBlob(root: string, path: string, id: string, hash: HashName): boolean {
  const bytes = readRegularFile(join(root, path));
  return Buffer.isBuffer(bytes) && bytes.length <= maxFileSize && computeBlobId(bytes, hash) === id;
}

/** Parses the bytes of the file at `place`. */
export function parsePageFile<P extends FilePlace>(
  place: P,
  bytes: Buffer,
  hash: HashName = 'sha1',
): PageFile & P {
  const path = pathOf(place.id, place.locale);
  const { page, faults } = isPage(place) ? parsePage(path, bytes) : parseCommandsFile(path, bytes);
  const tail = crc32(bytes.subarray(-tailSize));
  return { ...place, path, size: bytes.length, sha: computeBlobId(bytes, hash), tail, page, faults };
}

function parseCommandsFile(path: string, bytes: Buffer): ParsedPage {
  const parsed = parseJsonFile<Record<string, unknown>>('commands', path, bytes, {
    maxSize: maxFileSize,
    maxDepth: maxCommandDepth,
  });
  if ('faults' in parsed) return { page: undefined, faults: parsed.faults };
  const { data, faultAt } = parsed.value;
  return { page: { data, page: '', faultAt }, faults: [] };
}

/** Returns the file at `place` as one that cannot be read because of a fault. */
export function createRefusedPageFile(place: FilePlace, fault: Fault): PageFile {
  return { ...place, path: fault.path, size: 0, sha: '', tail: 0, page: undefined, faults: [fault] };
}

/** Messages for an entry that is not a regular file. */
export const notAFile = {
  folder: 'this is a folder: put the file itself here',
  symlink: 'this is a symbolic link: put the file itself here',
  submodule: 'this is a submodule: put the file itself here',
  other: 'this is not a regular file: put the file itself here',
} as const;

/** Bytes of which `tail` is a checksum. */
export const tailSize = 64;

/** Maximum size of any file that is read, in bytes. */
export const maxReadSize = 1024 * 1024;

/** Reused for every read. One byte more than allowed shows that a file is too large. */
const buffer = Buffer.allocUnsafeSlow(maxReadSize + 1);

/** The result of reading a file: its bytes, or why it cannot be read; undefined if it does not exist. */
export type FileReading = Buffer | string | undefined;

/**
 * Reads a file: returns its bytes, why it cannot be read, or undefined if it does not exist. The bytes are at most one
 * more than `maxReadSize`, and valid until the next call.
 */
export function readRegularFile(absolute: string): FileReading {
  let descriptor: number;
  try {
    descriptor = openSync(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return describeReadError(error);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return notAFile.other;
    let length = 0;
    for (let read = -1; read !== 0 && length < Math.min(stat.size, buffer.length); length += read) {
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    }
    return buffer.subarray(0, length);
  } catch (error) {
    return describeReadError(error);
  } finally {
    closeSync(descriptor);
  }
}

/** Returns the message for a file that cannot be read; undefined if it does not exist. */
function describeReadError(error: unknown): string | undefined {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return undefined;
    case 'ELOOP':
    case 'EMLINK':
      return notAFile.symlink;
    case 'EACCES':
    case 'EPERM':
      return 'the service may not read the file: give it read permission';
    case 'ENXIO':
      return notAFile.other;
    default:
      return `the file cannot be read (${messageOf(error)}): look at the disk and the file's permissions`;
  }
}

/** Reads a file of the catalogue's repository by its path relative to the settings. Follows no links. */
export type FileReader = (path: string) => Promise<FileReading>;

/** Returns a reader of the files of a catalogue on disk. */
export function createDiskReader(root: string): FileReader {
  // oxlint-disable-next-line typescript/require-await -- others read from Git
  return async (path) => readFromDisk(root, path);
}

/** Reads a file of a catalogue on disk. Refuses links, also in folders of the path. */
export function readFromDisk(root: string, path: string): FileReading {
  const absolute = join(root, path);
  try {
    if (realpathSync(dirname(absolute)) !== join(realpathSync(root), dirname(path)))
      return 'a folder above it is a symbolic link: put the file itself here';
  } catch {
    return undefined;
  }
  const bytes = readRegularFile(absolute);
  // The caller may use the bytes after the next read, which reuses the buffer.
  return Buffer.isBuffer(bytes) ? Buffer.from(bytes) : bytes;
}

/** Returns the places of a bot's files in a commit, with their blobs. @throws {GitError} */
export async function readCommittedPages(
  { objects, hash, prefix }: Pick<Repository, 'objects' | 'hash' | 'prefix'>,
  commit: string,
  id: BotId,
): Promise<{ readonly place: FilePlace; readonly blob: string }[]> {
  const folder = `${botsFolder}/${folderOf(id)}`;
  const tree = await objects.readOne(`${commit}:${prefix}${folder}`);
  const entries = tree?.type === 'tree' ? [...parseTree(tree.content, hash)] : [];
  return entries.flatMap(([name, { mode, id: blob }]) => {
    const place = name.startsWith(`${id}.`) ? parseFilePath(`${folder}/${name}`) : undefined;
    return place && mode.startsWith('100') ? [{ place, blob }] : [];
  });
}
