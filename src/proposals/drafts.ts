import { toAddressGroup } from '../lib/network.ts';
import { DatedFiles } from './dated-files.ts';

/**
 * Forms of people who have yet to log in, found by an id that cannot be guessed. They are kept for an hour, also over a
 * restart. If there are too many, some are deleted: the oldest of an address group, the newest of the largest network in all.
 */
export class Drafts {
  /** With the address group and the network that each comes from. No address is written down. */
  readonly #files: DatedFiles<{ readonly group: string; readonly network: string }>;

  private constructor(folder: string, confirmedTime: () => Promise<number>) {
    this.#files = new DatedFiles(folder, {
      maxAgeMs: 3_600_000,
      maxFiles: maxDrafts,
      groupOf: ({ network }) => network,
      confirmedTime,
    });
  }

  /** Opens the drafts in a folder, and creates the folder. @param confirmedTime that of `DatedFiles` @throws a system error */
  static async open(folder: string, confirmedTime: () => Promise<number>): Promise<Drafts> {
    const drafts = new Drafts(folder, confirmedTime);
    await drafts.#files.load((name) => ({ group: name, network: name }));
    return drafts;
  }

  /** Saves a text. Returns its id, which only the person who wrote it may see. @throws {BotshelfError} unavailable */
  async save(text: string, address: string): Promise<string> {
    const group = toAddressGroup(address);
    const id = await this.#files.add(text, { group, network: toAddressGroup(address, 48) });
    const own = this.#files.list().flatMap(([name, other]) => (other.group === group ? name : []));
    await this.#files.delete(own.slice(0, -maxPerGroup)).catch(() => {});
    return id;
  }

  /** Returns the text of a draft; undefined if there is none, or it is too old. @throws a system error */
  async read(id: string): Promise<string | undefined> {
    return await this.#files.read(id);
  }
}

/** Each has 256 KiB at most, as a form has. */
const maxDrafts = 500;
const maxPerGroup = 20;
