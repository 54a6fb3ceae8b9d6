import { once } from 'node:events';
import { type MessagePort, parentPort, Worker, workerData } from 'node:worker_threads';
import type { Category } from '../../../schemas/types.ts';
import { type BotId, compareBotIds } from '../../bot/id.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { findFirstPlace, type IndexedBot, listElementParts } from '../store/bot-index.ts';
import { addBotWords, addPages, type SearchedBot } from './bot-words.ts';
import { Sums } from './match-term.ts';
import { PostingsBuilder } from './postings-builder.ts';
import { type PackedIndex, WordIndex } from './word-index.ts';

/** The words of many bots, as they were at one time. A bot that changes is removed, and added to a later segment. */
export class IndexSegment {
  /** In numeric order of their ids, which is that of their numbers; undefined if a bot has changed since. */
  readonly #bots: (IndexedBot | undefined)[];
  readonly #ids: readonly BotId[];
  readonly #kinds: Uint16Array;
  /** Those of names, categories and descriptions, and that of the pages once it is there. */
  readonly indexes: WordIndex[];
  /** How many of its bots have not changed since. */
  live: number;
  /** Arrays of ended searches for the next ones, because emptying them costs less than new arrays of this size. */
  readonly #idle: SegmentSearch[] = [];

  constructor(bots: readonly IndexedBot[], ...packed: PackedIndex[]) {
    this.#bots = [...bots];
    this.#ids = bots.map(({ id }) => id);
    this.#kinds = Uint16Array.from(bots, ({ facts }) => numberKind(facts));
    this.live = bots.length;
    this.indexes = packed.map((index) => new WordIndex(index));
  }

  /** How many bots it has, with those that have changed since. */
  get size(): number {
    return this.#bots.length;
  }

  /** Returns a bot by its number; undefined if it has changed since. */
  bot(number: number): IndexedBot | undefined {
    return this.#bots[number];
  }

  /** Returns the kind of a bot, as its number in `allKinds`. */
  kind(number: number): number {
    return this.#kinds[number] ?? 0;
  }

  /** Its bots that have not changed since. */
  liveBots(): IndexedBot[] {
    return this.#bots.filter((bot) => bot !== undefined);
  }

  /** Returns the number of a bot; undefined if it is not here, or has changed since. */
  numberOf(id: BotId): number | undefined {
    const number = findFirstPlace(this.#ids, (other) => compareBotIds(other, id) < 0);
    return this.#ids[number] === id && this.#bots[number] !== undefined ? number : undefined;
  }

  /** Takes out a bot that has changed. */
  remove(id: BotId): void {
    const number = this.numberOf(id);
    if (number === undefined) return;
    this.#bots[number] = undefined;
    this.live--;
  }

  /** Returns the state of a new search, in arrays that are reused. */
  startSearch(): SegmentSearch {
    return this.#idle.pop() ?? new SegmentSearch(this);
  }

  endSearch(search: SegmentSearch): void {
    search.covered.fill(0);
    search.term.clear();
    search.found.clear();
    this.#idle.push(search);
  }
}

/** What a bot is by the number of its kind, so that many can be filtered and counted without a look at each. */
export interface Kind {
  readonly category: Category;
  readonly nsfw: boolean;
  readonly verified: boolean;
}

/** Every kind that a bot has had, by its number. */
export const allKinds: Kind[] = [];

function numberKind({ category, nsfw, verified }: Kind): number {
  const known = allKinds.findIndex(
    (kind) => kind.category === category && kind.nsfw === nsfw && kind.verified === verified,
  );
  return known === -1 ? allKinds.push({ category, nsfw, verified }) - 1 : known;
}

/** A segment, and what a search keeps of each of its bots while it runs. */
export class SegmentSearch {
  readonly segment: IndexSegment;
  /** What the bots count for the term which is looked for. */
  readonly term: Sums;
  /** What they count for all terms so far. */
  readonly found: Sums;
  /** By the bot's number: the weight of the terms it has. */
  readonly covered: Float32Array;

  constructor(segment: IndexSegment) {
    this.segment = segment;
    this.term = new Sums(segment.size);
    this.found = new Sums(segment.size);
    this.covered = new Float32Array(segment.size);
  }

  /** Returns how many bots have the term. */
  get count(): number {
    const { segment, term } = this;
    if (segment.live === segment.size) return term.size;
    let count = 0;
    for (let i = 0; i < term.size; i++) if (segment.bot(term.bots[i] ?? 0) !== undefined) count++;
    return count;
  }

  /** Adds what each bot has of the term to what it has of the query, and forgets it. */
  addTerm(toScore: (value: number) => number, weight: number): void {
    const { term, found, covered } = this;
    for (let i = 0; i < term.size; i++) {
      const bot = term.bots[i] ?? 0;
      found.add(bot, toScore(term.values[bot] ?? 0));
      covered[bot] = (covered[bot] ?? 0) + weight;
    }
    term.clear();
  }
}

/** Builds a segment of few bots, one slice of time after the other. */
export async function buildSmallSegment(bots: readonly IndexedBot[]): Promise<IndexSegment> {
  const slice = new TimeSlice();
  const texts = new PostingsBuilder();
  const pages = new PostingsBuilder(maxPostingsPerPageWord);
  for (const [number, bot] of bots.entries()) {
    if (slice.isOver) await slice.next();
    const searched = JSON.parse(toSearchedJson(bot).toString()) as SearchedBot;
    addBotWords(texts, number, searched);
    addPages(pages, number, searched);
  }
  return new IndexSegment(bots, texts.pack(), pages.pack());
}

/**
 * Builds a segment of many bots in threads. Resolves when names, categories and descriptions are indexed; the pages
 * follow, and `complete` resolves when they are there.
 * @param signal ends the threads; then both promises are rejected
 */
export async function buildLargeSegment(
  bots: readonly IndexedBot[],
  signal: AbortSignal,
): Promise<{ readonly segment: IndexSegment; readonly complete: Promise<void> }> {
  const segment = new IndexSegment(bots, await indexInThread('texts', bots, signal));
  const addIndexOfPages = async (): Promise<void> => {
    segment.indexes.push(new WordIndex(await indexInThread('pages', bots, signal)));
  };
  return { segment, complete: addIndexOfPages() };
}

/** What a thread indexes of each bot. */
type IndexPart = 'texts' | 'pages';

async function indexInThread(
  part: IndexPart,
  bots: readonly IndexedBot[],
  signal: AbortSignal,
): Promise<PackedIndex> {
  signal.throwIfAborted();
  const thread = new Worker(new URL(import.meta.url), { workerData: part });
  thread.unref();
  const request = async (json: string | null): Promise<unknown> => {
    thread.postMessage(json);
    const [response] = await once(thread, 'message', { signal });
    return response;
  };
  try {
    const slice = new TimeSlice('service');
    for (let start = 0; start < bots.length; start += batchSize) {
      if (slice.isOver) await slice.next();
      const records = bots
        .slice(start, start + batchSize)
        .map((bot) => (part === 'texts' ? Buffer.concat(listElementParts(bot)) : toSearchedJson(bot)));
      await request(`[${records.join(',')}]`);
    }
    return (await request(null)) as PackedIndex;
  } finally {
    void thread.terminate();
  }
}

/** Returns the record with the commands. */
function toSearchedJson({ record, commands }: IndexedBot): Buffer {
  if (commands === null) return record;
  return Buffer.concat([record.subarray(0, -1), Buffer.from(',"commands":'), commands, Buffer.from('}')]);
}

/** Bots in a message to the thread: half a megabyte. */
const batchSize = 200;

/** A word of a page counts little, and one that many pages have tells nothing: it would only take up room. */
const maxPostingsPerPageWord = 1000;

/** In a thread: indexes the bots of each message, and responds to the last one, which has none, with the index. */
function indexMessages(part: IndexPart, port: MessagePort): void {
  const builder = new PostingsBuilder(part === 'texts' ? Infinity : maxPostingsPerPageWord);
  const add = part === 'texts' ? addBotWords : addPages;
  let number = 0;
  port.on('message', (json: string | null) => {
    for (const searched of JSON.parse(json ?? '[]') as SearchedBot[]) add(builder, number++, searched);
    if (json !== null) return port.postMessage(null);
    const { text, ...arrays } = builder.pack();
    const moved = Object.values(arrays).map((array) => array.buffer as ArrayBuffer);
    port.postMessage({ text, ...arrays } satisfies PackedIndex, moved);
  });
}

if (parentPort) indexMessages(workerData as IndexPart, parentPort);
