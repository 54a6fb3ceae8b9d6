import { type BotId, compareBotIds } from '../../bot/id.ts';
import type { Category } from '../../bot/schema-types.ts';
import { findFirstPlace } from '../store/binary-search.ts';
import type { IndexedBot } from '../store/bot-index.ts';
import { Matches } from './match-term.ts';
import { type PackedIndex, WordIndex } from './word-index.ts';

/** The words of many bots, as they were at one time. A bot that changes is taken out, and is in a later segment. */
export class IndexSegment {
  /** In numeric order of their ids, which is that of their numbers; undefined where a bot has changed since. */
  readonly #bots: (IndexedBot | undefined)[];
  readonly #ids: readonly BotId[];
  readonly #kinds: Uint16Array;
  /** The words of names, categories and descriptions. */
  readonly texts: WordIndex;
  /** Every index to look words up in: that one, and that of the pages once it is there. */
  readonly indexes: WordIndex[];
  /** How many of its bots have not changed since. */
  live: number;
  readonly #idle: SegmentSearch[] = [];

  constructor(bots: readonly IndexedBot[], texts: PackedIndex, pages?: PackedIndex) {
    this.#bots = [...bots];
    this.#ids = bots.map(({ id }) => id);
    this.#kinds = Uint16Array.from(bots, ({ facts }) => numberKind(facts));
    this.live = bots.length;
    this.texts = new WordIndex(texts);
    this.indexes = [this.texts];
    if (pages) this.addPages(pages);
  }

  /** Adds the words of the bots' pages. */
  addPages(pages: PackedIndex): void {
    this.indexes.push(new WordIndex(pages));
  }

  /** How many bots it has, with those that have changed since. */
  get size(): number {
    return this.#bots.length;
  }

  /** Returns a bot by its number; undefined where it has changed since. */
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
    this.live--;
  }

  /** Lends what a search keeps of each bot while it runs, empty. End the search when it is over. */
  startSearch(): SegmentSearch {
    return this.#idle.pop() ?? new SegmentSearch(this);
  }

  endSearch(search: SegmentSearch): void {
    search.clear();
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
const kindNumbers = new Map<string, number>();

function numberKind({ category, nsfw, verified }: Kind): number {
  const key = `${category} ${nsfw} ${verified}`;
  const known = kindNumbers.get(key);
  if (known !== undefined) return known;
  kindNumbers.set(key, allKinds.length);
  return allKinds.push({ category, nsfw, verified }) - 1;
}

/** A segment, and what a search keeps of each of its bots while it runs. */
export class SegmentSearch {
  readonly segment: IndexSegment;
  /** The bots that have the term which is looked for. */
  term: Matches;
  /** Those that have the term before it. */
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

  constructor(segment: IndexSegment) {
    this.segment = segment;
    const createMatches = (): Matches => new Matches(segment.size);
    this.term = createMatches();
    this.previous = createMatches();
    this.part = createMatches();
    this.other = createMatches();
    this.found = createMatches();
    this.names = createMatches();
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

  clear(): void {
    for (let i = 0; i < this.found.size; i++) this.covered[this.found.bots[i] ?? 0] = 0;
    for (const matches of [this.term, this.previous, this.part, this.other, this.found, this.names])
      matches.clear();
  }
}
