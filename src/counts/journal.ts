import { constants, existsSync, fstatSync, statSync } from 'node:fs';
import { type FileHandle, open, readdir, readFile, rename, unlink } from 'node:fs/promises';
import { dirname, join, basename } from 'node:path';
import { crc32 } from 'node:zlib';
import { maxTime } from '../bot/clock.ts';
import { isUnavailable, toWriteError } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import { BotshelfError, ignoreMissing } from '../lib/errors.ts';
import { fsyncFolder, makeFolder } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { type Failure, FailureLog } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { formatCount } from '../lib/text.ts';
import { TimeSlice } from '../lib/time-slice.ts';

/** A count as the journal has it. */
export interface JournalEntry {
  readonly id: BotId;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly countedAt: number;
}

/**
 * The journal's file that is being appended to. It is filled with zeros ahead and overwritten with synchronous writes:
 * one call makes a group durable, without a write of file system metadata. Bytes of a failed write, which the kernel
 * may have kept, are truncated before the next append.
 */
class Segment {
  readonly path: string;
  readonly #file: FileHandle;
  /** The number of durable bytes. */
  length = 0;
  /** The file's size, with the zeros. */
  #allocated = 0;
  #isNameDurable = false;
  /** Whether the file may hold bytes of a failed write. */
  mayHoldRefused = false;
  /** Whether an append found that the file was deleted or moved: no replay would find its entries. */
  isGone = false;

  private constructor(path: string, file: FileHandle) {
    this.path = path;
    this.#file = file;
  }

  /** Creates the file, whose name sorts after those of lower numbers. @throws a system error if it exists */
  static async create(folder: string, number: number): Promise<Segment> {
    const path = join(folder, `${String(number).padStart(12, '0')}.ndjson`);
    return new Segment(path, await open(path, flags));
  }

  /**
   * Appends durably. When it throws, the entries are refused, though some of them may be in the file until `repair`.
   * After a failure, even an append without entries fails until there is room.
   * @throws {BotshelfError} unavailable, when the file is gone: the kernel syncs a deleted file without an error
   */
  async append(entries: readonly JournalEntry[]): Promise<void> {
    await this.repair();
    const bytes = Buffer.from(entries.map(formatJournalLine).join(''), 'latin1');
    try {
      if (this.length + bytes.length >= this.#allocated) await this.#allocate(bytes.length);
      await writeAll(this.#file, bytes, this.length);
      this.#ensureInPlace();
    } catch (error) {
      this.mayHoldRefused = true;
      throw error;
    }
    this.length += bytes.length;
  }

  /** Makes the file's name durable, and truncates bytes of a failed write. */
  async repair(): Promise<void> {
    if (!this.#isNameDurable) {
      await fsyncFolder(dirname(this.path));
      this.#isNameDurable = true;
    }
    if (!this.mayHoldRefused) return;
    await this.#file.truncate(this.length);
    await this.#file.datasync();
    this.#allocated = this.length;
    this.mayHoldRefused = false;
  }

  /** Truncates the zeros and closes the file. */
  async close(): Promise<void> {
    await this.#file.truncate(this.length).catch(() => {});
    await this.#file.close();
  }

  /** Synchronous: the kernel has the metadata in memory, and another thread would take half as long as the write. */
  #ensureInPlace(): void {
    const { ino, dev } = fstatSync(this.#file.fd);
    const named = statSync(this.path, { throwIfNoEntry: false });
    this.isGone = named?.ino !== ino || named.dev !== dev;
    if (this.isGone)
      throw new BotshelfError(
        'write-failed',
        `${this.path} was deleted or moved while the service runs: leave the folder alone until it stops; a new file is begun`,
      );
  }

  async #allocate(atLeast: number): Promise<void> {
    await writeAll(this.#file, new Uint8Array(Math.max(zeroFillBytes, atLeast)), this.length);
    this.#allocated = this.length + Math.max(zeroFillBytes, atLeast);
  }
}

/** Returns the paths of the segments in a folder, oldest first; empty if the folder does not exist. */
export async function listSegments(folder: string): Promise<string[]> {
  const names = (await ignoreMissing(readdir(folder))) ?? [];
  return names
    .filter((name) => /^\d{12}\.ndjson$/.test(name))
    .toSorted()
    .map((name) => join(folder, name));
}

/**
 * Calls `take` with every entry of a segment, in the order of the file. Damaged lines are skipped, and their numbers,
 * from 1, returned. A last line without a newline is skipped, because a crash left it before its post was answered.
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
function parseJournalLine(line: string): JournalEntry | undefined {
  const [, body = '', id, count, countedAt, crc] = pattern.exec(line) ?? [];
  if (crc === undefined || crc32(body) !== Number(crc) || Number(countedAt) > maxTime) return undefined;
  return { id: id as BotId, count: Number(count), countedAt: Number(countedAt) };
}

const pattern = /^(\{"id":"(\d{1,20})","count":(\d{1,11}),"countedAt":(\d{1,16})),"crc":(\d{1,10})\}$/;

const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_DSYNC;

/** Bytes that are filled with zeros at a time. */
const zeroFillBytes = 1024 * 1024;

/** Writes all of `bytes`. They are durable when it resolves, because the file is opened with O_DSYNC. */
async function writeAll(file: FileHandle, bytes: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < bytes.length;)
    done += (await file.write(bytes, done, bytes.length - done, position + done)).bytesWritten;
}

interface JournalOptions {
  /** The folder of its segments; created by the first append. */
  readonly folder: string;
  readonly log: Log;
  /** Called with the entries of a group, in order, once they are durable and before their `append` resolves. */
  readonly onDurable: (entries: readonly JournalEntry[]) => void;
  /** The size after which a new segment begins. */
  readonly segmentBytes?: number;
}

/**
 * The counts that are not in Git yet, on disk: append-only segments of one line per count. Entries that are appended
 * while a group is being written become the next group, which has one write and one fsync.
 */
export class Journal {
  readonly #options: JournalOptions;
  /** The entries that become durable together next. */
  #nextGroup: { readonly entries: JournalEntry[]; readonly durable: Promise<void> } | undefined;
  #segment: Segment | undefined;
  #sealed: readonly string[] = [];
  #nextNumber = 1;
  /** How many groups have become durable, each with one synchronous write. */
  writes = 0;
  readonly #failures: FailureLog;
  /** Writes, seals and closes segments one after the other. */
  readonly #queue = new SerialQueue();
  readonly #damaged = new Set<string>();

  constructor(options: JournalOptions) {
    this.#options = options;
    this.#failures = new FailureLog({
      log: options.log,
      failed: (message) => `counts cannot be saved: ${message}`,
      ended: 'counts can be saved again',
    });
  }

  /** The reason why the last group was not saved; null if it was. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** Whether a refused entry may be on disk all the same, so that a crash would bring it back. */
  get mayHoldRefused(): boolean {
    return this.#segment?.mayHoldRefused ?? false;
  }

  /**
   * Calls `take` with every entry that an earlier process left, oldest first. Call it before anything is appended.
   * Damaged lines are logged and skipped. Returns whether there are segments.
   * @throws a system error when a segment cannot be read at all
   */
  async replay(take: (entry: JournalEntry) => void): Promise<boolean> {
    const { folder, log } = this.#options;
    for (const path of await listSegments(folder)) {
      const lines = await replaySegment(path, take);
      if (lines.length > 0) {
        this.#damaged.add(path);
        log.error(
          { file: path, lines: lines.slice(0, 100), damaged: lines.length },
          `the journal is damaged at ${path}:${lines[0]}: ${formatCount(lines.length, 'line')} skipped, ` +
            `the file is kept with the suffix .damaged, and the next posts of those bots replace the lost counts`,
        );
      }
      this.#sealed = [...this.#sealed, path];
      this.#nextNumber = Number.parseInt(basename(path), 10) + 1;
    }
    return this.#sealed.length > 0;
  }

  /**
   * Resolves when the entry is durable.
   * @throws {BotshelfError} unavailable, when its group could not be written
   */
  append(entry: JournalEntry): Promise<void> {
    this.#nextGroup ??= { entries: [], durable: this.#queue.run(async () => await this.#writeGroup()) };
    this.#nextGroup.entries.push(entry);
    return this.#nextGroup.durable;
  }

  /** Tests in the background whether a group can be saved again after a failure. */
  retry(): void {
    if (this.failure === null || this.#queue.size > 0) return;
    this.#queue.run(async () => await this.#write([])).catch(() => {});
  }

  /**
   * Ends the current segment once the group under way is durable. Returns the paths of all ended segments, including
   * those of earlier processes.
   * @throws {BotshelfError} unavailable, when the segment holds refused bytes that cannot be cut off
   */
  async seal(): Promise<readonly string[]> {
    return await this.#queue.run(async () => {
      try {
        await this.#sealSegment();
      } catch (error) {
        throw this.#writeFailed(error);
      }
      return this.#sealed;
    });
  }

  /**
   * Deletes ended segments, because their entries are committed. A damaged one is renamed instead.
   * @throws {BotshelfError} unavailable, when that fails
   */
  async remove(segments: readonly string[]): Promise<void> {
    for (const path of segments) {
      try {
        await ignoreMissing(this.#damaged.has(path) ? rename(path, findUnusedName(path)) : unlink(path));
      } catch (error) {
        throw toWriteError(error, this.#options.folder);
      }
      this.#damaged.delete(path);
      this.#sealed = this.#sealed.filter((sealed) => sealed !== path);
    }
  }

  /** Waits for the group under way and closes the segment. */
  async close(): Promise<void> {
    await this.#queue.run(async () => await this.#closeSegment());
  }

  async #writeGroup(): Promise<void> {
    const entries = this.#nextGroup?.entries ?? [];
    this.#nextGroup = undefined;
    await this.#write(entries);
    this.writes++;
    this.#options.onDurable(entries);
  }

  async #write(entries: readonly JournalEntry[]): Promise<void> {
    try {
      await (await this.#openSegment()).append(entries);
    } catch (error) {
      throw this.#writeFailed(error);
    }
    this.#failures.end();
  }

  async #openSegment(): Promise<Segment> {
    const { folder, segmentBytes = 16 * 1024 * 1024 } = this.#options;
    if (this.#segment?.isGone) await this.#closeSegment();
    if (this.#segment !== undefined && this.#segment.length >= segmentBytes) await this.#sealSegment();
    if (this.#segment !== undefined) return this.#segment;
    await makeFolder(folder);
    this.#segment = await Segment.create(folder, this.#nextNumber++);
    return this.#segment;
  }

  async #sealSegment(): Promise<void> {
    const segment = this.#segment;
    if (segment === undefined) return;
    await segment.repair();
    this.#segment = undefined;
    this.#sealed = [...this.#sealed, segment.path];
    await segment.close();
  }

  async #closeSegment(): Promise<void> {
    await this.#segment?.close();
    this.#segment = undefined;
  }

  #writeFailed(error: unknown): BotshelfError {
    const failure = isUnavailable(error) ? error : toWriteError(error, this.#options.folder);
    this.#failures.add(error, failure.message);
    return failure;
  }
}

/** Returns an unused name for a damaged segment. */
function findUnusedName(path: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? `${path}.damaged` : `${path}.${n}.damaged`;
    if (!existsSync(name)) return name;
  }
}
