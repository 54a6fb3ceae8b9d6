import {
  assembleCollections,
  type Collection,
  collectionsFolder,
  parseCollectionPage,
} from '../page/collection.ts';
import type { Fault } from '../page/fault.ts';
import { WatchedFolder, type WatchedFolderOptions } from './watched-folder.ts';

/** The collections of a catalogue, kept true to the files in `collections/`. */
export class Collections {
  readonly folder;
  #all: ReadonlyMap<string, Collection> = new Map();
  #faulty: readonly string[] = [];

  constructor({ root, onFaults }: Pick<WatchedFolderOptions<never>, 'root' | 'onFaults'>) {
    this.folder = new WatchedFolder({
      root,
      folder: collectionsFolder,
      parse: parseCollectionPage,
      onFaults,
      onChange: () => this.#assemble(onFaults),
    });
  }

  /** By their names. Another map whenever one of them has changed. */
  get all(): ReadonlyMap<string, Collection> {
    return this.#all;
  }

  #assemble(onFaults: (key: string, faults: readonly Fault[]) => void): void {
    const { collections, faults } = assembleCollections(this.folder.files);
    this.#all = collections;
    // Apart from the faults that a file has by itself.
    const paths = faults.map(({ path }) => path);
    for (const path of new Set([...this.#faulty, ...paths]))
      onFaults(
        `${path}#bots`,
        faults.filter((fault) => fault.path === path),
      );
    this.#faulty = paths;
  }
}
