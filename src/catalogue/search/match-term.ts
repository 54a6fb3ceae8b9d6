import type { TimeSlice } from '../../lib/time-slice.ts';
import { toCategoryWord } from './bot-words.ts';
import { botOf, Field, fieldOf, placeBitOf } from './postings.ts';
import type { Term } from './query.ts';
import type { SegmentSearch } from './segment.ts';
import type { Expansion, WordIndex } from './word-index.ts';

/** How far from a term a bot's words may be. */
export interface Tolerance {
  /** Whether the term may be within a word. */
  readonly within: boolean;
  /** The share of its pairs of letters that a bot must have. */
  readonly pairs: number;
}

/** Finds the bots of a segment that have a term, into `search.term`. */
export async function matchTerm(
  term: Term,
  search: SegmentSearch,
  tolerance: Tolerance,
  slice: TimeSlice,
): Promise<void> {
  search.term.clear();
  if (term.pairs.length > 1) await matchPairs(term.pairs, search, tolerance.pairs, slice);
  for (const index of search.segment.indexes)
    await search.term.addWord(index, expandTerm(term, index, tolerance), slice);
  if (term.pairs.length === 0) await matchHalves(term.text, search, slice);
}

/** Whether a bot has one term right before another one. */
export function areNeighbours(first: number, second: number, distance: number): boolean {
  const shift = distance & 31;
  return (((first << shift) | (first >>> (32 - shift))) & second) !== 0;
}

function expandTerm(term: Term, index: WordIndex, { within }: Tolerance): Expansion[] {
  const { text, others, pairs, open, category } = term;
  const expansions = pairs.length > 0 ? expandPairs(pairs, index, open) : index.formsOf(text, 1);
  for (const { word, fit } of others) expansions.push(...index.formsOf(word, fit));
  if (category !== undefined) expansions.push({ ...index.find(toCategoryWord(category)), fit: 1 });
  if (pairs.length > 0) return expansions;
  if (open) expansions.push({ ...index.beginningWith(text), fit: openFit });
  if (within && text.length >= minLengthWithin)
    for (const range of index.containing(text)) expansions.push({ ...range, fit: withinFit });
  return expansions;
}

/** A single pair is a word like any other; of several each is looked up apart. */
function expandPairs(pairs: readonly string[], index: WordIndex, open: boolean): Expansion[] {
  const [only] = pairs;
  if (only === undefined || pairs.length > 1) return [];
  return [{ ...(open ? index.beginningWith(only) : index.find(only)), fit: 1 }];
}

async function matchPairs(
  pairs: readonly string[],
  { segment, term, part, other }: SegmentSearch,
  minShare: number,
  slice: TimeSlice,
): Promise<void> {
  other.clear();
  for (const [number, pair] of pairs.entries()) {
    part.clear();
    for (const index of segment.indexes)
      await part.addWord(index, expandPairs([pair], index, pair.length === 1), slice);
    forEachBot(part, (bot) =>
      other.addPart(bot, (part.values[bot] ?? 0) / pairs.length, number === 0 ? (part.places[bot] ?? 0) : 0),
    );
  }
  forEachBot(other, (bot) => {
    if (other.parts(bot) / pairs.length >= minShare)
      term.add(bot, other.values[bot] ?? 0, other.places[bot] ?? 0);
  });
}

/** Finds "reaction roles" for "reactionroles", and "Dank Memer" for "dankmemer". */
async function matchHalves(
  text: string,
  { segment: { texts }, term, part, other }: SegmentSearch,
  slice: TimeSlice,
): Promise<void> {
  const [first, second] = findHalves(text, texts) ?? [];
  if (first === undefined || second === undefined) return;
  part.clear();
  other.clear();
  await part.addWord(texts, texts.formsOf(first, 1), slice);
  await other.addWord(texts, texts.formsOf(second, 1), slice);
  forEachBot(part, (bot) => {
    if (!other.has(bot) || !areNeighbours(part.places[bot] ?? 0, other.places[bot] ?? 0, 1)) return;
    const value = ((part.values[bot] ?? 0) + (other.values[bot] ?? 0)) / 2;
    term.add(bot, value * halvesFit, part.places[bot] ?? 0);
  });
}

/** Returns the two known words that a text is made of; of several such pairs the one whose rarer word is used most. */
function findHalves(text: string, index: WordIndex): [string, string] | undefined {
  let best: [string, string] | undefined;
  let bestCount = 0;
  for (let end = minHalfLength; end <= text.length - minHalfLength; end++) {
    const halves: [string, string] = [text.slice(0, end), text.slice(end)];
    const count = Math.min(...halves.map((half) => index.count(index.find(half))));
    if (count > bestCount) [best, bestCount] = [halves, count];
  }
  return best;
}

function forEachBot({ bots, size }: Matches, onBot: (bot: number) => void): void {
  for (let i = 0; i < size; i++) onBot(bots[i] ?? 0);
}

const openFit = 0.7;
const withinFit = 0.5;
const halvesFit = 0.95;
const minLengthWithin = 4;
const minHalfLength = 2;

/** The bots that one word of a query was found in, how well it fits each, and where in its texts it is. */
export class Matches {
  /** The bots' numbers; the first `size` count. */
  readonly bots: Uint32Array;
  size = 0;
  /** By the bot's number. */
  readonly values: Float32Array;
  readonly places: Uint32Array;
  /** The fields that were counted, as bits; or how many parts were. */
  readonly #fields: Uint8Array;

  /** @param bots how many bots there are */
  constructor(bots: number) {
    this.bots = new Uint32Array(bots);
    this.values = new Float32Array(bots);
    this.places = new Uint32Array(bots);
    this.#fields = new Uint8Array(bots);
  }

  has(bot: number): boolean {
    return this.#fields[bot] !== 0;
  }

  /** Forgets everything. */
  clear(): void {
    for (let i = 0; i < this.size; i++) {
      const bot = this.bots[i] ?? 0;
      this.values[bot] = 0;
      this.places[bot] = 0;
      this.#fields[bot] = 0;
    }
    this.size = 0;
  }

  /** Adds the expansions of one word; each field counts once a bot, by the expansion that fits best. */
  async addWord(index: WordIndex, expansions: readonly Expansion[], slice: TimeSlice): Promise<void> {
    for (const expansion of expansions.toSorted((a, b) => b.fit - a.fit)) {
      const postings = index.postings(expansion);
      for (let start = 0; start < postings.length; start += postingsPerCheck) {
        if (slice.isOver) await slice.next();
        this.#addPostings(postings.subarray(start, start + postingsPerCheck), expansion.fit);
      }
    }
  }

  /** Adds a bot with a value, where it has no higher one. */
  add(bot: number, value: number, places: number): void {
    if (this.#fields[bot] === 0) this.bots[this.size++] = bot;
    this.#fields[bot] = 1;
    this.values[bot] = Math.max(this.values[bot] ?? 0, value);
    this.places[bot] = (this.places[bot] ?? 0) | places;
  }

  /** Adds what a part of a term, or one term of a query, counts for a bot. */
  addPart(bot: number, value: number, places: number): void {
    if (this.#fields[bot] === 0) this.bots[this.size++] = bot;
    this.#fields[bot] = (this.#fields[bot] ?? 0) + 1;
    this.values[bot] = (this.values[bot] ?? 0) + value;
    this.places[bot] = (this.places[bot] ?? 0) | places;
  }

  /** Returns how many parts were added for a bot. */
  parts(bot: number): number {
    return this.#fields[bot] ?? 0;
  }

  #addPostings(postings: Uint32Array, fit: number): void {
    for (let i = 0; i < postings.length; i++) {
      const posting = postings[i] ?? 0;
      const bot = botOf(posting);
      const field = fieldOf(posting);
      const seen = this.#fields[bot] ?? 0;
      if (seen === 0) this.bots[this.size++] = bot;
      if (field !== Field.page) this.places[bot] = (this.places[bot] ?? 0) | placeBitOf(posting);
      if ((seen & (1 << field)) !== 0) continue;
      this.#fields[bot] = seen | (1 << field);
      const value = fit * (weights[field] ?? 0);
      const before = this.values[bot] ?? 0;
      this.values[bot] = Math.max(before, value) + Math.min(before, value) * furtherFields;
    }
  }
}

/** What a word counts in a name, a category, a description and a page. */
const weights = [5, 4, 3, 1];

/** What another field that has the word, too, counts of its weight. */
const furtherFields = 0.4;

/** Postings between two looks at the clock: tens of microseconds. */
const postingsPerCheck = 4096;
