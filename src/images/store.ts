import { hash } from 'node:crypto';
import { readdir, readFile, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { writeAtomically } from '../lib/atomic-write.ts';
import { codeOf } from '../lib/errors.ts';
import { parseImageName, type VariantWidth } from './variant-name.ts';

/** The name of a stored image: the SHA-256 of its bytes in hexadecimal. */
export type ImageName = string;

/**
 * The folder of the copies, `<a>/<bc>/<name>.webp`, where a and bc are the first digits of the name, with their smaller
 * copies, `<name>.<width>.webp`. A file is written as a whole or not at all, and never changes.
 */
export class ImageStore {
  readonly #folder: string;
  readonly #putting = new Set<ImageName>();
  /** The names that must stay, while files are being removed. */
  #kept: Set<ImageName> | undefined;
  #removal: Promise<void> = Promise.resolve();

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Stores an image. Resolves with its name once it is durable. */
  async put(bytes: Buffer): Promise<ImageName> {
    const name = hash('sha256', bytes);
    this.#putting.add(name);
    this.#kept?.add(name);
    try {
      await this.#removal;
      await writeAtomically(this.#pathOf(name), bytes, { fsync: 'content' });
    } finally {
      this.#putting.delete(name);
    }
    return name;
  }

  /** Stores a smaller copy of the image of that name. */
  async putVariant(name: ImageName, width: VariantWidth, bytes: Buffer): Promise<void> {
    await writeAtomically(this.#pathOf(name, width), bytes, { fsync: 'none' });
  }

  /** Reads the image of that name, or its copy of that width; undefined when there is none. */
  async read(name: string, width?: VariantWidth): Promise<Buffer | undefined> {
    if (!/^[0-9a-f]{64}$/.test(name)) return undefined;
    try {
      return await readFile(this.#pathOf(name, width));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return undefined;
      throw error;
    }
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
   * Removes the files that are not in `named` and were written or released more than `grace` milliseconds ago. Adds images
   * that are stored during the call to `named`, so that they stay.
   * @returns the number of files removed
   */
  async sweep(named: Set<ImageName>, grace: number): Promise<number> {
    for (const name of this.#putting) named.add(name);
    this.#kept = named;
    let removed = 0;
    try {
      for await (const { folder, files } of this.#folders()) {
        for (const file of files) {
          const name = parseFileName(file)?.digest;
          const isKept = (): boolean => name !== undefined && named.has(name);
          if (isKept() || !(await isOldFile(join(folder, file), grace)) || isKept()) continue;
          this.#removal = rm(join(folder, file), { force: true });
          await this.#removal;
          removed += 1;
        }
      }
    } finally {
      this.#kept = undefined;
      this.#removal = Promise.resolve();
    }
    return removed;
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
  try {
    const names = await readdir(folder);
    return names.filter((name) => pattern.test(name)).map((name) => join(folder, name));
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  }
}

function parseFileName(file: string): ReturnType<typeof parseImageName> {
  return file.endsWith('.webp') ? parseImageName(file.slice(0, -'.webp'.length)) : undefined;
}

async function isOldFile(path: string, age: number): Promise<boolean> {
  try {
    const facts = await stat(path);
    return facts.isFile() && facts.mtimeMs <= Date.now() - age;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return false;
    throw error;
  }
}
