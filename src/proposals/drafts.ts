import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { toWriteError } from '../bot/errors.ts';
import { removeUnfinishedWrites, writeAtomically } from '../lib/atomic-write.ts';
import { ignoreMissing } from '../lib/errors.ts';

/**
 * Forms of people who have yet to log in: a file each, found by an id that cannot be guessed. They are kept for an hour,
 * also over a restart. Where there are too many, the oldest are deleted: those of the same address group, then any.
 */
export class Drafts {
  readonly #folder: string;
  /** The address group that each comes from, by id, the oldest first. No address is written down. */
  readonly #groups = new Map<string, string>();

  private constructor(folder: string) {
    this.#folder = folder;
  }

  /** Opens the drafts in a folder, and creates the folder. @throws a system error */
  static async open(folder: string): Promise<Drafts> {
    const drafts = new Drafts(folder);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeUnfinishedWrites(folder);
    for (const name of (await readdir(folder)).toSorted())
      if (/^\d{13}-[0-9a-f]{32}$/.test(name)) drafts.#groups.set(name, name);
    await drafts.#deleteOld();
    drafts.#deleteLater();
    return drafts;
  }

  /** Saves a text. Returns its id, which only the person who wrote it may see. @throws {WritesUnavailableError} */
  async save(text: string, group: string): Promise<string> {
    const id = `${Date.now()}-${randomBytes(16).toString('hex')}`;
    try {
      await writeAtomically(join(this.#folder, id), text, { fsync: 'content', mode: 0o600 });
      this.#groups.set(id, group);
      await this.#deleteOld(group);
    } catch (error) {
      throw toWriteError(error, 'var/drafts');
    }
    this.#deleteLater();
    return id;
  }

  /** Returns the text of a draft; undefined where there is none, or it is too old. @throws a system error */
  async read(id: string): Promise<string | undefined> {
    if (!this.#groups.has(id) || isOld(id)) return undefined;
    return await ignoreMissing(readFile(join(this.#folder, id), 'utf8'));
  }

  /** Deletes, in an hour, what is there now. A failure is left to the next time. */
  #deleteLater(): void {
    setTimeout(() => void this.#deleteOld().catch(() => {}), maxAgeMs).unref();
  }

  /** Deletes what is too old, and what is too much. @param group the one that has just saved a draft */
  async #deleteOld(group?: string): Promise<void> {
    const ids = [...this.#groups.keys()];
    const own = ids.filter((id) => this.#groups.get(id) === group);
    for (const id of [...ids.filter(isOld), ...ids.slice(0, -maxDrafts), ...own.slice(0, -maxPerGroup)]) {
      this.#groups.delete(id);
      await rm(join(this.#folder, id), { force: true });
    }
  }
}

/** @param id begins with the time at which the draft was saved */
function isOld(id: string): boolean {
  return Date.now() - Number.parseInt(id, 10) >= maxAgeMs;
}

const maxAgeMs = 3_600_000;

/** Each has 256 KiB at most, as a form has. */
const maxDrafts = 500;
const maxPerGroup = 20;
