import { botOf, Field, fieldOf, placeBitOf } from './postings.ts';
import type { Expansion, WordIndex } from './word-index.ts';
import type { TimeSlice } from '../../lib/time-slice.ts';

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
      const end = index.end(expansion);
      for (let start = index.start(expansion); start < end; start += postingsPerCheck) {
        if (slice.isOver) await slice.next();
        this.#addPostings(index.postings, start, Math.min(end, start + postingsPerCheck), expansion.fit);
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

  #addPostings(postings: Uint32Array, start: number, end: number, fit: number): void {
    for (let i = start; i < end; i++) {
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
