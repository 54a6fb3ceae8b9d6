import { hash } from 'node:crypto';
import {
  closeSync,
  constants,
  fstatSync,
  openSync,
  readSync,
  type Dirent,
  lstatSync,
  readdirSync,
} from 'node:fs';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { BotId } from '../../bot/id.ts';
import { computeBlobId, type HashName, parseTree } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { codeOf, messageOf } from '../../lib/errors.ts';
import { type Fault, createFileFault } from './fault.ts';
import {
  pathOf,
  type FilePlace,
  type PagePlace,
  botsFolder,
  folderOf,
  gitkeep,
  isPage,
  parseFilePath,
  type PlaceFault,
  parsePlace,
} from './layout.ts';
import { maxFileSize, type Page, type ParsedPage, parsePage } from './page.ts';
import { maxCommandDepth, parseJsonFile } from './side-file.ts';

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
export function toPageFile(
  place: FilePlace,
  reading: Buffer | string | undefined,
  hash: HashName,
): PageFile | undefined {
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

/** Whether the file at `place` below `root` is the blob with this id. */
export function isBlob(root: string, place: FilePlace, id: string, hash: HashName): boolean {
  const bytes = readRegularFile(join(root, pathOf(place.id, place.locale)));
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

/**
 * Reads a file: returns its bytes, why it cannot be read, or undefined if it does not exist. The bytes are at most one
 * more than `maxReadSize`, and valid until the next call.
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

/** The part of a file's stat that changes with its content. */
export interface FileStat {
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
  readonly ino: number;
}

/** Returns the names of all entries of `bots/`, sorted. @throws when `bots/` cannot be read */
export function listTop(root: string): string[] {
  return listTopEntries(root)
    .map(({ name }) => name)
    .toSorted();
}

/**
 * Returns all entries of a folder, unsorted and with their types: a stat per name would delay requests.
 * @param top `bots`, or a folder next to it
 * @throws when the folder cannot be read
 */
export function listTopEntries(root: string, top = botsFolder): Dirent[] {
  if (isLink(root, top)) throw new Error(`${top} is a symbolic link: make it a folder`);
  return readdirSync(join(root, top), { withFileTypes: true }).filter(
    ({ name }) => name !== gitkeep || !isEmptyFile(join(root, top, gitkeep)),
  );
}

/**
 * Returns the stat of every entry of `bots/<folder>/` by name, sorted; empty if the folder does not exist.
 * @throws when the folder, or `bots/` itself, cannot be read
 */
export function listFolder(root: string, folder: string): Map<string, FileStat> {
  const path = join(root, botsFolder, folder);
  const stats = new Map<string, FileStat>();
  for (const name of listNames(root, folder)) {
    const stat = readStat(`${path}/${name}`);
    if (stat) stats.set(name, stat);
  }
  return stats;
}

/** Returns the names of all entries of `bots/<folder>/`, sorted; empty if it does not exist or is a link. @throws as listFolder */
export function listNames(root: string, folder: string): string[] {
  const path = join(root, botsFolder, folder);
  try {
    if (!isLink(root) && lstatSync(path).isDirectory()) return readdirSync(path).toSorted();
  } catch (error) {
    const code = codeOf(error);
    if (code !== 'ENOENT' && code !== 'ENOTDIR') throw error;
  }
  // Throws if `bots/` itself is missing.
  listTop(root);
  return [];
}

/** Returns the places of a bot's pages. @throws as listFolder */
export function listPages(root: string, id: BotId): readonly PagePlace[] {
  const folder = folderOf(id);
  return (groupByBot(folder, listNames(root, folder)).bots.get(id) ?? []).filter(isPage);
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

/** Whether a path below `root` is a folder, without links in the path. Returns false on errors. */
export function isFolder(root: string, path: string): boolean {
  try {
    const parts = path.split('/');
    return parts.every((_, i) => lstatSync(join(root, ...parts.slice(0, i + 1))).isDirectory());
  } catch {
    return false;
  }
}

/** Returns the stat of the file at a place; undefined if it does not exist. */
export function readPageStat(root: string, { id, locale }: FilePlace): FileStat | undefined {
  return readStat(join(root, pathOf(id, locale)));
}

export function isSameFileStat(a: FileStat, b: FileStat): boolean {
  return a.size === b.size && a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.ino === b.ino;
}

/** Returns a hash of the names and stats of a folder, in any order. */
export function computeFingerprint(stats: ReadonlyMap<string, FileStat>): string {
  const lines = [...stats].map(
    ([name, { size, mtimeMs, ctimeMs, ino }]) => `${name} ${size} ${mtimeMs} ${ctimeMs} ${ino}\n`,
  );
  return hash('sha1', lines.toSorted().join(''), 'base64url');
}

/** Groups a folder's names by bot. `misplaced` has the names that the layout does not allow. */
export function groupByBot(
  folder: string,
  names: Iterable<string>,
): {
  readonly bots: ReadonlyMap<BotId, readonly FilePlace[]>;
  readonly misplaced: ReadonlyMap<string, PlaceFault>;
} {
  const bots = new Map<BotId, FilePlace[]>();
  const misplaced = new Map<string, PlaceFault>();
  for (const name of names) {
    const place = parsePlace(folder, name);
    if ('rule' in place) {
      misplaced.set(name, place);
      continue;
    }
    const places = bots.get(place.id);
    if (places) places.push(place);
    else bots.set(place.id, [place]);
  }
  return { bots, misplaced };
}

/** Whether a folder in `root` is a symbolic link, which may point anywhere. */
function isLink(root: string, top = botsFolder): boolean {
  return lstatSync(join(root, top), { throwIfNoEntry: false })?.isSymbolicLink() ?? false;
}

function isEmptyFile(path: string): boolean {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isFile() === true && stat.size === 0;
}

/** Returns the stat of a file; undefined if it does not exist. */
export function readStat(path: string): FileStat | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat && { size: stat.size, mtimeMs: stat.mtimeMs, ctimeMs: stat.ctimeMs, ino: stat.ino };
}
