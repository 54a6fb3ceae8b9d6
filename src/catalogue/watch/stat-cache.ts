import type { IndexedFile } from '../index/bot-index.ts';
import { sameStamp, type Stamp } from '../load/folder.ts';
import type { PageFile } from '../page/page-file.ts';

/**
 * What is remembered of one folder: the stamp that each file had when it was last read, and which of them
 * must be read again although the stamp is the same.
 */
export class StatCache {
  readonly #files = new Map<string, Seen>();

  /** The names that were there, also those that went missing a moment ago. */
  get names(): Iterable<string> {
    return this.#files.keys();
  }

  get isEmpty(): boolean {
    return this.#files.size === 0;
  }

  /** The names of which anything differs from what is on disk now. */
  changed(stamps: ReadonlyMap<string, Stamp>): Set<string> {
    const names = new Set<string>();
    for (const [name, stamp] of stamps) {
      if (this.differs(name, stamp)) names.add(name);
    }
    for (const name of this.#files.keys()) if (!stamps.has(name)) names.add(name);
    return names;
  }

  /** Whether a file is not as it was seen, or may not be. */
  differs(name: string, stamp: Stamp | undefined): boolean {
    const seen = this.#files.get(name);
    if (seen === undefined || stamp === undefined) return seen !== undefined || stamp !== undefined;
    return seen.unsure === true || !sameStamp(seen, stamp);
  }

  /** Whether a file was read a moment ago, and by its stamp not changed since: it is too early to be sure. */
  isRecent(name: string, stamp: Stamp | undefined, now: number): boolean {
    const seen = this.#files.get(name);
    if (seen?.unsure !== true || seen.missingSince !== undefined || stamp === undefined) return false;
    return sameStamp(seen, stamp) && isWithinTick(stamp, now);
  }

  /**
   * How many milliseconds from `now` a file should be left alone before what is there is believed.
   * A file that ends as the one served did is complete, as is one that was quiet for a while; any other may
   * be half written. A file that is gone may be in the middle of being replaced.
   */
  quietFor(
    name: string,
    stamp: Stamp | undefined,
    file: PageFile | undefined,
    served: IndexedFile | undefined,
    now: number,
  ): number {
    if (stamp === undefined || file === undefined) {
      const since = this.#files.get(name)?.missingSince ?? now;
      return since + gone - now;
    }
    const age = now - stamp.mtimeMs;
    return file.tail === served?.tail || age < 0 ? 0 : quiet - age;
  }

  /** Notes that a file was read, or found missing, at `now`, and not believed yet. */
  postpone(name: string, stamp: Stamp | undefined, now: number): void {
    if (stamp) this.#files.set(name, { ...stamp, unsure: true });
    else
      this.#files.set(name, {
        ...never,
        unsure: true,
        missingSince: this.#files.get(name)?.missingSince ?? now,
      });
  }

  /**
   * Notes that a file was read, or found missing, at `now`. True when it changed so recently that a second
   * change may have left the same stamp: then it is read once more.
   */
  settle(name: string, stamp: Stamp | undefined, now: number): boolean {
    if (stamp === undefined) {
      this.#files.delete(name);
      return false;
    }
    const unsure = isWithinTick(stamp, now);
    this.#files.set(name, unsure ? { ...stamp, unsure } : stamp);
    return unsure;
  }

  /** Notes a file of which only the name is known: it is read at the next look, and missed when it is gone. */
  expect(name: string): void {
    this.#files.set(name, { ...never, unsure: true });
  }

  /** The stamps of all files; undefined while there is one that cannot be recognised by its stamp. */
  stamps(): ReadonlyMap<string, Stamp> | undefined {
    return [...this.#files.values()].some(({ unsure }) => unsure) ? undefined : this.#files;
  }

  /** The stamp by which a file can be recognised without reading it, if there is one. */
  stamp(name: string): Stamp | undefined {
    const seen = this.#files.get(name);
    return seen?.unsure ? undefined : seen;
  }
}

interface Seen extends Stamp {
  readonly unsure?: boolean;
  readonly missingSince?: number;
}

function isWithinTick({ mtimeMs, ctimeMs }: Stamp, now: number): boolean {
  return Math.abs(now - Math.max(mtimeMs, ctimeMs)) < clockTick;
}

const never: Stamp = { size: -1, mtimeMs: 0, ctimeMs: 0, ino: 0 };

/** Milliseconds without a change after which a file counts as written to its end. */
const quiet = 400;

/** Milliseconds after which a missing file counts as removed. */
const gone = 100;

/** File times advance in steps; two changes within so many milliseconds may carry one time. */
export const clockTick = 50;
