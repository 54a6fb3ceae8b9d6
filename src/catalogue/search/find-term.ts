import type { TimeSlice } from '../../lib/time-slice.ts';
import { matchTerm, type Tolerance } from './match-term.ts';
import { findNearWords } from './near-words.ts';
import type { Term } from './query.ts';
import type { SearchMemory, IndexSegment } from './segment.ts';
import type { CategoryWords } from './category-words.ts';
import type { WordIndex } from './word-index.ts';

/** A segment, and what this search keeps of its bots. */
export interface SearchPart {
  readonly segment: IndexSegment;
  readonly memory: SearchMemory;
}

/**
 * Finds a term in every part; where hardly any bot has it, also what is spelled nearly like it.
 * @param relaxed whether to find the nearest there is
 * @param isOnly whether the query has no other term: then nothing else would be found
 * @param spelled the terms of the query that other spellings were looked for of, `maxSpelledTerms` at most
 * @returns that spelling, where no bot has the term
 */
export async function findTerm(
  term: Term,
  parts: readonly SearchPart[],
  { relaxed, isOnly, spelled }: FindOptions,
  slice: TimeSlice,
  words: CategoryWords,
): Promise<string | undefined> {
  const match = async (term: Term, tolerance: Tolerance): Promise<number> => {
    for (const { segment, memory } of parts) await matchTerm(term, segment, memory, tolerance, slice);
    return countTerm(parts);
  };
  const least = relaxed ? 0 : minPairShare;
  if ((await match(term, { within: false, pairs: least })) >= minMatches) return undefined;
  if (spelled.size === maxSpelledTerms) return undefined;
  spelled.add(term);
  const tolerance = { within: true, pairs: least };
  const count = await match(term, tolerance);
  if (count >= minMatches) return undefined;
  const indexes = parts.map(({ segment }) => segment.texts);
  const [usual, more] = countAllowedErrors(term.text);
  let near = await findNearWords(term.text, indexes, relaxed ? more : usual, slice, words);
  if (near.length === 0 && count === 0 && isOnly && term.text.length >= minLengthForTwoErrors)
    near = await findNearWords(term.text, indexes, Math.min(more, 2), slice, words);
  const known = indexes.some((index) => index.knows(term.text, term.open));
  const fit = known ? besidesFit : 1;
  const others = near.map((spelling) => ({ ...spelling, fit: spelling.fit * fit }));
  const [best] = near;
  if (best === undefined) {
    if (count === 0) await match(relaxTerm(term, indexes), tolerance);
    return undefined;
  }
  const category = term.category ?? (known ? undefined : words.of(best.word));
  await match({ ...term, others: [...term.others, ...others], category }, tolerance);
  return known || count > 0 ? undefined : best.word.replace(/^=/, '');
}

interface FindOptions {
  readonly relaxed: boolean;
  readonly isOnly: boolean;
  readonly spelled: Set<Term>;
}

/** Returns how many spelling errors a word may have: one in five letters, two in eight; and at most. */
function countAllowedErrors({ length }: string): [usual: number, more: number] {
  return [length >= 8 ? 2 : length >= 5 ? 1 : 0, Math.min(3, Math.floor(length / 3))];
}

/**
 * Returns what to look for where nothing has a term, nor is spelled nearly like it: its letters, its parts, words of
 * its family.
 */
function relaxTerm(term: Term, indexes: readonly WordIndex[]): Term {
  const { text, pairs } = term;
  if (pairs.length > 0) return { ...term, pairs: Array.from(text) };
  const others = [...term.others, ...findKnownParts(text, indexes).map((word) => ({ word, fit: partFit }))];
  // "музыкальный" and "музыка" have no stem in common.
  const family = text.length < minLongWordLength ? text : text.slice(0, Math.floor(text.length / 2));
  return { ...term, text: family, open: term.open || family !== text, others };
}

/** Returns the longest beginning and the longest end of a joined word that words begin with: "role" of "autorole". */
function findKnownParts(text: string, indexes: readonly WordIndex[]): string[] {
  const isKnown = (part: string): boolean => indexes.some((index) => index.knows(part, true));
  const maxLength = text.length - minRestLength;
  const lengths = Array.from({ length: Math.max(0, maxLength - minPartLength + 1) }, (_, i) => maxLength - i);
  const parts = [
    lengths.map((length) => text.slice(0, length)).find(isKnown),
    lengths.map((length) => text.slice(-length)).find(isKnown),
  ];
  return parts.filter((part) => part !== undefined);
}

/** Returns how many bots have the term that was just found. */
export function countTerm(parts: readonly SearchPart[]): number {
  let count = 0;
  for (const { segment, memory } of parts) {
    const { bots, size } = memory.term;
    if (segment.live === segment.size) count += size;
    else for (let i = 0; i < size; i++) if (segment.bot(bots[i] ?? 0) !== undefined) count++;
  }
  return count;
}

/** A term that fewer bots have is searched for with other spellings, too. */
const minMatches = 3;
/** For each, every word of the catalogue is looked at. */
const maxSpelledTerms = 6;
/** The share of a term's pairs of letters that a bot must have. */
const minPairShare = 0.6;
/** What another spelling counts where some bot has the term as it is spelled. */
const besidesFit = 0.3;
const minLongWordLength = 8;
const minLengthForTwoErrors = 7;
const minPartLength = 4;
const minRestLength = 2;
const partFit = 0.5;
