import { close, constants, fdatasync, ftruncate, open, write } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { failpoint } from '../lib/failpoint.ts';
import { fsyncFolder } from '../lib/fsync.ts';

/**
 * The journal's file that is being appended to. It is filled with zeros ahead and overwritten with synchronous writes:
 * one call makes a group durable, without a write of file system metadata. Bytes of a failed write, which the kernel may
 * have kept, are cut off before anything else is appended.
 */
export class Segment {
  readonly path: string;
  readonly #file: number;
  #length = 0;
  /** The file's size, with the zeros. */
  #allocated = 0;
  #isNameDurable = false;
  #mayHoldRefused = false;

  private constructor(path: string, file: number) {
    this.path = path;
    this.#file = file;
  }

  /** Creates the file. @throws a system error where there is one of that name */
  static async create(path: string): Promise<Segment> {
    return new Segment(path, await openFile(path, flags));
  }

  /** The number of durable bytes. */
  get length(): number {
    return this.#length;
  }

  /** Whether the file may hold bytes of a failed write. */
  get mayHoldRefused(): boolean {
    return this.#mayHoldRefused;
  }

  /**
   * Appends durably. When it throws, `bytes` are refused, though some of them may be in the file until `repair`. After
   * a failure even an append of no bytes fails until there is room.
   */
  async append(bytes: Uint8Array): Promise<void> {
    await this.repair();
    try {
      if (this.#length + bytes.length >= this.#allocated) await this.#allocate(bytes.length);
      failpoint('journal.before-write');
      await writeAll(this.#file, bytes, this.#length);
      failpoint('journal.after-write');
    } catch (error) {
      this.#mayHoldRefused = true;
      throw error;
    }
    this.#length += bytes.length;
  }

  /** Makes the file's name durable, and cuts off bytes of a failed write. */
  async repair(): Promise<void> {
    if (!this.#isNameDurable) {
      await fsyncFolder(dirname(this.path));
      this.#isNameDurable = true;
      failpoint('journal.after-rotate');
    }
    if (!this.#mayHoldRefused) return;
    await truncateFile(this.#file, this.#length);
    await syncFile(this.#file);
    this.#allocated = this.#length;
    this.#mayHoldRefused = false;
  }

  /** Cuts off the zeros and closes the file. */
  async close(): Promise<void> {
    await truncateFile(this.#file, this.#length).catch(() => {});
    await closeFile(this.#file);
  }

  async #allocate(atLeast: number): Promise<void> {
    await writeAll(this.#file, new Uint8Array(Math.max(zeroFillBytes, atLeast)), this.#length);
    this.#allocated = this.#length + Math.max(zeroFillBytes, atLeast);
  }
}

const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;

/** Bytes that are filled with zeros at a time. */
const zeroFillBytes = 1024 * 1024;

const openFile = promisify(open);
const syncFile = promisify(fdatasync);
const truncateFile = promisify(ftruncate);
const closeFile = promisify(close);

/** Writes all of `bytes`. They are durable when it resolves, as the file is opened with O_DSYNC. */
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
