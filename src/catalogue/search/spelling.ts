import { computeDistance } from '../../lib/damerau.ts';
import type { TimeSlice } from '../../lib/time-slice.ts';
import { toCategoryWord } from './bot-words.ts';
import type { CategoryWords } from './category-words.ts';
import type { OtherWord, Term } from './query.ts';
import type { WordIndex } from './word-index.ts';

/** Returns how many spelling errors a word may have: one in five letters, two in eight; and at most. */
export function countAllowedErrors({ length }: string): [usual: number, more: number] {
  return [length >= 8 ? 2 : length >= 5 ? 1 : 0, Math.min(3, Math.floor(length / 3))];
}

interface Candidate {
  readonly distance: number;
  readonly count: number;
  readonly isCategory: boolean;
}

/**
 * Returns the words that a misspelled one may mean, the likeliest first. Of equally near ones, names of categories that
 * bots are in come first, then words that more bots use, then the shorter ones, which are rather the base form.
 * @param maxDistance spelling errors that a word may have
 */
export async function findNearWords(
  text: string,
  indexes: readonly WordIndex[],
  maxDistance: number,
  slice: TimeSlice,
  words: CategoryWords,
): Promise<OtherWord[]> {
  if (maxDistance === 0 || /^\d+$/.test(text)) return [];
  const found = new Map<string, Candidate>();
  for (const index of indexes) {
    for (let from = 0; from < index.size; from += wordsPerCheck) {
      if (slice.isOver) await slice.next();
      const range = { from, to: Math.min(index.size, from + wordsPerCheck) };
      index.forEachNear(text, maxDistance, range, (place, distance) => {
        const word = index.word(place);
        if (word.startsWith('#')) return;
        const count = (found.get(word)?.count ?? 0) + index.count({ from: place, to: place + 1 });
        found.set(word, { distance, count, isCategory: false });
      });
    }
  }
  for (const [name, category] of words.names) {
    const distance = computeDistance(text, name, maxDistance);
    if (distance === 0 || distance > maxDistance) continue;
    const word = toCategoryWord(category);
    const inCategory = indexes.reduce((sum, index) => sum + index.count(index.find(word)), 0);
    const count = (found.get(name)?.count ?? 0) + inCategory;
    if (inCategory > 0) found.set(name, { distance, count, isCategory: true });
  }
  const sorted = [...found].toSorted(
    ([a, { distance, count, isCategory }], [b, other]) =>
      distance - other.distance ||
      Number(hasSameStart(b, text)) - Number(hasSameStart(a, text)) ||
      Number(other.isCategory) - Number(isCategory) ||
      other.count - count ||
      (isCategory ? 0 : a.length - b.length),
  );
  const nearest = sorted[0]?.[1].distance;
  return sorted
    .filter(([, { distance }]) => distance === nearest)
    .slice(0, maxSpellings)
    .map(([word, { distance }], i) => ({ word, fit: (nearFit - i * 0.1) / distance }));
}

function hasSameStart(word: string, text: string): boolean {
  return word.replace(/^=/, '')[0] === text[0];
}

/**
 * Returns what to look for where nothing has a term, nor is spelled nearly like it: its letters, its parts, words of
 * its family.
 */
export function relaxTerm(term: Term, indexes: readonly WordIndex[]): Term {
  const { text, pairs } = term;
  if (pairs.length > 0) return { ...term, pairs: Array.from(text) };
  const others = [...term.others, ...findKnownParts(text, indexes).map((word) => ({ word, fit: partFit }))];
  // "музыкальный" and "музыка" have no stem in common.
  const family = text.length < minLongWordLength ? text : text.slice(0, Math.floor(text.length / 2));
  return { ...term, text: family, open: term.open || family !== text, others };
}

/** Returns the longest beginning and the longest end of a joined word that words begin with: "role" of "autorole". */
function findKnownParts(text: string, indexes: readonly WordIndex[]): string[] {
  const findKnown = (cut: (length: number) => string): string[] => {
    for (let length = text.length - minRestLength; length >= minPartLength; length--)
      if (indexes.some((index) => index.knows(cut(length), true))) return [cut(length)];
    return [];
  };
  return [...findKnown((length) => text.slice(0, length)), ...findKnown((length) => text.slice(-length))];
}

const maxSpellings = 3;
const nearFit = 0.8;
/** Words between two looks at the clock: about a millisecond. */
const wordsPerCheck = 65_536;
const minLongWordLength = 8;
const minPartLength = 4;
const minRestLength = 2;
const partFit = 0.5;
