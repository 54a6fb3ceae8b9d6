import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { computeBlobId, type HashName } from '../../git/objects/objects.ts';
import { type Fault, createFileFault } from './fault.ts';
import { pathOf, type PagePlace } from './layout.ts';
import { maxFileSize, type Page, parsePage } from './page.ts';
import { codeOf, messageOf } from '../../lib/errors.ts';

/** A page file as read from disk; `page` is undefined when it cannot be parsed. */
export interface PageFile extends PagePlace {
  /** Relative to the catalogue's folder. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** The Git blob id. */
  readonly sha: string;
  /** A checksum of the last bytes: where it is unchanged, an editor has written the file to its end. */
  readonly tail: number;
  readonly page: Page | undefined;
  readonly faults: readonly Fault[];
}

/**
 * Reads and parses the page file at `place` below `root`. Undefined when there is none. A file that cannot be read or
 * is not a regular file has a fault; this never throws.
 * @param hash the hash function of the repository
 */
export function readPageFile(root: string, place: PagePlace, hash: HashName = 'sha1'): PageFile | undefined {
  return toPageFile(place, readRegularFile(join(root, pathOf(place.id, place.locale))), hash);
}

/** As readPageFile, of a file that was read before: its bytes, or why it cannot be read. */
export function toPageFile(
  place: PagePlace,
  reading: Buffer | string | undefined,
  hash: HashName,
): PageFile | undefined {
  if (typeof reading !== 'string') return reading && parsePageFile(place, reading, hash);
  return createRefusedPageFile(
    place,
    createFileFault(pathOf(place.id, place.locale), 'regular-file', reading),
  );
}

/** Reads the text of a file of the catalogue below `root`. Undefined when there is none that can be read. @param path must not be user input */
export function readFileText(root: string, path: string): string | undefined {
  const bytes = readRegularFile(join(root, path));
  return Buffer.isBuffer(bytes) && bytes.length <= maxFileSize ? bytes.toString() : undefined;
}

/** Whether the file at `place` below `root` is the blob with this id. */
export function isBlob(root: string, place: PagePlace, id: string, hash: HashName): boolean {
  const bytes = readRegularFile(join(root, pathOf(place.id, place.locale)));
  return Buffer.isBuffer(bytes) && bytes.length <= maxFileSize && computeBlobId(bytes, hash) === id;
}

/** Returns the page file at `place` that has these bytes. */
export function parsePageFile(place: PagePlace, bytes: Buffer, hash: HashName = 'sha1'): PageFile {
  const path = pathOf(place.id, place.locale);
  const { page, faults } = parsePage(path, bytes);
  const tail = crc32(bytes.subarray(-tailSize));
  return { ...place, path, size: bytes.length, sha: computeBlobId(bytes, hash), tail, page, faults };
}

/** Returns the page file at `place` that cannot be read because of a fault. */
export function createRefusedPageFile(place: PagePlace, fault: Fault): PageFile {
  return { ...place, path: fault.path, size: 0, sha: '', tail: 0, page: undefined, faults: [fault] };
}

/** The message for what is in the place of a page and is not a regular file. */
export const notAFile = {
  folder: 'this is a folder: put the file itself here',
  symlink: 'this is a symbolic link: put the file itself here',
  submodule: 'this is a submodule: put the file itself here',
  other: 'this is not a regular file: put the file itself here',
} as const;

/** How many bytes the checksum of the last bytes is of. */
export const tailSize = 64;

/** The largest size of any file that is read, in bytes. */
export const maxReadSize = 1024 * 1024;

/** One byte more than allowed is enough to see that a file is too large. Reused for every file. */
const buffer = Buffer.allocUnsafeSlow(maxReadSize + 1);

/**
 * Returns the file's bytes, at most one more than maxReadSize and valid until the next call; a message when it cannot be
 * read; undefined when it is gone.
 */
export function readRegularFile(absolute: string): Buffer | string | undefined {
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

/** Returns why a file cannot be read; undefined when it is gone. */
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
