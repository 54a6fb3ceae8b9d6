import {
  assembleCollections,
  type Collection,
  type CollectionPage,
  collectionsFolder,
  parseCollectionPage,
} from '../page/collection.ts';
import type { FileMirrorOptions } from './file-mirror.ts';
import { FolderMirror } from './side-mirrors.ts';

/** The collections of a catalogue: each is made of all its files in `collections/`. */
export class Collections extends FolderMirror<CollectionPage> {
  #all: ReadonlyMap<string, Collection> = new Map();
  #faulty: readonly string[] = [];

  constructor(options: FileMirrorOptions) {
    super({ ...options, folder: collectionsFolder, parse: parseCollectionPage });
  }

  /** By their names. Another map whenever one of them has changed. */
  get all(): ReadonlyMap<string, Collection> {
    return this.#all;
  }

  protected override reportChange(): void {
    const { collections, faults } = assembleCollections(this.files);
    this.#all = collections;
    // Apart from the faults that a file has by itself.
    const paths = faults.map(({ path }) => path);
    for (const path of new Set([...this.#faulty, ...paths])) {
      const own = faults.filter((fault) => fault.path === path);
      this.options.store.report(`${path}#bots`, own, [path]);
    }
    this.#faulty = paths;
  }
}
