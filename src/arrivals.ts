import { setImmediate as breathe } from 'node:timers/promises';
import type { Catalogue } from './catalogue/catalogue.ts';
import { type Place, placeOf, splitPath } from './catalogue/layout.ts';

/** Shows files that a merge has brought without waiting for the watcher, some at a time, as there may be thousands. */
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

  /** Takes paths from the top of the repository. */
  tell(paths: readonly string[]): void {
    const prefix = this.#prefix;
    for (const path of paths) {
      const split = path.startsWith(prefix) ? splitPath(path.slice(prefix.length)) : undefined;
      const place = split && placeOf(split.folder, split.name);
      if (place && 'id' in place) this.#waiting.push(place);
    }
    if (!this.#busy) void this.#showAll();
  }

  async #showAll(): Promise<void> {
    this.#busy = true;
    while (this.#waiting.length > 0) {
      this.#catalogue?.arrived(this.#waiting.splice(0, atOnce));
      await breathe();
    }
    this.#busy = false;
  }
}

/** Some milliseconds of work. */
const atOnce = 16;
