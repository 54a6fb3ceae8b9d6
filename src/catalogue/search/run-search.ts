import type { BotId } from '../../bot/id.ts';
import type { TimeSlice } from '../../lib/time-slice.ts';
import type { IndexedBot } from '../store/bot-index.ts';
import { toWholeNameWord } from './bot-words.ts';
import type { CategoryWords } from './category-words.ts';
import { areNeighbours, matchTerm, type Tolerance } from './match-term.ts';
import { normalise } from './normalise.ts';
import { type Query, readQuery, type Term } from './query.ts';
import type { IndexSegment, SegmentSearch } from './segment.ts';
import type { WordRange } from './word-index.ts';
import { countAllowedErrors, findNearWords, relaxTerm } from './spelling.ts';

/**
 * Searches segments for the words of a text, never holding the event loop for long.
 * @param slice of the request: each new one would wait for a turn of the event loop
 * @param words the names of categories
 * @param relaxed whether to find the nearest there is, for when nothing fits
 */
export async function runSearch(
  segments: readonly IndexSegment[],
  text: string,
  slice: TimeSlice,
  words: CategoryWords,
  relaxed: boolean,
): Promise<Found> {
  const parts = segments.map((segment) => segment.startSearch());
  try {
    return await new Search(parts, slice, words, relaxed).run(text);
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

/** What a search found. A bot is known by its place here until it is needed: most are only counted. */
export class Found {
  readonly reading: QueryReading;
  /** How many bots were found. */
  readonly size: number;
  /** How well each of the bots fits, above 0. */
  readonly scores: Float32Array;
  /** What each of the bots is: its place in `allKinds`. */
  readonly kinds: Uint16Array;
  /** Each bot's number in its segment. */
  readonly #numbers: Uint32Array;
  readonly #segments: readonly { readonly segment: IndexSegment; readonly end: number }[];

  /**
   * Puts together what the parts of a search have. A bot that has only some of the terms scores less.
   * @param weight of all terms
   */
  constructor(parts: readonly SegmentSearch[], weight: number, reading: QueryReading) {
    this.reading = reading;
    const maxFound = parts.reduce((sum, { found, names }) => sum + found.size + names.size, 0);
    const numbers = new Uint32Array(maxFound);
    const scores = new Float32Array(maxFound);
    const kinds = new Uint16Array(maxFound);
    let size = 0;
    this.#segments = parts.map(({ segment, found, names, covered }) => {
      for (const matches of [found, names]) {
        for (let i = 0; i < matches.size; i++) {
          const number = matches.bots[i] ?? 0;
          if ((matches === names && found.has(number)) || segment.bot(number) === undefined) continue;
          const coverage = weight === 0 ? 0 : (covered[number] ?? 0) / weight;
          numbers[size] = number;
          kinds[size] = segment.kind(number);
          scores[size++] =
            (found.values[number] ?? 0) * (minCoverageWeight + (1 - minCoverageWeight) * coverage) +
            (names.values[number] ?? 0);
        }
      }
      return { segment, end: size };
    });
    this.size = size;
    this.#numbers = numbers;
    this.scores = scores.subarray(0, size);
    this.kinds = kinds;
  }

  /** Returns a bot by its place; undefined where it has changed since the search. */
  bot(place: number): IndexedBot | undefined {
    const part = this.#segments.find(({ end }) => place < end);
    return part?.segment.bot(this.#numbers[place] ?? 0);
  }

  /** Every bot that was found, in no order. */
  get bots(): IndexedBot[] {
    return Array.from(this.scores, (_score, place) => this.bot(place)).filter((bot) => bot !== undefined);
  }
}

/** One search while it runs: term by term, each in every segment. */
class Search {
  readonly #parts: readonly SegmentSearch[];
  readonly #slice: TimeSlice;
  readonly #words: CategoryWords;
  readonly #relaxed: boolean;
  /** How many terms other spellings were looked for of. */
  #spelled = 0;

  constructor(parts: readonly SegmentSearch[], slice: TimeSlice, words: CategoryWords, relaxed: boolean) {
    this.#parts = parts;
    this.#slice = slice;
    this.#words = words;
    this.#relaxed = relaxed;
  }

  async run(text: string): Promise<Found> {
    const query = readQuery(text, this.#words);
    for (const part of this.#parts) await this.#addNames(query, part);
    const typed = normalise(text.trim());
    let corrected = typed;
    let weight = 0;
    const unmatched: string[] = [];
    let before: Term | undefined;
    for (const term of query.terms) {
      const spelling = await this.#findTerm(term, query.terms.length === 1);
      if (spelling !== undefined) corrected = corrected.replace(term.text, spelling);
      if (this.#count === 0) unmatched.push(term.text);
      weight += this.#addTerm(before && term.place - before.place);
      before = term;
    }
    const reading = { corrected: corrected === typed ? undefined : corrected, unmatched };
    return new Found(this.#parts, weight, reading);
  }

  /** How many bots have the term that was just found. */
  get #count(): number {
    return this.#parts.reduce((sum, { count }) => sum + count, 0);
  }

  /** Adds what bots of a whole name, of a name that begins with the query, and of an id score. */
  async #addNames(query: Query, { segment, part, names }: SegmentSearch): Promise<void> {
    const add = async (range: WordRange, score: number): Promise<void> => {
      part.clear();
      await part.addWord(segment.texts, [{ ...range, fit: 1 }], this.#slice);
      for (let i = 0; i < part.size; i++) names.add(part.bots[i] ?? 0, score, 0);
    };
    for (const id of query.ids) {
      const bot = segment.numberOf(id as BotId);
      if (bot !== undefined) names.add(bot, idScore, 0);
    }
    for (const name of query.names) {
      const word = toWholeNameWord(name);
      await add(segment.texts.find(word), nameScore);
      if (name.length >= minPrefixLength) await add(segment.texts.beginningWith(word), beginningScore);
    }
  }

  /**
   * Finds a term in every part; where hardly any bot has it, also what is spelled nearly like it.
   * @param isOnly whether the query has no other term: then nothing else would be found
   * @returns that spelling, where no bot has the term
   */
  async #findTerm(term: Term, isOnly: boolean): Promise<string | undefined> {
    const pairs = this.#relaxed ? 0 : minPairShare;
    if ((await this.#match(term, { within: false, pairs })) >= minMatches) return undefined;
    if (this.#spelled++ >= maxSpelledTerms) return undefined;
    const tolerance = { within: true, pairs };
    const count = await this.#match(term, tolerance);
    if (count >= minMatches) return undefined;
    const indexes = this.#parts.map(({ segment }) => segment.texts);
    const findNear = (maxDistance: number): ReturnType<typeof findNearWords> =>
      findNearWords(term.text, indexes, maxDistance, this.#slice, this.#words);
    const [usual, more] = countAllowedErrors(term.text);
    let near = await findNear(this.#relaxed ? more : usual);
    if (near.length === 0 && count === 0 && isOnly && term.text.length >= minLengthForTwoErrors)
      near = await findNear(Math.min(more, 2));
    const [best] = near;
    if (best === undefined) {
      if (count === 0) await this.#match(relaxTerm(term, indexes), tolerance);
      return undefined;
    }
    const known = indexes.some((index) => index.knows(term.text, term.open));
    const others = near.map(({ word, fit }) => ({ word, fit: fit * (known ? besidesFit : 1) }));
    const category = term.category ?? (known ? undefined : this.#words.of(best.word));
    await this.#match({ ...term, others: [...term.others, ...others], category }, tolerance);
    return known || count > 0 ? undefined : best.word.replace(/^=/, '');
  }

  async #match(term: Term, tolerance: Tolerance): Promise<number> {
    for (const part of this.#parts) await matchTerm(term, part, tolerance, this.#slice);
    return this.#count;
  }

  /**
   * Adds what the term that was just found counts. A term that few bots have tells more.
   * @param distance places between it and the term before, undefined where it is the first
   * @returns the weight of the term
   */
  #addTerm(distance: number | undefined): number {
    const all = this.#parts.reduce((sum, { segment }) => sum + segment.live, 0);
    const count = this.#count;
    const weight =
      count === 0
        ? rarityWeight
        : 1 - rarityWeight + (rarityWeight * Math.log1p(all / count)) / Math.log1p(all);
    for (const part of this.#parts) {
      const { term, previous, found, covered } = part;
      for (let i = 0; i < term.size; i++) {
        const bot = term.bots[i] ?? 0;
        const isPhrase =
          distance !== undefined &&
          previous.has(bot) &&
          areNeighbours(previous.places[bot] ?? 0, term.places[bot] ?? 0, distance);
        found.addPart(bot, ((term.values[bot] ?? 0) + (isPhrase ? phraseScore : 0)) * weight, 0);
        covered[bot] = (covered[bot] ?? 0) + weight;
      }
      [part.term, part.previous] = [previous, term];
    }
    return weight;
  }
}

const minCoverageWeight = 0.2;
const idScore = 1000;
const nameScore = 8;
const beginningScore = 2;
const minPrefixLength = 3;
const phraseScore = 1.5;
/** What a term loses by being in every bot, at most. */
const rarityWeight = 0.65;
/** A term that fewer bots have is searched for with other spellings, too. */
const minMatches = 3;
/** For each, every word of the catalogue is looked at. */
const maxSpelledTerms = 6;
/** The share of a term's pairs of letters that a bot must have. */
const minPairShare = 0.6;
/** What another spelling counts where some bot has the term as it is spelled. */
const besidesFit = 0.3;
const minLengthForTwoErrors = 7;
