import { hash } from 'node:crypto';
import { readdir, readFile, rm, stat, utimes, type FileHandle, open } from 'node:fs/promises';
import { join } from 'node:path';
import { crc32 } from 'node:zlib';
import type { BotId } from '../bot/id.ts';
import { ignoreMissing } from '../lib/errors.ts';
import { writeAtomically } from '../lib/files.ts';
import type { Failure } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';

/** The widths of the smaller copies, in pixels: 128 for avatars, 320 in pages, 640 for covers and screenshots. */
const variantWidths = [128, 320, 640] as const;
export type VariantWidth = (typeof variantWidths)[number];

/** Returns the path of a smaller copy. @param path the path of a full copy, such as `/appdata/<digest>.webp` */
export function toVariantPath(path: string, width: VariantWidth): string {
  return path.replace(/\.webp$/, `.${width}.webp`);
}

/** Parses the name of a full copy, `<digest>`, or of a smaller one, `<digest>.<width>`; undefined for other names. */
export function parseImageName(
  name: string,
): { readonly digest: string; readonly width: VariantWidth | undefined } | undefined {
  const [, digest, digits] = /^([0-9a-f]{64})(?:\.(\d+))?$/.exec(name) ?? [];
  const width = variantWidths.find((known) => String(known) === digits);
  if (digest === undefined || (digits !== undefined && width === undefined)) return undefined;
  return { digest, width };
}

/** Makes smaller copies. */
interface Resizer {
  readonly decode: (bytes: Buffer, size: VariantWidth) => Promise<{ readonly bytes: Buffer }>;
}

/** The name of a stored image: the SHA-256 of its bytes in hexadecimal. */
export type ImageName = string;

/**
 * The folder of the copies. A full copy is `<a>/<bc>/<name>.webp`, where a and bc are the first digits of the name;
 * smaller copies are next to it as `<name>.<width>.webp`. Files are written atomically and never change.
 */
export class ImageStore {
  readonly #folder: string;
  /** Writes and removes files one after the other, so that an image that is stored again is kept. */
  readonly #writes = new SerialQueue();
  /** Makes smaller copies one at a time. */
  readonly #makeQueue = new SerialQueue();
  /** Name and width → the copy in progress, which concurrent requests share. */
  readonly #making = new Map<string, Promise<Buffer | undefined>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores an image. Resolves with its name once it is durable. */
  async put(bytes: Buffer): Promise<ImageName> {
    const name = hash('sha256', bytes);
    const path = this.#pathOf(name);
    await this.#writes.run(async () => await writeAtomically(path, bytes, { fsync: 'content' }));
    return name;
  }

  /** Reads an image or its copy of this width; undefined if it does not exist. */
  async read(name: string, width?: VariantWidth): Promise<Buffer | undefined> {
    return parseImageName(name) && (await readStored(this.#pathOf(name, width)));
  }

  /**
   * Reads the copy of this width, which is made from the full copy for the first request. Returns the full copy if
   * that fails, undefined if the image does not exist.
   */
  async readVariant(name: ImageName, width: VariantWidth, decoder: Resizer): Promise<Buffer | undefined> {
    const stored = await this.read(name, width);
    if (stored !== undefined) return stored;
    const key = `${name}.${width}`;
    const making =
      this.#making.get(key) ??
      this.#makeQueue
        .run(async () => await this.#makeVariant(name, width, decoder))
        .finally(() => this.#making.delete(key));
    this.#making.set(key, making);
    return await making;
  }

  /**
   * Starts the grace period of an unreferenced image by touching its file. If that fails, the period counts from when
   * the file was written.
   */
  async release(name: ImageName): Promise<void> {
    const now = new Date();
    await utimes(this.#pathOf(name), now, now).catch(() => {});
  }

  /**
   * Removes the files of images that are not in `named` and were written or released more than `grace` milliseconds
   * ago. Keeps an image that is stored again during the call.
   * @returns the number of files removed, and the images that have a full copy
   */
  async sweep(
    named: ReadonlySet<ImageName>,
    grace: number,
  ): Promise<{ readonly removed: number; readonly stored: ReadonlySet<ImageName> }> {
    const stored = new Set<ImageName>();
    let removed = 0;
    for await (const { folder, files } of this.#folders()) {
      for (const file of files) {
        const { digest = '', width } = parseFileName(file) ?? {};
        if (width === undefined) stored.add(digest);
        if (named.has(digest)) continue;
        if (await this.#writes.run(async () => await removeOldFile(join(folder, file), grace))) removed += 1;
      }
    }
    return { removed, stored };
  }

  async #makeVariant(name: ImageName, width: VariantWidth, decoder: Resizer): Promise<Buffer | undefined> {
    const full = await this.read(name);
    if (full === undefined) return undefined;
    const smaller = await decoder.decode(full, width).catch(() => undefined);
    if (smaller === undefined) return full;
    // If the copy cannot be stored, it is made again for the next request.
    await writeAtomically(this.#pathOf(name, width), smaller.bytes, { fsync: 'content' }).catch(() => {});
    return smaller.bytes;
  }

  async *#folders(): AsyncGenerator<{ folder: string; files: string[] }> {
    for (const outer of await listMatchingPaths(this.#folder, /^[0-9a-f]$/)) {
      for (const folder of await listMatchingPaths(outer, /^[0-9a-f]{2}$/)) {
        yield { folder, files: await readdir(folder) };
      }
    }
  }

  #pathOf(name: ImageName, width?: VariantWidth): string {
    const file = width === undefined ? `${name}.webp` : `${name}.${width}.webp`;
    return join(this.#folder, name.slice(0, 1), name.slice(1, 3), file);
  }
}

/** Reads a file; undefined if it does not exist, or is empty, as a power loss may leave it. */
export async function readStored(path: string): Promise<Buffer | undefined> {
  const bytes = await ignoreMissing(readFile(path));
  return bytes?.length === 0 ? undefined : bytes;
}

async function listMatchingPaths(folder: string, pattern: RegExp): Promise<string[]> {
  const names = (await ignoreMissing(readdir(folder))) ?? [];
  return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
}

function parseFileName(file: string): ReturnType<typeof parseImageName> {
  return file.endsWith('.webp') ? parseImageName(file.slice(0, -'.webp'.length)) : undefined;
}

/** Removes a file that was written at least `age` milliseconds ago. Returns whether it did. */
async function removeOldFile(path: string, age: number): Promise<boolean> {
  const facts = await ignoreMissing(stat(path));
  const isOld = facts !== undefined && facts.isFile() && facts.mtimeMs <= Date.now() - age;
  if (isOld) await rm(path, { force: true });
  return isOld;
}

/** A copy of an image: its public path, and its size in pixels. */
export interface ImagePlace {
  readonly path: string;
  readonly width: number;
  readonly height: number;
}

/** The use of an image, on which the size of its copy depends. Covers and previews are wide. */
export type ImageKind = 'avatar' | 'wide';

/** The copy of an image, in pixels; times in milliseconds since the epoch. */
export interface ImageCopy {
  readonly name: ImageName;
  readonly width: number;
  readonly height: number;
  readonly fetchedAt: number;
}

/** The failures of an image in a row, and the time of the next retry, in milliseconds since the epoch. */
export interface FetchFailure {
  readonly count: number;
  readonly retryAt: number;
  readonly message: string;
  /** When the image first failed; null if it is refused, because no copies are made of its kind, such as an SVG. */
  readonly since: number | null;
}

/** An image that a bot refers to: its copy, its failures and whether it is queued. */
export interface ImageEntry {
  readonly kind: ImageKind;
  readonly url: string;
  /** The last good copy. */
  copy: ImageCopy | null;
  failure: FetchFailure | null;
  /** The bots that refer to the image or did. */
  bots: BotId | Set<BotId> | null;
  /** The number of the last scan of the catalogue that found the image. */
  seenIn: number;
  /** When a scan first found no reference to the image, in milliseconds since the epoch. */
  unwantedSince: number | null;
  queued: boolean;
}

/**
 * All images by kind and address, in memory and in a file. Each line has a checksum and an image; the last line of an
 * image counts. Changes are appended; the file is rewritten at the first change of each run, and when most of its lines
 * are outdated. Invalid and incomplete lines are ignored, and so is a file of another format, because the index is a
 * cache.
 */
export class ImageIndex {
  readonly #path: string;
  readonly #entries: Readonly<Record<ImageKind, Map<string, ImageEntry>>> = {
    avatar: new Map(),
    wide: new Map(),
  };
  readonly #changed = new Set<ImageEntry>();
  /** The number of lines of the file; infinite for one that is to be rewritten. */
  #lines = Number.POSITIVE_INFINITY;
  #handle: FileHandle | undefined;
  readonly #writes = new SerialQueue();

  private constructor(path: string) {
    this.#path = path;
  }

  /** Opens the index in the file at `path`, which may be missing. */
  static async open(path: string): Promise<ImageIndex> {
    const index = new ImageIndex(path);
    const file = await ignoreMissing(open(path));
    let isFirst = true;
    for await (const line of file?.readLines() ?? []) {
      if (!isFirst) index.#applyLine(line);
      else if (line !== magic) break;
      isFirst = false;
    }
    await file?.close();
    return index;
  }

  get size(): number {
    return this.#entries.avatar.size + this.#entries.wide.size;
  }

  *[Symbol.iterator](): Generator<ImageEntry> {
    yield* this.#entries.avatar.values();
    yield* this.#entries.wide.values();
  }

  get(kind: ImageKind, url: string): ImageEntry | undefined {
    return this.#entries[kind].get(url);
  }

  /** Returns the images whose last attempt failed, by address. */
  failures(): Map<string, Failure> {
    const failures = new Map<string, Failure>();
    for (const { url } of this) {
      const failure = this.failureOf(url);
      if (failure) failures.set(url, failure);
    }
    return failures;
  }

  /** Returns why the last attempt for an image failed, unless it was refused. `<url> <message>` is a sentence. */
  failureOf(url: string): Failure | undefined {
    for (const images of Object.values(this.#entries)) {
      const { message = '', since = null } = images.get(url)?.failure ?? {};
      if (since !== null) return { message, since };
    }
    return undefined;
  }

  /** Returns the entry of an image, creating it if needed. */
  getOrCreate(kind: ImageKind, url: string): ImageEntry {
    const known = this.#entries[kind].get(url);
    if (known) return known;
    const entry: ImageEntry = {
      kind,
      url,
      copy: null,
      failure: null,
      bots: null,
      seenIn: 0,
      unwantedSince: null,
      queued: false,
    };
    this.#entries[kind].set(url, entry);
    return entry;
  }

  remove(entry: ImageEntry): void {
    this.#entries[entry.kind].delete(entry.url);
    // A line without them removes the image.
    entry.copy = entry.failure = null;
    this.noteChange(entry);
  }

  /** Marks an entry as changed; `flush` writes it. */
  noteChange(entry: ImageEntry): void {
    this.#changed.add(entry);
  }

  /** Writes the changed entries. If it rejects, they are kept for the next call. */
  async flush(): Promise<void> {
    await this.#writes.run(async () => await this.#write());
  }

  /** Writes the changed entries and closes the file. */
  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.#handle?.close();
      this.#handle = undefined;
    }
  }

  async #write(): Promise<void> {
    if (this.#changed.size === 0) return;
    const batch = [...this.#changed];
    this.#changed.clear();
    try {
      if (this.#lines > 2 * this.size + spareLines) await this.#rewrite();
      else await this.#append(batch);
    } catch (error) {
      for (const entry of batch) this.#changed.add(entry);
      this.#lines = Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  async #append(batch: readonly ImageEntry[]): Promise<void> {
    this.#handle ??= await open(this.#path, 'a');
    await this.#handle.appendFile(batch.map(formatLine).join(''));
    this.#lines += batch.length;
  }

  async #rewrite(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    let lines = 0;
    const write = async (file: FileHandle): Promise<void> => {
      await file.writeFile(`${magic}\n`);
      let block: string[] = [];
      for (const entry of this) {
        if (entry.copy === null && entry.failure === null) continue;
        block.push(formatLine(entry));
        lines += 1;
        if (block.length < blockLines) continue;
        await file.writeFile(block.join(''));
        block = [];
      }
      await file.writeFile(block.join(''));
    };
    await writeAtomically(this.#path, write, { fsync: 'content' });
    this.#lines = lines;
  }

  #applyLine(text: string): void {
    const json = text.slice(9);
    if (text.slice(0, 8) !== formatChecksum(json)) return;
    const [kind, url, copy, failure, unwantedSince = null] = JSON.parse(json) as Line;
    if (copy === null && failure === null) this.#entries[kind].delete(url);
    else Object.assign(this.getOrCreate(kind, url), { copy, failure, unwantedSince });
  }
}

const magic = 'botshelf images 1';

/** Minimum number of outdated lines before the file is rewritten. */
const spareLines = 1_000;

const blockLines = 1_000;

type Line = readonly [ImageKind, string, ImageCopy | null, FetchFailure | null, (number | null)?];

function formatLine({ kind, url, copy, failure, unwantedSince }: ImageEntry): string {
  const line: Line = [kind, url, copy, failure, unwantedSince];
  const json = JSON.stringify(line);
  return `${formatChecksum(json)} ${json}\n`;
}

function formatChecksum(json: string): string {
  return crc32(json).toString(16).padStart(8, '0');
}
