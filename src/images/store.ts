import { hash } from 'node:crypto';
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../lib/errors.ts';
import { writeAtomically } from '../lib/files.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import type { Decoder } from './decoder.ts';

/** The widths of the smaller copies, in pixels: 128 for avatars, 320 for screenshots. */
const variantWidths = [128, 320] as const;
export type VariantWidth = (typeof variantWidths)[number];

/** Returns the path of a smaller copy. @param path a path of `cachedImages`, such as `/appdata/<digest>.webp` */
export function toVariantPath(path: string, width: VariantWidth): string {
  return path.replace(/\.webp$/, `.${width}.webp`);
}

/** Parses `<digest>`, the name of a full copy, or `<digest>.<width>`; undefined if it is neither. */
export function parseImageName(
  name: string,
): { readonly digest: string; readonly width: VariantWidth | undefined } | undefined {
  const [, digest, digits] = /^([0-9a-f]{64})(?:\.(\d+))?$/.exec(name) ?? [];
  const width = variantWidths.find((known) => String(known) === digits);
  if (digest === undefined || (digits !== undefined && width === undefined)) return undefined;
  return { digest, width };
}

/** The name of a stored image: the SHA-256 of its bytes in hexadecimal. */
export type ImageName = string;

/**
 * The folder of the copies, `<a>/<bc>/<name>.webp`, where a and bc are the first digits of the name, with their smaller
 * copies, `<name>.<width>.webp`. A file is written as a whole or not at all, and never changes.
 */
export class ImageStore {
  readonly #folder: string;
  readonly #putting = new Set<ImageName>();
  #removal: Promise<void> = Promise.resolve();
  /** Makes smaller copies one at a time. */
  readonly #makeQueue = new SerialQueue();
  /** Name and width → the copy that is being made, so that it is made once for concurrent requests. */
  readonly #making = new Map<string, Promise<Buffer | undefined>>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores an image. Resolves with its name once it is durable. */
  async put(bytes: Buffer): Promise<ImageName> {
    const name = hash('sha256', bytes);
    this.#putting.add(name);
    try {
      await this.#removal.catch(() => {});
      await writeAtomically(this.#pathOf(name), bytes, { fsync: 'content' });
    } finally {
      this.#putting.delete(name);
    }
    return name;
  }

  /** Reads the image of that name, or its copy of that width; undefined when there is none. */
  async read(name: string, width?: VariantWidth): Promise<Buffer | undefined> {
    if (!/^[0-9a-f]{64}$/.test(name)) return undefined;
    const bytes = await ignoreMissing(readFile(this.#pathOf(name, width)));
    // A power loss leaves a file without its bytes.
    return bytes?.length === 0 ? undefined : bytes;
  }

  /**
   * Reads the copy of that width, which is made from the full copy for the first request. Returns the full copy if it cannot
   * be made, undefined if there is no image.
   */
  async readVariant(name: ImageName, width: VariantWidth, decoder: Decoder): Promise<Buffer | undefined> {
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

  /** Returns the names of all stored images that have a full copy. */
  async names(): Promise<Set<ImageName>> {
    const names = new Set<ImageName>();
    for await (const { files } of this.#folders()) {
      for (const file of files) {
        const name = parseFileName(file);
        if (name && name.width === undefined) names.add(name.digest);
      }
    }
    return names;
  }

  /**
   * Starts the grace period of an image that nothing refers to any more. When the file cannot be touched, the period has
   * started when the file was written.
   */
  async release(name: ImageName): Promise<void> {
    const now = new Date();
    await utimes(this.#pathOf(name), now, now).catch(() => {});
  }

  /**
   * Removes the files that are not in `named` and were written or released more than `grace` milliseconds ago. One that is
   * stored again during the call stays.
   * @returns the number of files removed
   */
  async sweep(named: ReadonlySet<ImageName>, grace: number): Promise<number> {
    let removed = 0;
    for await (const { folder, files } of this.#folders()) {
      for (const file of files) {
        const name = parseFileName(file)?.digest ?? '';
        const isKept = (): boolean => named.has(name) || this.#putting.has(name);
        if (isKept() || !(await isOldFile(join(folder, file), grace)) || isKept()) continue;
        this.#removal = rm(join(folder, file), { force: true });
        await this.#removal;
        removed += 1;
      }
    }
    return removed;
  }

  async #makeVariant(name: ImageName, width: VariantWidth, decoder: Decoder): Promise<Buffer | undefined> {
    const full = await this.read(name);
    if (full === undefined) return undefined;
    const smaller = await decoder.decode(full, width).catch(() => undefined);
    if (smaller === undefined) return full;
    // Where it cannot be stored, it is made again for the next request.
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

async function listMatchingPaths(folder: string, pattern: RegExp): Promise<string[]> {
  const names = (await ignoreMissing(readdir(folder))) ?? [];
  return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
}

function parseFileName(file: string): ReturnType<typeof parseImageName> {
  return file.endsWith('.webp') ? parseImageName(file.slice(0, -'.webp'.length)) : undefined;
}

async function isOldFile(path: string, age: number): Promise<boolean> {
  const facts = await ignoreMissing(stat(path));
  return facts !== undefined && facts.isFile() && facts.mtimeMs <= Date.now() - age;
}

/** A copy of an image: its public path, and its size in pixels. */
export interface ImagePlace {
  readonly path: string;
  readonly width: number;
  readonly height: number;
}

/** What an image is for, which decides how large its copy may be. Covers and previews are wide. */
export type ImageKind = 'avatar' | 'wide';
