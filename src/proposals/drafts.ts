import { DatedFiles } from './dated-files.ts';

/**
 * Forms of people who have yet to log in, found by an id that cannot be guessed. They are kept for an hour, also over a
 * restart. Where there are too many, the oldest are deleted: those of the same address group, then any.
 */
export class Drafts {
  /** With the address group that each comes from. No address is written down. */
  readonly #files: DatedFiles<string>;

  private constructor(folder: string, confirmedTime: () => Promise<number>) {
    this.#files = new DatedFiles(folder, { maxAgeMs: 3_600_000, maxFiles: maxDrafts, confirmedTime });
  }

  /** Opens the drafts in a folder, and creates the folder. @param confirmedTime that of `DatedFiles` @throws a system error */
  static async open(folder: string, confirmedTime: () => Promise<number>): Promise<Drafts> {
    const drafts = new Drafts(folder, confirmedTime);
    await drafts.#files.load((name) => name);
    return drafts;
  }

  /** Saves a text. Returns its id, which only the person who wrote it may see. @throws {WritesUnavailableError} */
  async save(text: string, group: string): Promise<string> {
    const id = await this.#files.add(text, group);
    const own = this.#files.list().flatMap(([name, other]) => (other === group ? name : []));
    await this.#files.delete(own.slice(0, -maxPerGroup)).catch(() => {});
    return id;
  }

  /** Returns the text of a draft; undefined where there is none, or it is too old. @throws a system error */
  async read(id: string): Promise<string | undefined> {
    return await this.#files.read(id);
  }
}

/** Each has 256 KiB at most, as a form has. */
const maxDrafts = 500;
const maxPerGroup = 20;
