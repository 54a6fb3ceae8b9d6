import { type BotId, compareBotIds } from '../../bot/id.ts';
import type { Log } from '../../lib/log.ts';
import type { TimeSlice } from '../../lib/time-slice.ts';
import type { BotIndex, IndexedBot } from '../store/bot-index.ts';
import type { Needs } from './query.ts';
import { type Found, runSearch } from './run-search.ts';
import { buildLargeSegment, buildSmallSegment, type IndexSegment } from './segment.ts';

/**
 * Searches names, categories, descriptions and pages of every bot in every language
 * (docs/decisions/017-search-has-an-index-of-words.md). One large segment has the words of all bots; small segments
 * have those of bots that changed since.
 */
export class BotSearch {
  readonly #bots: BotIndex;
  readonly #closing = new AbortController();
  #segments: readonly IndexSegment[] = [];
  /** Changes whenever the results of a search may change although the bots and the needs stay the same. */
  version = 0;
  /** The bots that the segments contain. */
  #indexed: readonly IndexedBot[] = [];
  #updating: Promise<void> | undefined;
  #isRebuilding = false;
  /** The builds that run while searches go on. */
  readonly #background = new Set<Promise<void>>();
  #rebuilt: { readonly segment: IndexSegment; readonly bots: readonly IndexedBot[] } | undefined;
  readonly #onError: (error: unknown) => void;
  readonly #needs: () => Needs;

  /**
   * @param onError called with the error that ended a build in the background
   * @param needs returns the meanings of words by the settings in force
   */
  constructor(bots: BotIndex, onError: (error: unknown) => void, needs: () => Needs) {
    this.#bots = bots;
    this.#needs = needs;
    this.#onError = (error) => {
      if (!this.#closing.signal.aborted) onError(error);
    };
  }

  /** The meanings of words; the same object until they change. */
  get needs(): Needs {
    return this.#needs();
  }

  /**
   * Finds the bots that match the words of a text. Waits for the first index to be built.
   * @param use called with the result, which is valid until it resolves
   */
  async search<T>(text: string, slice: TimeSlice, use: (found: Found) => Promise<T>): Promise<T> {
    await this.update();
    return await runSearch(this.#segments, text, slice, this.#needs(), use);
  }

  /** Indexes new and changed bots. Resolves when every current bot is indexed; the pages of a large catalogue may follow later. */
  async update(): Promise<void> {
    // A running update may have begun before the last change, so wait for the next one.
    for (let tries = 0; tries < 2 && this.#indexed !== (await this.#bots.sorted()); tries++)
      await (this.#updating ??= this.#update().finally(() => (this.#updating = undefined)));
  }

  /** Resolves when the pages of a large catalogue are indexed too. */
  async complete(): Promise<void> {
    await this.update();
    await Promise.all(this.#background);
  }

  /** Builds the index, which the first search would wait for. Logs a failure: the next search retries. */
  async build(log: Log): Promise<void> {
    const started = performance.now();
    try {
      await this.complete();
      log.debug({ ms: Math.round(performance.now() - started) }, 'the search index is built');
    } catch (error) {
      if (!this.#closing.signal.aborted)
        log.error({ err: error }, 'could not build the search index: the next search retries');
    }
  }

  /** Stops all builds. */
  close(): void {
    this.#closing.abort();
  }

  async #update(): Promise<void> {
    const all = await this.#bots.sorted();
    if (this.#rebuilt) [this.#segments, this.#indexed] = [[this.#rebuilt.segment], this.#rebuilt.bots];
    this.#rebuilt = undefined;
    const { changed, removed } = diffBots(this.#indexed, all);
    let segment = await this.#build(changed);
    for (const id of removed) for (const before of this.#segments) before.remove(id);
    const segments = [...this.#segments];
    // Merged segments are of similar size, so a bot is re-indexed only a few times.
    for (let last = segments.at(-1); last && isMerged(last, segment); last = segments.at(-1)) {
      const bots = [...last.liveBots(), ...segment.liveBots()].toSorted((a, b) => compareBotIds(a.id, b.id));
      segment = await buildSmallSegment(bots);
      segments.pop();
    }
    this.#segments = segment.size > 0 ? [...segments, segment] : segments;
    this.#indexed = all;
    const [first, ...small] = this.#segments;
    const inSmall = small.reduce((sum, { live }) => sum + live, 0);
    if (first && !this.#isRebuilding && inSmall > Math.max(maxBotsInSlices, first.size / 20))
      this.#rebuild(all);
  }

  /** Builds a segment. Resolves when searches can use it; the pages of many bots follow later. */
  async #build(bots: readonly IndexedBot[]): Promise<IndexSegment> {
    if (bots.length <= maxBotsInSlices) return await buildSmallSegment(bots);
    const { segment, complete } = await buildLargeSegment(bots, this.#closing.signal);
    this.#follow(complete.then(() => void this.version++));
    return segment;
  }

  /** Rebuilds the whole index in a thread, while searches use the old one. The next update replaces it. */
  #rebuild(bots: readonly IndexedBot[]): void {
    this.#isRebuilding = true;
    const rebuild = buildLargeSegment(bots, this.#closing.signal)
      .then(async ({ segment, complete }) => {
        await complete;
        this.#rebuilt = { segment, bots };
      })
      .finally(() => (this.#isRebuilding = false));
    this.#follow(rebuild);
  }

  #follow(work: Promise<void>): void {
    const followed = work.catch(this.#onError).finally(() => this.#background.delete(followed));
    this.#background.add(followed);
  }
}

/** Up to this many bots are indexed on the event loop, more in a thread. */
const maxBotsInSlices = 256;

function isMerged(before: IndexSegment, segment: IndexSegment): boolean {
  return before.live + segment.live <= maxBotsInSlices && before.live < segment.live * 4;
}

/** Returns the bots that are only in the second list, and the ids of bots that are only in the first. */
function diffBots(before: readonly IndexedBot[], after: readonly IndexedBot[]) {
  const changed: IndexedBot[] = [];
  const removed: BotId[] = [];
  for (let [i, j] = [0, 0]; i < before.length || j < after.length;) {
    const [a, b] = [before[i], after[j]];
    const order = a === b ? 0 : a === undefined ? 1 : b === undefined ? -1 : compareBotIds(a.id, b.id);
    if (a && a !== b && order <= 0) removed.push(a.id);
    if (b && a !== b && order >= 0) changed.push(b);
    if (order <= 0) i++;
    if (order >= 0) j++;
  }
  return { changed, removed };
}
