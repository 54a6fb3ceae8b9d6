import type { TimeSlice } from '../../lib/time-slice.ts';
import { toCategoryWord, toWholeNameWord } from './bot-words.ts';
import { botOf, Field, fieldOf, findFollowed, mergePostings, shareOfOne } from './postings.ts';
import type { NamedNeed, Needs, Term } from './query.ts';
import type { Expansion, WordIndex } from './word-index.ts';
import type { Word } from './words.ts';

/** Finds the matches of a term in an index: as typed, in another form, joined or split, or words with the same meaning. */
export function expandTerm(term: Term, index: WordIndex, needs: Needs, fit = 1): Expansion[] {
  const expansions = expandWord(term, index, fit);
  if (!term.unspaced) expansions.push(...expandHalves(term.text, index, needs, fit * joinedFit));
  for (const text of term.others)
    expansions.push(...expandWord({ text, unspaced: false }, index, fit * joinedFit));
  for (const text of term.unspaced ? [] : [term.text, ...term.others])
    if (text.length >= minPrefixLength)
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
function expandWord(word: Word, index: WordIndex, fit = 1): Expansion[] {
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
export function findPlaces(expansions: readonly Expansion[]): Uint32Array {
  let lists = expansions.flatMap(({ postings, fit }) => (fit < minFitInPhrase ? [] : [postings]));
  while (lists.length > 1)
    lists = lists.flatMap((list, i) =>
      i % 2 === 0 ? [mergePostings(list, lists[i + 1] ?? noPostings)] : [],
    );
  return lists[0] ?? noPostings;
}

const noPostings = new Uint32Array();

/** Returns every way to split a text into two known words. */
export function listHalves(
  text: string,
  isKnown: (half: string) => boolean,
): [first: string, second: string][] {
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
const minPrefixLength = 4;

/** The weights of bots by number: for one term of a query, or for all. */
export class Sums {
  /** The bots with a weight; only the first `size` entries are set. */
  readonly bots: Uint32Array;
  size = 0;
  readonly values: Float32Array;
  /** By the bot's number: 1 for a match in the name, the category or the description. */
  readonly inTexts: Uint8Array;
  /** The weights in pages and commands. All together they count less than a description of usual length. */
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
