import type { BotId } from '../bot/id.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { ObjectReader } from '../git/objects/object-reader.ts';
import type { Repository } from '../git/repository.ts';
import { parseTree, type TreeEntry } from '../git/objects/tree.ts';
import { TreeCache } from '../git/objects/tree-cache.ts';
import { hoursFolder, hoursIndex, parseHoursIndex, readHours } from './hour-files.ts';
import { readShard } from './shards.ts';
import type { HourIndexes, Span } from './spans.ts';

/**
 * Reads counts of earlier states, through a git of its own so that nothing else waits for it, in slices of
 * time. Close it when done.
 */
export class CountReader {
  readonly #repository: Repository;
  readonly #objects: ObjectReader;
  readonly #trees: TreeCache;
  readonly #signal: AbortSignal | undefined;

  /** @param signal ends what is under way */
  constructor(repository: Repository, signal?: AbortSignal) {
    this.#repository = repository;
    this.#objects = new ObjectReader(repository.folder);
    this.#trees = new TreeCache(this.#objects);
    this.#signal = signal;
  }

  /** The hours that these trees keep in files. @throws {GitError} */
  async readHourIndexes(trees: readonly string[]): Promise<HourIndexes> {
    const indexes = await this.#objects.read(trees.map((tree) => `${tree}:${hoursIndex}`));
    return new Map(
      trees.flatMap((tree, i) => {
        const index = indexes[i];
        return index === undefined ? [] : [[tree, parseHoursIndex(index.content.toString())]];
      }),
    );
  }

  /**
   * Calls `take` with the counts at the moments of the spans; a bot whose count did not change may be left out.
   * @param before the span whose counts are known, null where none are
   * @throws {GitError}
   */
  async read(
    spans: readonly Span[],
    before: Span | null,
    take: (period: number, id: BotId, count: number) => void,
  ): Promise<void> {
    let known = before;
    for (const span of spans) {
      if (span.inFiles) await this.#readHourFiles(span, take);
      else await this.#readTree(span, known === null || known.inFiles ? null : known.tree, take);
      known = span;
    }
  }

  close(): void {
    this.#objects.close();
  }

  async #readTree(
    { tree, moments: [moment] }: Span,
    from: string | null,
    take: (period: number, id: BotId, count: number) => void,
  ): Promise<void> {
    await this.#readFiles(await this.#changedShards(tree, from), (path, text) => {
      readShard(path, text, (id, { count }) => {
        if (count !== undefined) take(moment?.period ?? 0, id, count.value);
      });
    });
  }

  /** The shards of a tree that are not the same in another; all where that is null. */
  async #changedShards(tree: string, from: string | null): Promise<File[]> {
    const [folders, known] = await this.#list([tree, from]);
    const changed = findChangedEntries(folders, known).filter(({ name }) => /^\d\d$/.test(name));
    const after = await this.#list(changed.map(({ id }) => id));
    const before = await this.#list(changed.map(({ before: id }) => id));
    return changed.flatMap(({ name: folder }, i) =>
      findChangedEntries(after[i], before[i]).flatMap(({ name, id }) =>
        /^\d\d\.json$/.test(name) ? [{ path: `${folder}/${name}`, id }] : [],
      ),
    );
  }

  /** The entries of these trees; none of one that is null. */
  async #list(names: readonly (string | null)[]): Promise<ReadonlyMap<string, TreeEntry>[]> {
    const trees = await this.#trees.read(names.filter((name) => name !== null));
    const found = trees.values();
    return names.map((name) =>
      name === null ? new Map() : parseTree(found.next().value ?? Buffer.alloc(0), this.#repository.hash),
    );
  }

  async #readHourFiles(
    { tree, moments }: Span,
    take: (period: number, id: BotId, count: number) => void,
  ): Promise<void> {
    const indexes = await this.readHourIndexes([tree]);
    const places = moments.map(({ period }) => ({
      period,
      place: indexes.get(tree)?.findIndex(({ hour }) => hour === period) ?? -1,
    }));
    const [files = new Map<string, TreeEntry>()] = await this.#list([`${tree}:${hoursFolder}`]);
    const ofBots = [...files].flatMap(([path, { id }]) => (/^\d\d$/.test(path) ? [{ path, id }] : []));
    await this.#readFiles(ofBots, (_path, text) => {
      readHours(text, (id, counts) => {
        for (const { period, place } of places) {
          const count = counts[place];
          if (count !== undefined) take(period, id, count);
        }
      });
    });
  }

  async #readFiles(files: readonly File[], take: (path: string, text: string) => void): Promise<void> {
    const slice = new TimeSlice();
    for (let start = 0; start < files.length; start += filesAtOnce) {
      this.#signal?.throwIfAborted();
      const some = files.slice(start, start + filesAtOnce);
      const blobs = await this.#objects.read(some.map(({ id }) => id));
      for (const [i, { path }] of some.entries()) {
        if (slice.isOver) await slice.next();
        take(path, blobs[i]?.content.toString() ?? '');
      }
    }
  }
}

const filesAtOnce = 200;

interface File {
  readonly path: string;
  readonly id: string;
}

interface ChangedEntry {
  readonly name: string;
  readonly id: string;
  readonly before: string | null;
}

function findChangedEntries(
  entries: ReadonlyMap<string, TreeEntry> = new Map(),
  known: ReadonlyMap<string, TreeEntry> = new Map(),
): ChangedEntry[] {
  return [...entries].flatMap(([name, { id }]) => {
    const before = known.get(name)?.id ?? null;
    return id === before ? [] : [{ name, id, before }];
  });
}
