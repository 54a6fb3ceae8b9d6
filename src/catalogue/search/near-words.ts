import type { TimeSlice } from '../../lib/time-slice.ts';
import { toCategoryWord } from './bot-words.ts';
import type { CategoryWords } from './category-words.ts';
import { computeDistance } from '../../lib/damerau.ts';
import type { WordIndex } from './word-index.ts';

/** A word that is spelled nearly like another, and how well it fits. */
interface Spelling {
  readonly word: string;
  readonly fit: number;
}

interface Candidate {
  readonly distance: number;
  readonly count: number;
  readonly isCategory: boolean;
}

/**
 * Returns the words that a misspelled one may mean, the likeliest first. Of equally near ones, names of categories that
 * bots are in come first, then words that more bots use, then the shorter ones, which are rather the base form.
 * @param most spelling errors that a word may have
 */
export async function findNearWords(
  text: string,
  indexes: readonly WordIndex[],
  maxDistance: number,
  slice: TimeSlice,
  words: CategoryWords,
): Promise<Spelling[]> {
  if (maxDistance === 0 || /^\d+$/.test(text)) return [];
  const found = new Map<string, Candidate>();
  for (const index of indexes) {
    const { vocabulary } = index;
    for (let from = 0; from < vocabulary.size; from += wordsPerCheck) {
      if (slice.isOver) await slice.next();
      const to = Math.min(vocabulary.size, from + wordsPerCheck);
      for (const { word: place, distance } of vocabulary.near(text, maxDistance, { from, to })) {
        const word = vocabulary.word(place);
        if (word.startsWith('#')) continue;
        const count = (found.get(word)?.count ?? 0) + index.count({ from: place, to: place + 1 });
        found.set(word, { distance, count, isCategory: false });
      }
    }
  }
  for (const [name, category] of words.names) {
    const distance = computeDistance(text, name, maxDistance);
    if (distance === 0 || distance > maxDistance) continue;
    const word = toCategoryWord(category);
    const inCategory = indexes.reduce((sum, index) => sum + index.count(index.vocabulary.find(word)), 0);
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

const maxSpellings = 3;
const nearFit = 0.8;
/** Words between two looks at the clock: about a millisecond. */
const wordsPerCheck = 65_536;
