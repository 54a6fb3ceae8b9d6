import { existsSync } from 'node:fs';
import { rename, unlink } from 'node:fs/promises';
import { basename } from 'node:path';
import { toWriteError, WritesUnavailableError } from '../bot/errors.ts';
import { type Failure, FailureLog } from '../lib/failure-log.ts';
import type { Log } from '../lib/log.ts';
import { ignoreMissing } from '../lib/errors.ts';
import { makeFolder } from '../lib/fsync.ts';
import { type JournalEntry, listSegments, replaySegment, Segment } from './journal-segment.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { formatCount } from '../lib/counted.ts';

export interface JournalOptions {
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
  /** The group that entries are added to. */
  #nextGroup: Group | undefined;
  #segment: Segment | undefined;
  #sealed: readonly string[] = [];
  #nextNumber = 1;
  #writes = 0;
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

  /** Why the last group was not saved; null when it was. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** How many groups have become durable, each with one synchronous write. */
  get writes(): number {
    return this.#writes;
  }

  /** Whether a refused entry may be on disk all the same, so that a crash would bring it back. */
  get mayHoldRefused(): boolean {
    return this.#segment?.mayHoldRefused ?? false;
  }

  /** Whether there are segments that nothing is appended to any more. */
  get hasSealed(): boolean {
    return this.#sealed.length > 0;
  }

  /**
   * Calls `take` with every entry that an earlier process left, oldest first. Call it before anything is appended.
   * Damaged lines are logged and skipped.
   * @throws a system error when a segment cannot be read at all
   */
  async replay(take: (entry: JournalEntry) => void): Promise<void> {
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
  }

  /**
   * Resolves when the entry is durable.
   * @throws {WritesUnavailableError} when its group could not be written
   */
  append(entry: JournalEntry): Promise<void> {
    if (this.#nextGroup === undefined) {
      this.#nextGroup = new Group();
      void this.#queue.run(async () => await this.#writeGroup());
    }
    this.#nextGroup.entries.push(entry);
    return this.#nextGroup.durable;
  }

  /** Tries in the background whether a group could be saved, where the last one was not. */
  retry(): void {
    if (this.failure === null || this.#queue.size > 0) return;
    void this.#queue.run(async () => {
      try {
        await (await this.#openSegment()).append([]);
        this.#failures.end();
      } catch (error) {
        this.#writeFailed(error);
      }
    });
  }

  /**
   * Ends the current segment once the group under way is durable. Returns the paths of all ended segments, including
   * those of earlier processes.
   * @throws {WritesUnavailableError} when the segment holds refused bytes that cannot be cut off
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
   * Deletes ended segments, as their entries are committed. A damaged one is renamed instead.
   * @throws {WritesUnavailableError} when that fails
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
    const group = this.#nextGroup ?? new Group();
    this.#nextGroup = undefined;
    try {
      await (await this.#openSegment()).append(group.entries);
    } catch (error) {
      group.reject(this.#writeFailed(error));
      return;
    }
    this.#writes++;
    this.#failures.end();
    this.#options.onDurable(group.entries);
    group.resolve();
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

  #writeFailed(error: unknown): WritesUnavailableError {
    const failure =
      error instanceof WritesUnavailableError ? error : toWriteError(error, this.#options.folder);
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

/** Entries that become durable together. */
class Group {
  readonly entries: JournalEntry[] = [];
  resolve: () => void = () => {};
  reject: (error: WritesUnavailableError) => void = () => {};
  readonly durable = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}
