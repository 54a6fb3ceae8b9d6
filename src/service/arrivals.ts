import type { Catalogue } from '../catalogue/catalogue.ts';
import { type Place, placeAt } from '../catalogue/page/layout.ts';
import { TimeSlice } from '../concurrency/time-slice.ts';
import type { CommitEvent } from '../git/commit/branch-writer.ts';

/**
 * Shows commits without waiting for the watcher: an owner's change at once, as a response waits for it, the files of a
 * merge some at a time, as there may be thousands.
 */
export class Arrivals {
  #catalogue: Catalogue | undefined;
  #prefix = '';
  #waiting: Place[] = [];
  #busy = false;

  /** Begins to show them; what came before is the catalogue's to find. @param prefix where it is in the repository */
  show(catalogue: Catalogue, prefix: string): void {
    this.#catalogue = catalogue;
    this.#prefix = prefix;
  }

  tell({ changes, contents }: Pick<CommitEvent, 'changes' | 'contents'>): void {
    if (contents) {
      const files = [...contents].flatMap(([path, bytes]) => {
        const place = placeAt(path, this.#prefix);
        return place ? [[place, bytes] as const] : [];
      });
      this.#catalogue?.put(new Map(files));
      return;
    }
    this.#waiting.push(...changes.flatMap(({ path }) => placeAt(path, this.#prefix) ?? []));
    if (!this.#busy) void this.#showAll();
  }

  async #showAll(): Promise<void> {
    this.#busy = true;
    const slice = new TimeSlice('service');
    while (this.#waiting.length > 0) {
      this.#catalogue?.arrived(this.#waiting.splice(0, atOnce));
      if (slice.isOver) await slice.next();
    }
    this.#busy = false;
  }
}

/** Some milliseconds of work. */
const atOnce = 16;
