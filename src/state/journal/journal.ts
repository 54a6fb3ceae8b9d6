import { existsSync } from 'node:fs';
import { rename, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { WritesUnavailableError } from '../../bot/errors.ts';
import type { Log } from '../../log.ts';
import { codeOf } from '../../system-error.ts';
import { diskRefusal } from './disk-error.ts';
import { makeFolder } from '../../disk/fsync.ts';
import { type JournalEntry, writeLine } from './journal-line.ts';
import { replaySegment, segmentName, segmentNumbers } from './replay.ts';
import { Segment } from './segment.ts';
import { SerialQueue } from '../../concurrency/serial-queue.ts';

export interface JournalOptions {
  /** Where its segments are; made when first needed. */
  readonly folder: string;
  readonly log: Log;
  /** Called with the entries of a group, in order, at the moment they are durable and before anybody is told. */
  readonly onDurable: (entries: readonly JournalEntry[]) => void;
  /** A segment that has grown past so many bytes is followed by a new one. */
  readonly segmentBytes?: number;
}

/** Something that cannot be done, since when, and what to do about it. */
export interface StateFailure {
  /** Milliseconds since the epoch. */
  readonly since: number;
  readonly message: string;
}

/**
 * The counts that are not in Git yet, on disk: append-only segments of one line a count. Everything that is
 * appended while a group is being written becomes the next group, and shares one write and one fsync.
 */
export class Journal {
  readonly #options: JournalOptions;
  #gathering: Group | undefined;
  #segment: Segment | undefined;
  #sealed: readonly string[] = [];
  #nextNumber = 1;
  #fault: StateFailure | undefined;
  /** A segment is written, sealed and closed by one hand. */
  readonly #queue = new SerialQueue();
  readonly #damaged = new Set<string>();

  constructor(options: JournalOptions) {
    this.#options = options;
  }

  /** Why the last group was refused; undefined when it was not. */
  get fault(): StateFailure | undefined {
    return this.#fault;
  }

  /** Whether something that was refused may still come back after a crash. */
  get doubtful(): boolean {
    return this.#segment?.doubtful ?? false;
  }

  /** Whether there are segments that only wait to be removed. */
  get hasSealed(): boolean {
    return this.#sealed.length > 0;
  }

  /**
   * Hands every entry that an earlier process left to `take`, oldest first; to be called before anything is
   * appended. Damage is logged, never thrown.
   * @throws a system error when a segment cannot be read at all
   */
  async replay(take: (entry: JournalEntry) => void): Promise<void> {
    const { folder, log } = this.#options;
    for (const number of await segmentNumbers(folder)) {
      const path = join(folder, segmentName(number));
      const damage = await replaySegment(folder, number, take);
      if (damage) {
        this.#damaged.add(path);
        log.error(
          { file: path, lines: damage.lines.slice(0, 100), damaged: damage.lines.length },
          `the journal is damaged at ${path}:${damage.lines[0]}: ${damage.lines.length} of its lines are skipped, ` +
            `the file is kept under a name that ends in .damaged, and those bots' next posts make up for it`,
        );
      }
      this.#sealed = [...this.#sealed, path];
      this.#nextNumber = number + 1;
    }
  }

  /**
   * Resolves when the entry is durable.
   * @throws {WritesUnavailableError} when the group it was in could not be made so
   */
  append(entry: JournalEntry): Promise<void> {
    if (this.#gathering === undefined) {
      this.#gathering = new Group();
      void this.#queue.run(async () => await this.#writeGroup());
    }
    this.#gathering.entries.push(entry);
    return this.#gathering.durable;
  }

  /**
   * Ends the current segment, once what is being written is durable. Gives the paths of all segments that nothing
   * will be appended to any more, those of earlier processes too.
   * @throws {WritesUnavailableError} when the segment holds refused bytes that cannot be cut off
   */
  async seal(): Promise<readonly string[]> {
    return await this.#queue.run(async () => {
      try {
        await this.#sealSegment();
      } catch (error) {
        throw this.#refusal(error);
      }
      return this.#sealed;
    });
  }

  /**
   * Removes sealed segments: what is in them is elsewhere now. A damaged one is kept under another name.
   * @throws {WritesUnavailableError} when the folder does not allow it
   */
  async remove(segments: readonly string[]): Promise<void> {
    for (const path of segments) {
      try {
        await (this.#damaged.has(path) ? rename(path, unusedName(path)) : unlink(path));
      } catch (error) {
        if (codeOf(error) !== 'ENOENT') {
          throw diskRefusal(error, this.#options.folder);
        }
      }
      this.#damaged.delete(path);
      this.#sealed = this.#sealed.filter((sealed) => sealed !== path);
    }
  }

  /** Waits for what is being written and closes the file. */
  async close(): Promise<void> {
    await this.#queue.run(async () => {
      await this.#segment?.close();
      this.#segment = undefined;
    });
  }

  async #writeGroup(): Promise<void> {
    const group = this.#gathering ?? new Group();
    this.#gathering = undefined;
    try {
      const segment = await this.#openSegment();
      await segment.append(Buffer.from(group.entries.map(writeLine).join(''), 'latin1'));
    } catch (error) {
      group.reject(this.#refusal(error));
      return;
    }
    this.#accepted();
    this.#options.onDurable(group.entries);
    group.resolve();
  }

  async #openSegment(): Promise<Segment> {
    const { folder, segmentBytes = 16 * 1024 * 1024 } = this.#options;
    if (this.#segment !== undefined && this.#segment.length >= segmentBytes) await this.#sealSegment();
    if (this.#segment !== undefined) return this.#segment;
    await makeFolder(folder);
    this.#segment = await Segment.create(join(folder, segmentName(this.#nextNumber++)));
    return this.#segment;
  }

  async #sealSegment(): Promise<void> {
    const segment = this.#segment;
    if (segment === undefined) return;
    await segment.settle();
    this.#segment = undefined;
    this.#sealed = [...this.#sealed, segment.path];
    await segment.close();
  }

  #refusal(error: unknown): WritesUnavailableError {
    const { folder, log } = this.#options;
    const refusal = diskRefusal(error, folder);
    const { message } = refusal;
    if (this.#fault?.message !== message) log.error({ err: error }, `counts cannot be saved: ${message}`);
    this.#fault = { since: this.#fault?.since ?? Date.now(), message };
    return refusal;
  }

  #accepted(): void {
    if (this.#fault === undefined) return;
    this.#options.log.info({ since: this.#fault.since }, 'counts can be saved again');
    this.#fault = undefined;
  }
}

/** A name for a damaged segment that no earlier one of the same number has. */
function unusedName(path: string): string {
  for (let n = 1; ; n++) {
    const name = n === 1 ? `${path}.damaged` : `${path}.${n}.damaged`;
    if (!existsSync(name)) return name;
  }
}

/** Entries that become durable together, and the promise that everybody among them waits for. */
class Group {
  readonly entries: JournalEntry[] = [];
  resolve: () => void = () => {};
  reject: (error: WritesUnavailableError) => void = () => {};
  readonly durable = new Promise<void>((resolve, reject) => {
    this.resolve = resolve;
    this.reject = reject;
  });
}
