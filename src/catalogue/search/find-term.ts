import type { TimeSlice } from '../../concurrency/time-slice.ts';
import { matchTerm, type Tolerance } from './match-term.ts';
import { nearWords } from './near-words.ts';
import type { Term } from './query.ts';
import type { SearchMemory, IndexSegment } from './segment.ts';
import type { CategoryWords } from './text/category-words.ts';

/** A segment, and what this search keeps of its bots. */
export interface SearchPart {
  readonly segment: IndexSegment;
  readonly memory: SearchMemory;
}

/**
 * Finds a term in every part; where hardly any bot has it, also what is spelled nearly like it.
 * @returns that spelling, where no bot has the term
 */
export async function findTerm(
  term: Term,
  parts: readonly SearchPart[],
  relaxed: boolean,
  slice: TimeSlice,
  words: CategoryWords,
): Promise<string | undefined> {
  const match = async (term: Term, tolerance: Tolerance): Promise<number> => {
    for (const { segment, memory } of parts) await matchTerm(term, segment, memory, tolerance, slice);
    return countTerm(parts);
  };
  const least = relaxed ? 0 : mostPairs;
  if ((await match(term, { within: false, pairs: least })) >= enough) return undefined;
  const tolerance = { within: true, pairs: least };
  const count = await match(term, tolerance);
  if (count >= enough) return undefined;
  const indexes = parts.map(({ segment }) => segment.texts);
  const near = await nearWords(term.text, indexes, relaxed, slice, words);
  const known = indexes.some((index) => index.knows(term.text, term.open));
  const fit = known ? besidesFit : 1;
  const others = near.map((spelling) => ({ ...spelling, fit: spelling.fit * fit }));
  const [best] = near;
  if (best === undefined) {
    const family = familyOf(term.text);
    if (count === 0 && family !== undefined) await match({ ...term, text: family, open: true }, tolerance);
    return undefined;
  }
  const category = term.category ?? (known ? undefined : words.of(best.word));
  await match({ ...term, others: [...term.others, ...others], category }, tolerance);
  return known || count > 0 ? undefined : best.word.replace(/^=/, '');
}

/** What other words of the same family may begin with: "музыкальный" and "музыка" have no stem in common. */
function familyOf(text: string): string | undefined {
  return text.length < longWord ? undefined : text.slice(0, Math.floor(text.length / 2));
}

/** How many bots have the term that was just found. */
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
const enough = 3;
/** The share of a term's pairs of letters that a bot must have. */
const mostPairs = 0.6;
/** What another spelling counts where some bot has the term as it is spelled. */
const besidesFit = 0.3;
const longWord = 8;
