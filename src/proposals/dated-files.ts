import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { computeTimeAfter } from '../bot/clock.ts';
import { toWriteError } from '../bot/errors.ts';
import { ignoreMissing } from '../lib/errors.ts';
import { removeUnfinishedWrites, writeAtomically } from '../lib/files.ts';
import { type Client, toClient } from '../lib/network.ts';

export interface DatedFilesLimits<T> {
  readonly maxAgeMs: number;
  /** Returns the time by which old files are deleted; the clock alone does not determine it. @throws {Error} */
  readonly confirmedTime: () => Promise<number>;
  readonly maxFiles: number;
  /**
   * The group of a file. Above `maxFiles`, the newest file of the largest group is deleted, so a flood does not
   * displace the files of other groups.
   */
  readonly groupOf: (entry: T) => string;
}

/**
 * A private folder of small texts, one per file. A file's name begins with its time and cannot be guessed. Files that
 * are too old or too many are deleted. The metadata of each file, a `T`, is in memory.
 */
export class DatedFiles<T> {
  readonly #folder: string;
  readonly #limits: DatedFilesLimits<T>;
  /** By file name, oldest first. */
  readonly #entries = new Map<string, T>();

  constructor(folder: string, limits: DatedFilesLimits<T>) {
    this.#folder = folder;
    this.#limits = limits;
  }

  /**
   * Reads the existing files. Ignores other files.
   * @param toEntry returns the metadata of a file; undefined to ignore it
   * @throws a system error
   */
  async load(toEntry: (name: string) => T | undefined | Promise<T | undefined>): Promise<void> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    await removeUnfinishedWrites(this.#folder);
    const time = await this.#readConfirmedTime();
    for (const name of (await readdir(this.#folder)).toSorted()) {
      if (!namePattern.test(name)) continue;
      if (this.#isOld(name, time)) await rm(join(this.#folder, name), { force: true });
      // A file that is old only by this clock stays, and is found at the next start.
      else if (!this.#isOld(name)) {
        const entry = await toEntry(name);
        if (entry !== undefined) this.#entries.set(name, entry);
      }
    }
    await this.#deleteOld();
    setInterval(() => void this.#deleteOld(), cleanUpMs).unref();
  }

  /** Returns the names and metadata of the files that are not too old, oldest first. */
  list(): [name: string, entry: T][] {
    return [...this.#entries].filter(([name]) => !this.#isOld(name));
  }

  /** Saves a text durably, and returns the name of its file. @throws {BotshelfError} unavailable */
  async add(text: string, entry: T): Promise<string> {
    const last = [...this.#entries.keys()].at(-1);
    const time = computeTimeAfter(last === undefined ? undefined : parseFileTime(last));
    const name = `${time}-${randomBytes(16).toString('hex')}`;
    const options = { fsync: 'content and name', mode: 0o600 } as const;
    await writeAtomically(join(this.#folder, name), text, options).catch((error: unknown) => {
      throw toWriteError(error, this.#folder);
    });
    this.#entries.set(name, entry);
    await this.#deleteOld();
    return name;
  }

  /** Returns a text; undefined if there is no file of that name, or it is too old. @throws a system error */
  async read(name: string): Promise<string | undefined> {
    if (!namePattern.test(name) || this.#isOld(name)) return undefined;
    return await ignoreMissing(readFile(join(this.#folder, name), 'utf8'));
  }

  /** Deletes these files if they exist. @throws a system error */
  async delete(names: readonly string[]): Promise<void> {
    for (const name of names) {
      if (!this.#entries.has(name)) continue;
      await rm(join(this.#folder, name), { force: true });
      this.#entries.delete(name);
    }
  }

  /** Deletes files that are too old. A failure is retried next time. */
  async #deleteOld(): Promise<void> {
    const isAnyOld = [...this.#entries.keys()].some((name) => this.#isOld(name));
    const time = isAnyOld ? await this.#readConfirmedTime() : 0;
    const old = [...this.#entries.keys()].filter((name) => this.#isOld(name, time));
    await this.delete([...old, ...this.#listExcess()]).catch(() => {});
  }

  /** Returns 0 if the time cannot be read, so that no file is deleted for its age. */
  async #readConfirmedTime(): Promise<number> {
    return await this.#limits.confirmedTime().catch(() => 0);
  }

  /** Returns the files above the limit, among those that are not too old. */
  #listExcess(): string[] {
    const { maxFiles, groupOf } = this.#limits;
    const names = this.list();
    if (names.length <= maxFiles) return [];
    const groups = new Map<string, string[]>();
    for (const [name, entry] of names) {
      const group = groups.get(groupOf(entry));
      if (group === undefined) groups.set(groupOf(entry), [name]);
      else group.push(name);
    }
    return Array.from({ length: names.length - maxFiles }, () => {
      // Of groups of equal size, the one with the oldest file.
      const largest = [...groups.values()].reduce((a, b) => (b.length > a.length ? b : a));
      return largest.pop() ?? '';
    });
  }

  #isOld(name: string, time: number = Date.now()): boolean {
    return time - parseFileTime(name) >= this.#limits.maxAgeMs;
  }
}

/** Returns when a file was made, in milliseconds since the epoch. */
export function parseFileTime(name: string): number {
  return Number.parseInt(name, 10);
}

const namePattern = /^\d{13}-[0-9a-f]{32}$/;
const cleanUpMs = 600_000;

/**
 * Forms of people who have yet to log in, each with an id that cannot be guessed. They are kept for an hour, also across
 * restarts. Above the maximum, the oldest of an address group is deleted, and in total the newest of the largest network.
 */
export class Drafts {
  /** The drafts with the client of each. Addresses are never written to disk. */
  readonly #files: DatedFiles<Client>;

  private constructor(folder: string, confirmedTime: () => Promise<number>) {
    this.#files = new DatedFiles(folder, {
      maxAgeMs: 3_600_000,
      maxFiles: maxDrafts,
      groupOf: ({ network }) => network,
      confirmedTime,
    });
  }

  /** Opens the drafts in a folder, creating the folder. @param confirmedTime as in `DatedFiles` @throws a system error */
  static async open(folder: string, confirmedTime: () => Promise<number>): Promise<Drafts> {
    const drafts = new Drafts(folder, confirmedTime);
    await drafts.#files.load((name) => ({ group: name, network: name }));
    return drafts;
  }

  /** Saves a text. Returns its id, which only the author of the text may see. @throws {BotshelfError} unavailable */
  async save(text: string, address: string): Promise<string> {
    const client = toClient(address);
    const id = await this.#files.add(text, client);
    const own = this.#files.list().flatMap(([name, other]) => (other.group === client.group ? name : []));
    await this.#files.delete(own.slice(0, -maxPerGroup)).catch(() => {});
    return id;
  }

  /** Returns the text of a draft; undefined if it does not exist or is too old. @throws a system error */
  async read(id: string): Promise<string | undefined> {
    return await this.#files.read(id);
  }
}

/** Each is at most as long as a form: 256 KiB. */
const maxDrafts = 500;
const maxPerGroup = 20;
