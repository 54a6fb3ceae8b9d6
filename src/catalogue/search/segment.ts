import { type BotId, compareBotIds } from '../../bot/id.ts';
import type { Category } from '../../bot/schema-types.ts';
import { findFirstPlace } from '../store/binary-search.ts';
import type { IndexedBot } from '../store/bot-index.ts';
import { Matches } from './matches.ts';
import type { PackedPostings } from './postings.ts';
import { WordIndex } from './word-index.ts';

/** The words of many bots, as they were at one time. A bot that changes is taken out, and is in a later segment. */
export class IndexSegment {
  /** In numeric order of their ids, which is that of their numbers; undefined where a bot has changed since. */
  readonly #bots: (IndexedBot | undefined)[];
  readonly #ids: readonly BotId[];
  readonly #kinds: Uint16Array;
  /** Every kind of its bots, by its number. */
  readonly kinds: readonly Kind[];
  /** The words of names, categories and descriptions. */
  readonly texts: WordIndex;
  #pages: WordIndex | undefined;
  #live: number;
  readonly #idle: SearchMemory[] = [];

  constructor(bots: readonly IndexedBot[], texts: PackedPostings, pages?: PackedPostings) {
    this.#bots = [...bots];
    this.#ids = bots.map(({ id }) => id);
    const kinds = new KindNumbers();
    this.#kinds = Uint16Array.from(bots, ({ facts }) => kinds.of(facts));
    this.kinds = kinds.all;
    this.#live = bots.length;
    this.texts = new WordIndex(texts);
    this.#pages = pages && new WordIndex(pages);
  }

  /** Adds the words of the bots' pages. */
  addPages(pages: PackedPostings): void {
    this.#pages = new WordIndex(pages);
  }

  /** How many bots it has, with those that have changed since. */
  get size(): number {
    return this.#bots.length;
  }

  /** How many of its bots have not changed since. */
  get live(): number {
    return this.#live;
  }

  /** Every index to look words up in. */
  get indexes(): readonly WordIndex[] {
    return this.#pages ? [this.texts, this.#pages] : [this.texts];
  }

  /** Returns a bot by its number; undefined where it has changed since. */
  bot(number: number): IndexedBot | undefined {
    return this.#bots[number];
  }

  /** Returns the kind of a bot, as its number in `kinds`. */
  kind(number: number): number {
    return this.#kinds[number] ?? 0;
  }

  /** Its bots that have not changed since. */
  liveBots(): IndexedBot[] {
    return this.#bots.filter((bot) => bot !== undefined);
  }

  /** Returns the number of a bot; undefined where it is not here, or has changed since. */
  numberOf(id: BotId): number | undefined {
    const number = findFirstPlace(this.#ids, (other) => compareBotIds(other, id) < 0);
    return this.#ids[number] === id && this.#bots[number] !== undefined ? number : undefined;
  }

  /** Takes out a bot that has changed. */
  remove(id: BotId): void {
    const number = this.numberOf(id);
    if (number === undefined) return;
    this.#bots[number] = undefined;
    this.#live--;
  }

  /** Lends what a search keeps of each bot while it runs, empty. Return it when the search is over. */
  borrowMemory(): SearchMemory {
    return this.#idle.pop() ?? new SearchMemory(this.size);
  }

  returnMemory(memory: SearchMemory): void {
    memory.clear();
    this.#idle.push(memory);
  }
}

/** What a bot is by its number of a kind, so that many can be filtered and counted without a look at each. */
export interface Kind {
  readonly category: Category;
  readonly nsfw: boolean;
  readonly verified: boolean;
}

/** Numbers the kinds in the order in which they come. */
export class KindNumbers {
  readonly all: Kind[] = [];
  readonly #numbers = new Map<string, number>();

  of({ category, nsfw, verified }: Kind): number {
    const key = `${category} ${nsfw} ${verified}`;
    const known = this.#numbers.get(key);
    if (known !== undefined) return known;
    this.#numbers.set(key, this.all.length);
    return this.all.push({ category, nsfw, verified }) - 1;
  }
}

/** What a search keeps of each bot of a segment while it runs. */
export class SearchMemory {
  term: Matches;
  /** The term before. */
  previous: Matches;
  /** For the parts of a term. */
  readonly part: Matches;
  readonly other: Matches;
  /** Every bot found so far. */
  readonly found: Matches;
  /** What a whole name adds. */
  readonly names: Matches;
  /** By the bot's number: the weight of the terms it has. */
  readonly covered: Float32Array;

  constructor(bots: number) {
    this.term = new Matches(bots);
    this.previous = new Matches(bots);
    this.part = new Matches(bots);
    this.other = new Matches(bots);
    this.found = new Matches(bots);
    this.names = new Matches(bots);
    this.covered = new Float32Array(bots);
  }

  clear(): void {
    for (let i = 0; i < this.found.size; i++) this.covered[this.found.bots[i] ?? 0] = 0;
    for (const matches of [this.term, this.previous, this.part, this.other, this.found, this.names])
      matches.clear();
  }
}
