import { LRUCache } from 'lru-cache';
import { type HashName, objectId } from './object-id.ts';
import type { ObjectReader } from './object-reader.ts';
import { entriesOf, withIds } from './tree.ts';

/**
 * Keeps tree objects in memory: a batch needs those of all its folders, and while packs pile up git takes a
 * millisecond to find each. What an id stands for never changes, so nothing here can be out of date.
 */
export class TreeCache {
  readonly #objects: ObjectReader;
  readonly #hash: HashName;
  readonly #trees = new LRUCache<string, Buffer>({
    maxSize: maxBytes,
    sizeCalculation: (tree) => tree.length + 100,
  });

  constructor(objects: ObjectReader, hash: HashName) {
    this.#objects = objects;
    this.#hash = hash;
  }

  /**
   * The trees that `names` (of trees, or `<commit>^{tree}`) stand for, empty where there is none.
   * @throws {GitExit}
   */
  async read(names: readonly string[]): Promise<Buffer[]> {
    const missing = names.filter((name) => !this.#trees.has(name));
    const objects = await this.#objects.read(missing);
    const found = new Map(missing.map((name, i) => [name, objects[i]?.content ?? Buffer.alloc(0)]));
    for (const [name, tree] of found) if (tree.length > 0) this.#trees.set(name, tree);
    return names.map((name) => found.get(name) ?? this.#trees.get(name) ?? Buffer.alloc(0));
  }

  /**
   * Makes the trees of a commit on top of `tip`, so that git need not be asked for them.
   * @param files - path → the blob that the commit puts there
   * @throws {GitExit}
   */
  async foresee(tip: string, files: readonly (readonly [path: string, blob: string])[]): Promise<void> {
    await this.#foresee(`${tip}^{tree}`, files);
  }

  async #foresee(name: string, files: readonly (readonly [path: string, blob: string])[]): Promise<string> {
    const [tree = Buffer.alloc(0)] = await this.read([name]);
    const ids = new Map<string, string>();
    const below = new Map<string, [string, string][]>();
    for (const [path, blob] of files) {
      const slash = path.indexOf('/');
      if (slash === -1) {
        ids.set(path, blob);
        continue;
      }
      const folder = path.slice(0, slash);
      const inside = below.get(folder) ?? [];
      below.set(folder, inside);
      inside.push([path.slice(slash + 1), blob]);
    }
    for (const [folder, { id }] of entriesOf(tree, below.keys(), this.#hash)) {
      ids.set(folder, await this.#foresee(id, below.get(folder) ?? []));
    }
    const changed = withIds(tree, ids, this.#hash);
    const id = objectId('tree', changed, this.#hash);
    this.#trees.set(id, changed);
    return id;
  }
}

/** Enough for the folders of 200,000 bots, in two versions. */
const maxBytes = 32 * 1024 * 1024;
