import { close, constants, fdatasync, fstat, ftruncate, open, write } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { crc32 } from 'node:zlib';
import { WritesUnavailableError } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import { ignoreMissing } from '../lib/errors.ts';
import { failpoint } from '../lib/failpoint.ts';
import { fsyncFolder } from '../lib/fsync.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { maxTime } from './bot-state.ts';

/** A count as the journal has it. */
export interface JournalEntry {
  readonly id: BotId;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly countedAt: number;
}

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
  #isGone = false;

  private constructor(path: string, file: number) {
    this.path = path;
    this.#file = file;
  }

  /** Creates the file, whose name sorts after those of lower numbers. @throws a system error where it exists */
  static async create(folder: string, number: number): Promise<Segment> {
    const path = join(folder, `${String(number).padStart(12, '0')}.ndjson`);
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

  /** Whether an append found the file deleted or moved, so that no replay would find its entries. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /**
   * Appends durably. When it throws, the entries are refused, though some of them may be in the file until `repair`. After
   * a failure even an append of no entries fails until there is room.
   * @throws {WritesUnavailableError} when the file is gone: the kernel syncs a deleted file without an error
   */
  async append(entries: readonly JournalEntry[]): Promise<void> {
    await this.repair();
    const bytes = Buffer.from(entries.map(formatJournalLine).join(''), 'latin1');
    try {
      if (this.#length + bytes.length >= this.#allocated) await this.#allocate(bytes.length);
      failpoint('journal.before-write');
      await writeAll(this.#file, bytes, this.#length);
      failpoint('journal.after-write');
      await this.#ensureInPlace();
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

  async #ensureInPlace(): Promise<void> {
    const [open, named] = await Promise.all([statFile(this.#file), ignoreMissing(stat(this.path))]);
    this.#isGone = named?.ino !== open.ino || named.dev !== open.dev;
    if (this.#isGone)
      throw new WritesUnavailableError(
        `${this.path} was deleted or moved while the service runs: leave the folder alone until it stops; a new file is begun`,
        'internal',
      );
  }

  async #allocate(atLeast: number): Promise<void> {
    await writeAll(this.#file, new Uint8Array(Math.max(zeroFillBytes, atLeast)), this.#length);
    this.#allocated = this.#length + Math.max(zeroFillBytes, atLeast);
  }
}

/** Returns the paths of the segments in a folder, oldest first; none where the folder does not exist. */
export async function listSegments(folder: string): Promise<string[]> {
  const names = (await ignoreMissing(readdir(folder))) ?? [];
  return names
    .filter((name) => /^\d{12}\.ndjson$/.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

/**
 * Calls `take` with every entry of a segment, in the order of the file. Damaged lines are skipped, and their numbers,
 * from 1, returned; a last line without a newline is only skipped, as a crash left it and its post was not answered.
 */
export async function replaySegment(path: string, take: (entry: JournalEntry) => void): Promise<number[]> {
  const bytes = await readFile(path);
  const damaged: number[] = [];
  const slice = new TimeSlice('service');
  let line = 0;
  for (let start = 0, end = bytes.indexOf(newline); end !== -1;) {
    line++;
    const entry = parseJournalLine(bytes.toString('latin1', start, end));
    if (entry === undefined) damaged.push(line);
    else take(entry);
    if (slice.isOver) await slice.next();
    start = end + 1;
    end = bytes.indexOf(newline, start);
  }
  return damaged;
}

const newline = 0x0a;

/** Returns an entry as a line of JSON with a newline. `crc` is the CRC32 of what precedes it. */
export function formatJournalLine({ id, count, countedAt }: JournalEntry): string {
  const body = `{"id":"${id}","count":${count},"countedAt":${countedAt}`;
  return `${body},"crc":${crc32(body)}}\n`;
}

/** Parses a line without its newline. Returns undefined when the line is damaged. */
export function parseJournalLine(line: string): JournalEntry | undefined {
  const [, body = '', id, count, countedAt, crc] = pattern.exec(line) ?? [];
  if (crc === undefined || crc32(body) !== Number(crc) || Number(countedAt) > maxTime) return undefined;
  return { id: id as BotId, count: Number(count), countedAt: Number(countedAt) };
}

const pattern = /^(\{"id":"(\d{1,20})","count":(\d{1,11}),"countedAt":(\d{1,16})),"crc":(\d{1,10})\}$/;

const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;

/** Bytes that are filled with zeros at a time. */
const zeroFillBytes = 1024 * 1024;

const openFile = promisify(open);
const statFile = promisify(fstat);
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
