import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import { blobId, type HashName } from '../../git/objects/object-id.ts';
import { type Fault, fileFault } from './fault.ts';
import { pathOf, type Place } from './layout.ts';
import { maxFileSize, type Page, parsePage } from './page.ts';
import { codeOf, messageOf } from '../../system-error.ts';

/** A page file as it was read from disk; `page` is there when it could be parsed. */
export interface PageFile extends Place {
  /** Relative to the catalogue's folder. */
  readonly path: string;
  /** Bytes. */
  readonly size: number;
  /** The Git blob id. */
  readonly sha: string;
  /** A checksum of the last bytes: a file that still ends as it did was written to its end. */
  readonly tail: number;
  readonly page: Page | undefined;
  readonly faults: readonly Fault[];
}

/**
 * Reads and parses the page file at `place` below `root`. A file that cannot be read or is no regular file
 * is a fault of that file, never an exception; undefined means that there is none.
 * @param hash - of the repository that the file is in
 */
export function readPageFile(root: string, place: Place, hash: HashName = 'sha1'): PageFile | undefined {
  const path = pathOf(place.id, place.locale);
  const bytes = readRegularFile(join(root, path));
  if (bytes === undefined) return undefined;
  if (typeof bytes === 'string') return refusedPageFile(place, fileFault(path, 'regular-file', bytes));
  return pageFileOf(place, bytes, hash);
}

/** Whether the file at `place` below `root` is the blob that Git gives this id. */
export function isBlob(root: string, place: Place, id: string, hash: HashName): boolean {
  const bytes = readRegularFile(join(root, pathOf(place.id, place.locale)));
  return Buffer.isBuffer(bytes) && bytes.length <= maxFileSize && blobId(bytes, hash) === id;
}

/** The page file at `place` that has these bytes. */
export function pageFileOf(place: Place, bytes: Buffer, hash: HashName = 'sha1'): PageFile {
  const path = pathOf(place.id, place.locale);
  const { page, faults } = parsePage(path, bytes);
  const tail = crc32(bytes.subarray(-tailSize));
  return { ...place, path, size: bytes.length, sha: blobId(bytes, hash), tail, page, faults };
}

/** What lies at `place` and is not read, for a fault. */
export function refusedPageFile(place: Place, fault: Fault): PageFile {
  return { ...place, path: fault.path, size: 0, sha: '', tail: 0, page: undefined, faults: [fault] };
}

const tailSize = 64;

/** One byte more than allowed is enough to know that a file is too large. Used for one file after the other. */
const buffer = Buffer.allocUnsafeSlow(maxFileSize + 1);

/** The file's bytes, valid until the next call; a sentence when it must not be read; undefined when it is gone. */
function readRegularFile(absolute: string): Buffer | string | undefined {
  let descriptor: number;
  try {
    descriptor = openSync(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    return openFailure(error);
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return 'this is no regular file: put the page itself here';
    let length = 0;
    for (let read = -1; read !== 0 && length < Math.min(stat.size, buffer.length); length += read) {
      read = readSync(descriptor, buffer, length, buffer.length - length, null);
    }
    return buffer.subarray(0, length);
  } catch (error) {
    return `the file cannot be read (${messageOf(error)}): look at the disk and the file's permissions`;
  } finally {
    closeSync(descriptor);
  }
}

function openFailure(error: unknown): string | undefined {
  switch (codeOf(error)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return undefined;
    case 'ELOOP':
    case 'EMLINK':
      return 'this is a symbolic link: put the page itself here';
    case 'EACCES':
    case 'EPERM':
      return 'the service may not read the file: give it read permission';
    case 'ENXIO':
      return 'this is no regular file: put the page itself here';
    default:
      return `the file cannot be read (${messageOf(error)}): look at the disk and the file's permissions`;
  }
}
