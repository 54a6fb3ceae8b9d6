import { once } from 'node:events';
import { constants, getPriority, setPriority } from 'node:os';
import { platform } from 'node:process';
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Category } from '../../../schemas/types.ts';
import { type BotId, compareBotIds } from '../../bot/id.ts';
import { findFirstPlace } from '../../lib/binary-search.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { type IndexedBot, listElementParts } from '../store/bot-index.ts';
import { addBotWords, addPages, type SearchedBot } from './bot-words.ts';
import { botOf, Field, fieldOf, shareOfOne } from './postings.ts';
import { type Expansion, type PackedIndex, PostingsBuilder, WordIndex } from './word-index.ts';

/** The words of many bots at one time. When a bot changes, it is removed here and added to a later segment. */
export class IndexSegment {
  /** By number, which is the order of ids; undefined if the bot has changed since. */
  readonly #bots: (IndexedBot | undefined)[];
  readonly #ids: readonly BotId[];
  readonly #kinds: Uint16Array;
  /** The index of names, categories and descriptions, then that of the pages once it is ready. */
  readonly indexes: WordIndex[];
  /** The number of bots that have not changed since. */
  live: number;
  /** States of ended searches, reused because clearing them costs less than allocating new ones. */
  readonly #idle: SegmentSearch[] = [];

  constructor(bots: readonly IndexedBot[], ...packed: PackedIndex[]) {
    this.#bots = [...bots];
    this.#ids = bots.map(({ id }) => id);
    this.#kinds = Uint16Array.from(bots, ({ facts }) => numberKind(facts));
    this.live = bots.length;
    this.indexes = packed.map((index) => new WordIndex(index));
  }

  /** The number of bots, including those that have changed since. */
  get size(): number {
    return this.#bots.length;
  }

  /** Returns a bot by its number; undefined if it has changed since. */
  bot(number: number): IndexedBot | undefined {
    return this.#bots[number];
  }

  /** Returns the kind of a bot, as its place in `allKinds`. */
  kind(number: number): number {
    return this.#kinds[number] ?? 0;
  }

  /** Returns the bots that have not changed since. */
  liveBots(): IndexedBot[] {
    return this.#bots.filter((bot) => bot !== undefined);
  }

  /** Returns the number of a bot; undefined if it is not in the segment, or has changed since. */
  numberOf(id: BotId): number | undefined {
    const number = findFirstPlace(this.#ids, (other) => compareBotIds(other, id) < 0);
    return this.#ids[number] === id && this.#bots[number] !== undefined ? number : undefined;
  }

  /** Removes a bot that has changed. */
  remove(id: BotId): void {
    const number = this.numberOf(id);
    if (number === undefined) return;
    this.#bots[number] = undefined;
    this.live--;
  }

  /** Returns the state of a new search, reusing an ended one. */
  startSearch(): SegmentSearch {
    return this.#idle.pop() ?? new SegmentSearch(this);
  }

  endSearch(search: SegmentSearch): void {
    const { found, covered, coveredByTexts } = search;
    for (const number of found.bots.subarray(0, found.size)) covered[number] = coveredByTexts[number] = 0;
    search.term.clear();
    found.clear();
    this.#idle.push(search);
  }
}

/** A combination of values that many bots share, so that they are filtered and counted without reading each bot. */
export interface Kind {
  readonly category: Category;
  readonly nsfw: boolean;
  readonly verified: boolean;
}

/** Every kind that a bot has had. Its place is the kind's number. */
export const allKinds: Kind[] = [];

function numberKind({ category, nsfw, verified }: Kind): number {
  const known = allKinds.findIndex(
    (kind) => kind.category === category && kind.nsfw === nsfw && kind.verified === verified,
  );
  return known === -1 ? allKinds.push({ category, nsfw, verified }) - 1 : known;
}

/** The state of a search in a segment. */
export class SegmentSearch {
  readonly segment: IndexSegment;
  /** The weights of bots for the current term. */
  readonly term: Sums;
  /** The weights of bots for all terms so far. */
  readonly found: Sums;
  /** By the bot's number: the weight of the terms that it matches. */
  readonly covered: Float32Array;
  /** By the bot's number: the weight of the terms that its name, category and description match. */
  readonly coveredByTexts: Float32Array;
  /** For the caller: a rank of each bot in `found.bots`. */
  readonly ranks: Uint16Array;
  /** The sum of the terms' weights, in which rare terms count more, and the same sum without rarity. */
  weight = 1;
  ownWeight = 1;

  constructor(segment: IndexSegment) {
    this.segment = segment;
    this.ranks = new Uint16Array(segment.size);
    this.term = new Sums(segment.size);
    this.found = new Sums(segment.size);
    this.covered = new Float32Array(segment.size);
    this.coveredByTexts = new Float32Array(segment.size);
  }

  /** Returns the number of current bots that match the term. */
  get count(): number {
    const { segment, term } = this;
    if (segment.live === segment.size) return term.size;
    let count = 0;
    for (let i = 0; i < term.size; i++) if (segment.bot(term.bots[i] ?? 0) !== undefined) count++;
    return count;
  }

  /** Adds the weights of the current term to those of the query, and clears them. @param ownWeight that of the term without rarity */
  addTerm(weight: number, ownWeight: number, saturation: number): void {
    const { term, found, covered, coveredByTexts } = this;
    for (let i = 0; i < term.size; i++) {
      const bot = term.bots[i] ?? 0;
      const value = term.values[bot] ?? 0;
      found.add(bot, (weight * value) / (value + saturation));
      covered[bot] = (covered[bot] ?? 0) + ownWeight;
      if (term.inTexts[bot] === 1) coveredByTexts[bot] = (coveredByTexts[bot] ?? 0) + ownWeight;
    }
    term.clear();
  }

  /** Returns the part of the query that a bot has, by weight of the words. */
  coverage(number: number): number {
    return Math.min(1, (this.covered[number] ?? 0) / this.ownWeight);
  }

  /** Returns the match of a bot, above 0; less than 1 for one that has all words well, and lower for one that has some. */
  score(number: number): number {
    const score = (this.found.values[number] ?? 0) / this.weight;
    return Math.fround(score * (minCoverageFactor + (1 - minCoverageFactor) * this.coverage(number)));
  }

  /** Whether a bot has most of its words in pages and commands only. */
  isMention(number: number): boolean {
    return (this.coveredByTexts[number] ?? 0) * 2 < (this.covered[number] ?? 0);
  }
}

const minCoverageFactor = 0.25;

/** The weights of bots by number: for one term of a query, or for all. */
class Sums {
  /** The bots with a weight; only the first `size` entries are set. */
  readonly bots: Uint32Array;
  size = 0;
  readonly values: Float32Array;
  /** By the bot's number: 1 for a match in the name, the category or the description. */
  readonly inTexts: Uint8Array;
  /** The weights in pages and commands. For each term they add up to less than one match in a description of usual length. */
  readonly #inPages: Float32Array;

  /** @param bots the number of bots in the segment */
  constructor(bots: number) {
    this.bots = new Uint32Array(bots);
    this.values = new Float32Array(bots);
    this.inTexts = new Uint8Array(bots);
    this.#inPages = new Float32Array(bots);
  }

  add(bot: number, value: number): void {
    if (this.values[bot] === 0) this.bots[this.size++] = bot;
    this.values[bot] = (this.values[bot] ?? 0) + value;
  }

  /** Adds the weights of matches, which depend on the field and the length of its text. */
  async addExpansions(index: WordIndex, expansions: readonly Expansion[], slice: TimeSlice): Promise<void> {
    const { shares } = index;
    for (const { postings, fit } of expansions) {
      const values = fieldWeights.map((weight) => (fit * weight) / shareOfOne);
      for (let i = 0; i < postings.length; i++) {
        if (i % postingsPerCheck === 0 && slice.isOver) await slice.next();
        const posting = postings[i] ?? 0;
        const bot = botOf(posting);
        const field = fieldOf(posting);
        let value = (values[field] ?? 0) * (shares[bot * 2 + (field & 1)] ?? 0);
        if (field < Field.page) this.inTexts[bot] = 1;
        else {
          const before = this.#inPages[bot] ?? 0;
          const after = (this.#inPages[bot] = before + value);
          value = after / (after + 1) - before / (before + 1);
        }
        this.add(bot, value);
      }
    }
  }

  /** Removes all weights. */
  clear(): void {
    for (let i = 0; i < this.size; i++) {
      const bot = this.bots[i] ?? 0;
      this.inTexts[bot] = this.values[bot] = this.#inPages[bot] = 0;
    }
    this.size = 0;
  }
}

/** The weights of a match in a name, a description, a page and commands. */
const fieldWeights = [4, 2, 1, 2];

/** Postings between two checks of the clock: tens of microseconds. */
const postingsPerCheck = 4096;

/** Builds a segment of few bots, in slices of time. */
export async function buildSmallSegment(bots: readonly IndexedBot[]): Promise<IndexSegment> {
  const slice = new TimeSlice();
  const texts = new PostingsBuilder();
  const pages = new PostingsBuilder(maxPostingsPerPageWord);
  for (const [number, bot] of bots.entries()) {
    if (slice.isOver) await slice.next();
    const searched = JSON.parse(Buffer.concat(listSearchedParts(bot)).toString()) as SearchedBot;
    addBotWords(texts, number, searched);
    addPages(pages, number, searched);
  }
  return new IndexSegment(bots, texts.pack(), pages.pack());
}

/**
 * Builds a segment of many bots in threads. Resolves when names, categories and descriptions are indexed; `complete`
 * resolves when the pages are too.
 * @param signal ends the threads; then both promises are rejected
 */
export async function buildLargeSegment(
  bots: readonly IndexedBot[],
  signal: AbortSignal,
): Promise<{ readonly segment: IndexSegment; readonly complete: Promise<void> }> {
  const segment = new IndexSegment(bots, await indexInThread('texts', bots, signal));
  const pages = indexInThread('pages', bots, signal);
  return { segment, complete: pages.then((packed) => void segment.indexes.push(new WordIndex(packed))) };
}

/** The part of each bot that a thread indexes. */
type IndexPart = 'texts' | 'pages';

async function indexInThread(
  part: IndexPart,
  bots: readonly IndexedBot[],
  signal: AbortSignal,
): Promise<PackedIndex> {
  signal.throwIfAborted();
  const thread = new Worker(new URL(import.meta.url), { workerData: part });
  thread.unref();
  const request = async (json: Buffer | null): Promise<unknown> => {
    // Moved, because what this thread allocates for nothing makes it collect garbage. A small one is part of a pool.
    const isMoved = json !== null && json.length === json.buffer.byteLength;
    thread.postMessage(json, isMoved ? [json.buffer as ArrayBuffer] : []);
    const [response] = await once(thread, 'message', { signal });
    return response;
  };
  try {
    const slice = new TimeSlice('service');
    // While the thread indexes one batch, the next is prepared.
    let indexed: Promise<unknown> | undefined;
    for (let start = 0; start < bots.length; start += batchSize) {
      if (slice.isOver) await slice.next();
      const records = bots
        .slice(start, start + batchSize)
        .flatMap((bot) => [comma, ...(part === 'texts' ? listElementParts(bot) : listSearchedParts(bot))]);
      const json = Buffer.concat([Buffer.from('['), ...records.slice(1), Buffer.from(']')]);
      await indexed;
      indexed = request(json);
      // Awaited later, also when it is rejected before that.
      indexed.catch(() => {});
    }
    await indexed;
    return (await request(null)) as PackedIndex;
  } finally {
    void thread.terminate();
  }
}

/** Returns the parts of the record and the commands as JSON. */
function listSearchedParts({ record, commands }: IndexedBot): readonly Buffer[] {
  if (commands === null) return [record];
  return [record.subarray(0, -1), Buffer.from(',"commands":'), commands, Buffer.from('}')];
}

const comma = Buffer.from(',');

/** Bots per message to the thread: half a megabyte. */
const batchSize = 200;

/** A word with more postings is left out, because it distinguishes no bots. Words of pages count little anyway. */
const maxPostingsPerPageWord = 1000;

/** Runs in a thread: indexes the bots of each message. The last message has no bots; its response is the index. */
function indexMessages(part: IndexPart, port: MessagePort): void {
  // On Linux this lowers the priority of this thread only. No search waits for the pages, which take a minute or more.
  const { PRIORITY_BELOW_NORMAL } = constants.priority;
  if (part === 'pages' && platform === 'linux' && getPriority() < PRIORITY_BELOW_NORMAL)
    setPriority(PRIORITY_BELOW_NORMAL);
  const builder = new PostingsBuilder(part === 'texts' ? Infinity : maxPostingsPerPageWord);
  const add = part === 'texts' ? addBotWords : addPages;
  let number = 0;
  port.on('message', (json: Uint8Array | null) => {
    const list = JSON.parse(Buffer.from(json ?? '[]').toString()) as SearchedBot[];
    for (const searched of list) add(builder, number++, searched);
    if (json !== null) return port.postMessage(null);
    const { text, ...arrays } = builder.pack();
    const moved = Object.values(arrays).map((array) => array.buffer as ArrayBuffer);
    port.postMessage({ text, ...arrays } satisfies PackedIndex, moved);
  });
}

if (parentPort) indexMessages(workerData as IndexPart, parentPort);
