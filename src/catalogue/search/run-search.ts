import type { BotId } from '../../bot/id.ts';
import { normalise } from '../../lib/text.ts';
import type { TimeSlice } from '../../lib/time-slice.ts';
import { toCategoryWord, toWholeNameWord } from './bot-words.ts';
import { findFollowed, mergePostings } from './postings.ts';
import { type NamedNeed, type Needs, readQuery, type Term } from './query.ts';
import type { IndexSegment, SegmentSearch } from './segment.ts';
import { findNearWords, type Expansion, type WordIndex } from './word-index.ts';
import type { Word } from './words.ts';

/**
 * Searches segments for the words of a text, in slices of time.
 * @param slice of the request: each new slice would wait for a turn of the event loop
 * @param use called with the result, which is valid until it resolves
 */
export async function runSearch<T>(
  segments: readonly IndexSegment[],
  text: string,
  slice: TimeSlice,
  needs: Needs,
  use: (found: Found) => Promise<T>,
): Promise<T> {
  const parts = segments.map((segment) => segment.startSearch());
  try {
    const reading = await new Search(parts, slice, needs).run(text);
    return await use({ parts, reading });
  } finally {
    for (const part of parts) part.segment.endSearch(part);
  }
}

/** The interpretation of a query's words. */
export interface QueryReading {
  /** The query with corrected words, which was searched; undefined if none was corrected. */
  readonly corrected: string | undefined;
  /** The query with similar words for those that no bot has, which was not searched; undefined without any. */
  readonly suggested: string | undefined;
  /** The words that no bot has. */
  readonly unmatched: readonly string[];
}

/** The result of a search. */
export interface Found {
  readonly parts: readonly SegmentSearch[];
  readonly reading: QueryReading;
}

/** Replaces a word, but no part of a longer one. */
function replaceWord(text: string, word: string, other: string): string {
  const pieces = text.split(/([\p{L}\p{M}\p{N}]+)/u);
  const index = pieces.indexOf(word);
  return index === -1 ? text : pieces.with(index, other).join('');
}

/** A running search. It searches each term in every segment before the next one. */
class Search {
  readonly #parts: readonly SegmentSearch[];
  readonly #slice: TimeSlice;
  readonly #needs: Needs;
  /** The number of current bots. */
  readonly #live: number;
  /** The weight of all terms so far, and the rarity of the rarest one, from 0 to 1. */
  #weight = 0;
  #rarity = 0;
  /** The weight of all terms so far, without rarity. */
  #ownWeight = 0;
  /** The matches of the current term, by index, and the places of the term before it. */
  #matches = new Map<WordIndex, Expansion[]>();
  #places = new Map<WordIndex, Uint32Array>();
  /** The number of terms added, and of those searched with other spellings. */
  #added = 0;
  #spelled = 0;

  constructor(parts: readonly SegmentSearch[], slice: TimeSlice, needs: Needs) {
    this.#parts = parts;
    this.#slice = slice;
    this.#needs = needs;
    this.#live = parts.reduce((sum, { segment }) => sum + segment.live, 0);
  }

  async run(text: string): Promise<QueryReading> {
    const { terms, name, isPhrase, ids } = readQuery(text, this.#needs);
    const typed = normalise(text.trim());
    let [corrected, suggested] = [typed, typed];
    const unmatched: string[] = [];
    for (const [i, term] of terms.entries()) {
      const { isFound, spelling = term.text } = await this.#addTerm(term);
      suggested = replaceWord(suggested, term.text, spelling);
      if (isFound) corrected = replaceWord(corrected, term.text, spelling);
      else unmatched.push(term.text);
      if (terms.length > 1) await this.#addPhrase(terms[i - 1], term);
    }
    if (name !== '') await this.#addName(name, isPhrase);
    this.#addIds(ids);
    const sums = { weight: this.#weight || 1, ownWeight: this.#ownWeight || 1 };
    for (const part of this.#parts) Object.assign(part, sums);
    return {
      corrected: corrected === typed ? undefined : corrected,
      suggested: suggested === corrected ? undefined : suggested,
      unmatched,
    };
  }

  /** The number of bots that match the current term. */
  get #count(): number {
    return this.#parts.reduce((sum, { count }) => sum + count, 0);
  }

  get #indexes(): WordIndex[] {
    return this.#parts.flatMap(({ segment }) => segment.indexes);
  }

  /**
   * Searches a term, and adds its weight. If no bot has it in any way, words are searched that differ in one letter, but
   * not in the first; then its parts.
   * @returns whether any bot has it, and the spelling that was found instead, or else may be meant
   */
  async #addTerm(term: Term): Promise<{ isFound: boolean; spelling?: string | undefined }> {
    this.#matches.clear();
    if (this.#added++ >= maxExpandedTerms) {
      await this.#match((index) => [{ postings: index.findWord(term), fit: 1 }]);
      return { isFound: this.#weigh(term.weight) };
    }
    await this.#match((index) => expandTerm(term, index, this.#needs));
    if (this.#weigh(term.weight)) return { isFound: true };
    const isSpelled = !term.unspaced && this.#spelled++ < maxSpelledTerms;
    const sameLetter = ['', '=', '#'].map((sign) => sign + term.text.charAt(0));
    // One letter changes most words of four into others: they are only offered.
    const isCorrected = isSpelled && term.text.length > 4;
    const indexes = isCorrected ? [...this.#indexes, this.#needs.index] : [];
    const similar = await findNearWords(term.text, indexes, sameLetter, 1, this.#slice);
    for (const word of similar) await this.#matchInstead(term, word, nearFit);
    if (this.#weigh(term.weight)) return { isFound: true, spelling: similar[0] };
    let isFound = false;
    const parts = this.#split(term);
    for (const part of parts) {
      await this.#matchInstead(term, part, 1);
      isFound = this.#weigh(term.weight / parts.length) || isFound;
    }
    if (isFound || !isSpelled) return { isFound };
    // A word that no bot has is the rarest: it may be part of a misspelled name.
    this.#rarity = 1;
    const [spelling] = await findNearWords(term.text, this.#indexes, [''], 2, this.#slice);
    return { isFound, spelling };
  }

  /** Adds the matches of a word to those of the current term. */
  async #matchInstead(term: Term, text: string, fit: number): Promise<void> {
    const needs = this.#needs.find([text]).get(text) ?? [];
    const other = { ...term, text, others: [], needs, lentNeeds: [] };
    await this.#match((index) => expandTerm(other, index, this.#needs, fit));
  }

  /** Splits a term that no bot has: into two words that bots have, or into its letters. */
  #split({ text, unspaced }: Term): string[] {
    if (unspaced) return Array.from(text);
    const indexes = [...this.#indexes, this.#needs.index];
    const isBeginning = (half: string): boolean =>
      half.length >= minPartLength && indexes.some((index) => index.findBeginning(half).length > 0);
    const isWord = (half: string): boolean =>
      isBeginning(half) && indexes.some((index) => index.find(half).length > 0);
    return listHalves(text, isWord).at(-1) ?? listHalves(text, isBeginning).at(-1) ?? [];
  }

  /** Adds the matches in every index to the current term. */
  async #match(expand: (index: WordIndex) => readonly Expansion[]): Promise<void> {
    for (const { segment, term } of this.#parts)
      for (const index of segment.indexes) {
        const expansions = expand(index);
        this.#matches.set(index, [...(this.#matches.get(index) ?? []), ...expansions]);
        await term.addExpansions(index, expansions, this.#slice);
      }
  }

  /** Adds the current term to the results. A term that few bots have weighs more. @returns whether any bot has it */
  #weigh(ownWeight: number): boolean {
    const count = this.#count;
    if (count === 0) return false;
    const rarity =
      Math.log1p((this.#live - count + 0.5) / (count + 0.5)) / Math.log1p((this.#live - 0.5) / 1.5);
    const weight = ownWeight * (minRarity + (1 - minRarity) * Math.min(1, rarity));
    this.#weight += weight;
    this.#ownWeight += ownWeight;
    this.#rarity = Math.max(this.#rarity, rarity);
    for (const part of this.#parts) part.addTerm(weight, ownWeight, termSaturation);
    return true;
  }

  /** Adds weight to bots in whose texts two neighbours of the query, or words with the same meaning, are near. */
  async #addPhrase(before: Term | undefined, term: Term): Promise<void> {
    const last = this.#places;
    this.#places = new Map(Array.from(this.#matches, ([index, found]) => [index, findPlaces(found)]));
    if (before === undefined) return;
    const maxDistance = term.place - before.place + 1;
    await this.#match((index) => {
      const [first, second] = [last.get(index), this.#places.get(index)];
      return first && second ? [{ postings: findFollowed(first, second, 1, maxDistance), fit: 1 }] : [];
    });
    const weight = phraseWeight * Math.max(before.weight, term.weight);
    for (const part of this.#parts) part.addTerm(weight, 0, termSaturation);
  }

  /** Adds weight to the bots with exactly this name: much if the name is rare or a phrase, little if it is a common word. */
  async #addName(name: string, isPhrase: boolean): Promise<void> {
    const word = toWholeNameWord(name);
    await this.#match((index) => [{ postings: index.find(word), fit: 1 }]);
    const indexes =
      this.#count === 0 && this.#weight > 0 && this.#rarity > minNameRarity ? this.#indexes : [];
    for (const near of await findNearWords(word.slice(1), indexes, [word.slice(0, 2)], 2, this.#slice))
      await this.#match((index) => [{ postings: index.find(toWholeNameWord(near)), fit: 1 }]);
    const value = this.#weight * (isPhrase ? 1 : this.#rarity ** 2);
    for (const part of this.#parts) part.addTerm(value, this.#ownWeight, 0);
  }

  #addIds(ids: readonly string[]): void {
    for (const id of ids)
      for (const { segment, found, covered, coveredByTexts } of this.#parts) {
        const bot = segment.numberOf(id as BotId);
        if (bot === undefined) continue;
        found.add(bot, idScore);
        covered[bot] = coveredByTexts[bot] = this.#ownWeight;
      }
  }
}

/** Finds the matches of a term in an index: as typed, in another form, joined or split, or words with the same meaning. */
function expandTerm(term: Term, index: WordIndex, needs: Needs, fit = 1): Expansion[] {
  const expansions = expandWord(term, index, fit);
  if (!term.unspaced) expansions.push(...expandHalves(term.text, index, needs, fit * joinedFit));
  for (const text of term.others)
    expansions.push(...expandWord({ text, unspaced: false }, index, fit * joinedFit));
  for (const text of term.unspaced ? [] : [term.text, ...term.others])
    if (text.length >= minBeginningLength)
      for (const beginning of [text, toWholeNameWord(text)])
        expansions.push({ postings: index.findBeginning(beginning), fit: fit * prefixFit });
  expansions.push(...expandNeeds(term.text, term.needs, index, fit));
  expansions.push(...expandNeeds(term.text, term.lentNeeds, index, fit * lentFit));
  return expansions;
}

/** Finds the words with the same meaning as a word, each once, and the bots of its category. */
function expandNeeds(own: string, needs: readonly NamedNeed[], index: WordIndex, fit: number): Expansion[] {
  const fits = new Map<string, { readonly unspaced: boolean; readonly fit: number }>();
  for (const { category, locale, words } of needs) {
    if (category !== undefined) fits.set(toCategoryWord(category), { unspaced: false, fit: categoryFit });
    for (const { text, unspaced, locales } of words.values()) {
      const wordFit = locales.has(locale) ? needFit : foreignFit;
      if (text !== own && wordFit > (fits.get(text)?.fit ?? 0)) fits.set(text, { unspaced, fit: wordFit });
    }
  }
  return Array.from(fits, ([text, { unspaced, fit: wordFit }]) => {
    return { postings: index.findWord({ text, unspaced }), fit: fit * wordFit };
  });
}

/** Finds a word in any form. */
function expandWord(word: Word, index: WordIndex, fit: number): Expansion[] {
  return word.unspaced ? [{ postings: index.findWord(word), fit }] : index.formsOf(word.text, fit);
}

/** Finds the two words that a text consists of, or words with the same meaning: "member list" for "userlist". */
function expandHalves(text: string, index: WordIndex, needs: Needs, fit: number): Expansion[] {
  const find = (half: string): Uint32Array =>
    findPlaces([
      ...index.formsOf(half, 1),
      ...expandNeeds(half, needs.find([half]).get(half) ?? [], index, 1),
    ]);
  return listHalves(text, (half) => index.find(half).length > 0).map(([first, second]) => {
    return { postings: findFollowed(find(first), find(second), 1), fit };
  });
}

/** Returns the postings of the matches that fit well, in ascending order: the places of a term in a phrase. */
function findPlaces(expansions: readonly Expansion[]): Uint32Array {
  let lists = expansions.flatMap(({ postings, fit }) => (fit < minFitInPhrase ? [] : [postings]));
  while (lists.length > 1)
    lists = lists.flatMap((list, i) =>
      i % 2 === 0 ? [mergePostings(list, lists[i + 1] ?? noPostings)] : [],
    );
  return lists[0] ?? noPostings;
}

const noPostings = new Uint32Array();

/** Returns every way to split a text into two known words. */
function listHalves(text: string, isKnown: (half: string) => boolean): [first: string, second: string][] {
  const halves: [string, string][] = [];
  for (let end = 1; end < text.length; end++) {
    const [first, second] = [text.slice(0, end), text.slice(end)];
    if (isKnown(first) && isKnown(second)) halves.push([first, second]);
  }
  return halves;
}

const joinedFit = 0.9;
const categoryFit = 0.7;
const needFit = 0.75;
/** Weight of a need that a term names only together with a neighbour. */
const lentFit = 0.65;
/** Weight of a word with the same meaning in another language. */
const foreignFit = 0.25;
const prefixFit = 0.3;
/** Words of other languages, longer words and those of lent needs fit less, and are not part of a phrase. */
const minFitInPhrase = 0.5;
/** Shorter beginnings are not searched. */
const minBeginningLength = 4;
const idScore = 1000;
/** A query whose rarest word is rarer may be a misspelled name. */
const minNameRarity = 0.8;
/** Weight that a neighbour in the text adds. */
const phraseWeight = 2;
/** Minimum weight of a term, for one that all bots have. */
const minRarity = 0.2;
/** Above this value, more matches of a term add little: k1 of BM25F. */
const termSaturation = 1.5;
/** Later terms are searched only as typed, because each other form, half and beginning takes time. */
const maxExpandedTerms = 8;
/** Each takes a pass over the catalogue's words with the same first letter, and then over all words. */
const maxSpelledTerms = 6;
/** Of the two words that an unknown one is split into. */
const minPartLength = 3;
const nearFit = 0.8;
