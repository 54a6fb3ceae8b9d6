import type { TimeSlice } from '../../lib/time-slice.ts';
import type { WordIndex } from './word-index.ts';

/**
 * Returns the words that a misspelled one may mean, the likeliest first: of equally near ones those that more bots use
 * come first.
 * @param maxDistance spelling errors that a word may have
 */
export async function findNearWords(
  text: string,
  indexes: readonly WordIndex[],
  maxDistance: number,
  slice: TimeSlice,
): Promise<string[]> {
  if (/^\d+$/.test(text)) return [];
  const found = new Map<string, { readonly distance: number; readonly count: number }>();
  for (const index of indexes)
    await index.forEachNear(text, maxDistance, slice, (word, distance, count) => {
      found.set(word, { distance, count: (found.get(word)?.count ?? 0) + count });
    });
  const nearest = Math.min(...Array.from(found.values(), ({ distance }) => distance));
  return [...found]
    .filter(([, { distance }]) => distance === nearest)
    .toSorted(([, a], [, b]) => b.count - a.count)
    .slice(0, maxSpellings)
    .map(([word]) => word);
}

const maxSpellings = 3;
