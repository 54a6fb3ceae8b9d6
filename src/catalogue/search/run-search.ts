import type { BotId } from '../../bot/id.ts';
import type { TimeSlice } from '../../lib/time-slice.ts';
import type { IndexedBot } from '../store/bot-index.ts';
import { toWholeNameWord } from './bot-words.ts';
import { expandTerm, expandWord, listHalves } from './match-term.ts';
import { findFollowed } from './postings.ts';
import { type Needs, readQuery, type Term } from './query.ts';
import type { IndexSegment, SegmentSearch } from './segment.ts';
import { findNearWords, type Expansion, type WordIndex } from './word-index.ts';
import { normalise } from '../../lib/text.ts';

/**
 * Searches segments for the words of a text, never holding the event loop for long.
 * @param slice of the request: each new one would wait for a turn of the event loop
 */
export async function runSearch(
  segments: readonly IndexSegment[],
  text: string,
  slice: TimeSlice,
  needs: Needs,
): Promise<Found> {
  const parts = segments.map((segment) => segment.startSearch());
  try {
    return await new Search(parts, slice, needs).run(text);
  } finally {
    for (const part of parts) part.segment.endSearch(part);
  }
}

/** How the words of a query were read. */
export interface QueryReading {
  /** What was searched for instead, where a word is in no bot and others are spelled nearly like it. */
  readonly corrected: string | undefined;
  /** The words that no bot has. */
  readonly unmatched: readonly string[];
}

/** The result of a search. A bot is a place in these arrays until it is needed, because most are only counted. */
export class Found {
  readonly reading: QueryReading;
  /** How many bots were found. */
  readonly size: number;
  /** How well each of the bots fits, above 0; a bot that has all words well has less than 1. */
  readonly scores: Float32Array;
  /** What part of the query each of the bots has, by how much its words tell. */
  readonly coverage: Float32Array;
  /** What each of the bots is: its place in `allKinds`. */
  readonly kinds: Uint16Array;
  /** Each bot's number in its segment. */
  readonly #numbers: Uint32Array;
  readonly #segments: readonly { readonly segment: IndexSegment; readonly end: number }[];

  /**
   * Joins the results of the segments. A bot that has only some of the terms scores less.
   * @param weight of all terms
   */
  constructor(parts: readonly SegmentSearch[], weight: number, ownWeight: number, reading: QueryReading) {
    this.reading = reading;
    const maxFound = parts.reduce((sum, { found }) => sum + found.size, 0);
    this.#numbers = new Uint32Array(maxFound);
    this.scores = new Float32Array(maxFound);
    this.coverage = new Float32Array(maxFound);
    this.kinds = new Uint16Array(maxFound);
    let size = 0;
    this.#segments = parts.map(({ segment, found, covered }) => {
      for (let i = 0; i < found.size; i++) {
        const number = found.bots[i] ?? 0;
        if (segment.bot(number) === undefined) continue;
        const coverage = Math.min(1, (covered[number] ?? 0) / ownWeight);
        const score = (found.values[number] ?? 0) / weight;
        this.#numbers[size] = number;
        this.kinds[size] = segment.kind(number);
        this.coverage[size] = coverage;
        this.scores[size++] = score * (minCoverageFactor + (1 - minCoverageFactor) * coverage);
      }
      return { segment, end: size };
    });
    this.size = size;
  }

  /** Returns a bot by its place; undefined if it has changed since the search. */
  bot(place: number): IndexedBot | undefined {
    const part = this.#segments.find(({ end }) => place < end);
    return part?.segment.bot(this.#numbers[place] ?? 0);
  }
}

/** One search while it runs: term by term, each in every segment. */
class Search {
  readonly #parts: readonly SegmentSearch[];
  readonly #slice: TimeSlice;
  readonly #needs: Needs;
  /** How many bots there are. */
  readonly #live: number;
  /** The weight of all terms so far, and how rare the rarest is, from 0 to 1. */
  #weight = 0;
  #rarity = 0;
  /** The weight of all terms, however rare. */
  #ownWeight = 0;
  /** How many terms were added, and of how many other spellings were looked for. */
  #added = 0;
  #spelled = 0;

  constructor(parts: readonly SegmentSearch[], slice: TimeSlice, needs: Needs) {
    this.#parts = parts;
    this.#slice = slice;
    this.#needs = needs;
    this.#live = parts.reduce((sum, { segment }) => sum + segment.live, 0);
  }

  async run(text: string): Promise<Found> {
    const { terms, name, isPhrase, ids } = readQuery(text, this.#needs);
    const typed = normalise(text.trim());
    let corrected = typed;
    const unmatched: string[] = [];
    for (const [i, term] of terms.entries()) {
      const spelling = await this.#addTerm(term, terms.length === 1);
      if (spelling) corrected = corrected.replace(term.text, spelling);
      if (spelling === null) unmatched.push(term.text);
      const before = terms[i - 1];
      if (before) await this.#addPhrase(before, term);
    }
    if (name !== '') await this.#addName(name, isPhrase);
    this.#addIds(ids);
    const reading = { corrected: corrected === typed ? undefined : corrected, unmatched };
    return new Found(this.#parts, this.#weight || 1, this.#ownWeight || 1, reading);
  }

  /** How many bots have the term that was just found. */
  get #count(): number {
    return this.#parts.reduce((sum, { count }) => sum + count, 0);
  }

  get #indexes(): WordIndex[] {
    return this.#parts.flatMap(({ segment }) => segment.indexes);
  }

  /**
   * Finds a term, and adds its weight. If hardly any bot has it, other spellings are searched for, and if none is
   * found, its parts.
   * @returns another spelling that was searched for in its place; null if nothing was found
   */
  async #addTerm(term: Term, isOnly: boolean): Promise<string | null | undefined> {
    if (this.#added++ >= maxExpandedTerms) {
      await this.#match((index) => [{ postings: index.findWord(term), fit: 1 }]);
      return this.#weigh(term.weight) ? undefined : null;
    }
    await this.#match((index) => expandTerm(term, index));
    const spelling =
      this.#count < minMatches && !term.unspaced ? await this.#matchSimilar(term, isOnly) : undefined;
    const count = this.#count;
    let isFound = this.#weigh(term.weight);
    if (isFound && (count >= minMatches || term.unspaced || spelling !== undefined)) return spelling;
    const texts = this.#split(term);
    for (const text of texts) {
      await this.#match((index) => expandWord({ ...term, text }, index));
      isFound = this.#weigh(term.weight / texts.length) || isFound;
    }
    return isFound ? undefined : null;
  }

  /**
   * Finds words that are spelled nearly like a term.
   * @returns that spelling, where no bot has the term
   */
  async #matchSimilar({ text, weight }: Term, isOnly: boolean): Promise<string | undefined> {
    const count = this.#count;
    if (this.#spelled++ >= maxSpelledTerms) return undefined;
    const fit = count === 0 ? nearFit : besidesFit;
    for (const errors of count === 0 && isOnly ? [1, 2] : [1]) {
      if (text.length < errors * 2 + 2) continue;
      const near = await findNearWords(text, [...this.#indexes, this.#needs.index], errors, this.#slice);
      for (const word of near) {
        const needs = this.#needs.find([word]).get(word) ?? [];
        const other = { text: word, unspaced: false, others: [], needs, place: 0, weight };
        await this.#match((index) => expandTerm(other, index, fit));
      }
      if (this.#count > count) return count === 0 ? near[0] : undefined;
    }
    return undefined;
  }

  /** Returns what a term is made of that no bot has: two words that bots have, or its letters. */
  #split({ text, unspaced }: Term): string[] {
    if (unspaced) return Array.from(text);
    const isBeginning = (half: string): boolean =>
      half.length >= minPrefixLength && this.#indexes.some((index) => index.findBeginning(half).length > 0);
    const isWord = (half: string): boolean =>
      isBeginning(half) && this.#indexes.some((index) => index.find(half).length > 0);
    return listHalves(text, isWord).at(-1) ?? listHalves(text, isBeginning).at(-1) ?? [];
  }

  /** Adds the words of every index to what its bots count for the term. */
  async #match(expand: (index: WordIndex) => readonly Expansion[]): Promise<void> {
    for (const { segment, term } of this.#parts)
      for (const index of segment.indexes) await term.addExpansions(index, expand(index), this.#slice);
  }

  /**
   * Adds what the term that was just found counts. A term that few bots have tells more.
   * @returns whether any bot has it
   */
  #weigh(ownWeight: number): boolean {
    const count = this.#count;
    if (count === 0) return false;
    const rarity =
      Math.log1p((this.#live - count + 0.5) / (count + 0.5)) / Math.log1p((this.#live - 0.5) / 1.5);
    const weight = ownWeight * (minRarity + (1 - minRarity) * Math.min(1, rarity));
    this.#weight += weight;
    this.#ownWeight += ownWeight;
    this.#rarity = Math.max(this.#rarity, rarity);
    for (const part of this.#parts)
      part.addTerm((value) => (weight * value) / (value + termSaturation), ownWeight);
    return true;
  }

  /** Adds what two neighbours of the query count where they are neighbours in a text, too. */
  async #addPhrase(before: Term, term: Term): Promise<void> {
    const distance = term.place - before.place;
    await this.#match((index) => [
      { postings: findFollowed(index.findWord(before), index.findWord(term), distance), fit: 1 },
    ]);
    const weight = phraseWeight * Math.min(before.weight, term.weight);
    for (const part of this.#parts) part.addTerm((value) => (weight * value) / (value + termSaturation), 0);
  }

  /** Adds what a whole name counts: much where it tells one bot from all others, little where it is one common word. */
  async #addName(name: string, isPhrase: boolean): Promise<void> {
    const word = toWholeNameWord(name);
    await this.#match((index) => [{ postings: index.find(word), fit: 1 }]);
    const value = this.#weight * nameScore * (isPhrase ? 1 : this.#rarity ** 2);
    for (const part of this.#parts) part.addTerm(() => value, this.#ownWeight);
  }

  #addIds(ids: readonly string[]): void {
    for (const id of ids)
      for (const { segment, found, covered } of this.#parts) {
        const bot = segment.numberOf(id as BotId);
        if (bot === undefined) continue;
        found.add(bot, idScore);
        covered[bot] = this.#ownWeight;
      }
  }
}

const minCoverageFactor = 0.25;
const idScore = 1000;
const nameScore = 1;
/** Weight that a neighbour in the text adds. */
const phraseWeight = 0.4;
/** Minimum weight of a term: that of one that all bots have. */
const minRarity = 0.2;
/** Above this value, more of a term adds little: the k1 of BM25F. */
const termSaturation = 1.5;
/** A term that fewer bots have is searched for with other spellings, too. */
const minMatches = 3;
/** Terms behind these are found as they are typed, because each other form, half and beginning is work. */
const maxExpandedTerms = 8;
/** For each, words of the catalogue are looked at that begin or end as it does; for the only term, then all of them. */
const maxSpelledTerms = 6;
const minPrefixLength = 3;
const nearFit = 0.8;
/** Weight of a corrected spelling when the typed spelling also occurs. */
const besidesFit = 0.3;
