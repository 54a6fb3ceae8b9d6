import { toCategoryWord, toWholeNameWord } from './bot-words.ts';
import { findFollowed, mergePostings } from './postings.ts';
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
