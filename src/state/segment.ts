import { close, constants, fdatasync, ftruncate, open, write } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { failpoint } from '../failpoint.ts';
import { syncFolder } from './durable-folder.ts';

/**
 * The file of the journal that is being written. What failed to be written or synced is cut off before anything
 * else is appended: the kernel may have kept it, and after a failed fsync it says nothing true about it.
 */
export class Segment {
  readonly path: string;
  readonly #file: number;
  #length = 0;
  /** Whether its name is durable. */
  #named = false;
  /** Whether more than `#length` may be in it. */
  #doubtful = false;

  private constructor(path: string, file: number) {
    this.path = path;
    this.#file = file;
  }

  /** Makes the file; there must be none of that name. */
  static async create(path: string): Promise<Segment> {
    return new Segment(path, await openFile(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL));
  }

  /** Bytes that are durable. */
  get length(): number {
    return this.#length;
  }

  /** Whether it may hold bytes that were refused. */
  get doubtful(): boolean {
    return this.#doubtful;
  }

  /** Appends durably. When it throws, nothing of `bytes` counts, though some of it may be there until `settle`. */
  async append(bytes: Uint8Array): Promise<void> {
    await this.settle();
    try {
      failpoint('journal.before-write');
      for (let done = 0; done < bytes.length;) {
        done += await writeFile(this.#file, bytes, done, this.#length + done);
      }
      failpoint('journal.after-write');
      await syncFile(this.#file);
      failpoint('journal.after-sync');
    } catch (error) {
      this.#doubtful = true;
      throw error;
    }
    this.#length += bytes.length;
  }

  /** Makes sure that it holds what was accepted and nothing else, and that its name is durable. */
  async settle(): Promise<void> {
    if (!this.#named) {
      await syncFolder(dirname(this.path));
      this.#named = true;
      failpoint('journal.after-rotate');
    }
    if (!this.#doubtful) return;
    await truncateFile(this.#file, this.#length);
    await syncFile(this.#file);
    this.#doubtful = false;
  }

  async close(): Promise<void> {
    await closeFile(this.#file);
  }
}

const openFile = promisify(open);
const syncFile = promisify(fdatasync);
const truncateFile = promisify(ftruncate);
const closeFile = promisify(close);

async function writeFile(file: number, bytes: Uint8Array, from: number, position: number): Promise<number> {
  return await new Promise((resolve, reject) => {
    write(file, bytes, from, bytes.length - from, position, (error, written) => {
      if (error) reject(error);
      else resolve(written);
    });
  });
}
