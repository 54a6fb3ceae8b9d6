import { LRUCache } from 'lru-cache';
import type { ObjectReader } from './object-reader.ts';

/**
 * Keeps tree objects in memory: a batch needs those of all its folders, and with many packs git takes a millisecond to
 * find each. The object of an id never changes, so the cache is never stale.
 */
export class TreeCache {
  readonly #objects: ObjectReader;
  readonly #trees = new LRUCache<string, Buffer>({
    maxSize: maxBytes,
    sizeCalculation: (tree) => tree.length + 100,
  });

  constructor(objects: ObjectReader) {
    this.#objects = objects;
  }

  /**
   * Returns the trees of these names (ids of trees, or `<commit>^{tree}`), empty where there is none.
   * @throws as ObjectReader.read does
   */
  async read(names: readonly string[]): Promise<Buffer[]> {
    const missing = names.filter((name) => !this.#trees.has(name));
    const objects = await this.#objects.read(missing);
    const found = new Map(missing.map((name, i) => [name, objects[i]?.content ?? Buffer.alloc(0)]));
    for (const [name, tree] of found) if (tree.length > 0) this.#trees.set(name, tree);
    return names.map((name) => found.get(name) ?? this.#trees.get(name) ?? Buffer.alloc(0));
  }
}

/** Enough for the folders of 200,000 bots, in two versions. */
const maxBytes = 32 * 1024 * 1024;
