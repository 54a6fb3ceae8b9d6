import { lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Knows which paths below a folder lead through folders alone: a symbolic link on the way may lead anywhere. */
export class PlainFolders {
  readonly #top: string;
  readonly #plain = new Map<string, boolean>([['.', true]]);

  constructor(top: string) {
    this.#top = top;
  }

  /** Whether every folder on the way to `path` is one, or is not there yet. */
  have(path: string): boolean {
    const folder = dirname(path);
    const known = this.#plain.get(folder);
    if (known !== undefined) return known;
    const stat = lstatSync(join(this.#top, folder), { throwIfNoEntry: false });
    const plain = this.have(folder) && (stat === undefined || stat.isDirectory());
    if (stat !== undefined) this.#plain.set(folder, plain);
    return plain;
  }
}
