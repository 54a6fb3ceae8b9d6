import { close, constants, fdatasync, ftruncate, open, write } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { failpoint } from '../../failpoint.ts';
import { fsyncFolder } from '../../disk/fsync.ts';

/**
 * The file of the journal that is being written. It is filled with zeros ahead and overwritten with synchronous
 * writes: so one call makes a group durable, and the file system has nothing of its own to write. What failed to be
 * written is cut off before anything else is appended: the kernel may have kept it.
 */
export class Segment {
  readonly path: string;
  readonly #file: number;
  #length = 0;
  /** Bytes that are there, the zeros too. */
  #allocated = 0;
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
    return new Segment(path, await openFile(path, flags));
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
      if (this.#length + bytes.length > this.#allocated) await this.#allocate(bytes.length);
      failpoint('journal.before-write');
      await writeAll(this.#file, bytes, this.#length);
      failpoint('journal.after-write');
    } catch (error) {
      this.#doubtful = true;
      throw error;
    }
    this.#length += bytes.length;
  }

  /** Makes sure that it holds what was accepted and nothing else, and that its name is durable. */
  async settle(): Promise<void> {
    if (!this.#named) {
      await fsyncFolder(dirname(this.path));
      this.#named = true;
      failpoint('journal.after-rotate');
    }
    if (!this.#doubtful) return;
    await truncateFile(this.#file, this.#length);
    await syncFile(this.#file);
    this.#allocated = this.#length;
    this.#doubtful = false;
  }

  /** Lets go of the file, and of the zeros that nothing was written over. */
  async close(): Promise<void> {
    await truncateFile(this.#file, this.#length).catch(() => {});
    await closeFile(this.#file);
  }

  async #allocate(atLeast: number): Promise<void> {
    await writeAll(this.#file, new Uint8Array(Math.max(step, atLeast)), this.#length);
    this.#allocated = this.#length + Math.max(step, atLeast);
  }
}

const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;

/** So many bytes are filled with zeros at a time. */
const step = 1024 * 1024;

const openFile = promisify(open);
const syncFile = promisify(fdatasync);
const truncateFile = promisify(ftruncate);
const closeFile = promisify(close);

/** Writes all of `bytes`; durable when it resolves, as the file was opened so. */
async function writeAll(file: number, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;) {
    done += await writeSome(file, bytes, done, position + done);
  }
}

async function writeSome(file: number, bytes: Uint8Array, from: number, position: number): Promise<number> {
  return await new Promise((resolve, reject) => {
    write(file, bytes, from, bytes.length - from, position, (error, written) => {
      if (error) reject(error);
      else resolve(written);
    });
  });
}
