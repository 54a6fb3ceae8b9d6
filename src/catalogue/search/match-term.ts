import type { TimeSlice } from '../../lib/time-slice.ts';
import { toCategoryWord } from './bot-words.ts';
import type { Matches } from './matches.ts';
import type { Term } from './query.ts';
import type { SearchMemory, IndexSegment } from './segment.ts';
import type { Expansion, WordIndex } from './word-index.ts';

/** How far from a term a bot's words may be. */
export interface Tolerance {
  /** Whether the term may be within a word. */
  readonly within: boolean;
  /** The share of its pairs of letters that a bot must have. */
  readonly pairs: number;
}

/** Finds the bots of a segment that have a term, into `memory.term`. */
export async function matchTerm(
  term: Term,
  segment: IndexSegment,
  memory: SearchMemory,
  tolerance: Tolerance,
  slice: TimeSlice,
): Promise<void> {
  memory.term.clear();
  if (term.pairs.length > 1) await matchPairs(term, segment, memory, tolerance.pairs, slice);
  for (const index of segment.indexes)
    await memory.term.addWord(index, expandTerm(term, index, tolerance), slice);
  if (term.pairs.length === 0) await matchHalves(term.text, segment, memory, slice);
}

/** Whether a bot has one term right before another one. */
export function areNeighbours(first: number, second: number, distance: number): boolean {
  const shift = distance & 31;
  return (((first << shift) | (first >>> (32 - shift))) & second) !== 0;
}

function expandTerm(term: Term, index: WordIndex, { within }: Tolerance): Expansion[] {
  const { text, others, pairs, open, category } = term;
  const expansions = pairs.length > 0 ? expandPairs(pairs, index, open) : index.formsOf(text, 1);
  for (const { word, fit } of others) expansions.push(...index.formsOf(word, fit));
  if (category !== undefined) expansions.push({ ...index.vocabulary.find(toCategoryWord(category)), fit: 1 });
  if (pairs.length > 0) return expansions;
  if (open) expansions.push(...index.beginningWith(text, openFit));
  if (within && text.length >= minLengthWithin) expansions.push(...index.containing(text, withinFit));
  return expansions;
}

/** A single pair is a word like any other; of several each is looked up apart. */
function expandPairs(pairs: readonly string[], index: WordIndex, open: boolean): Expansion[] {
  const [only] = pairs;
  if (only === undefined || pairs.length > 1) return [];
  return open ? index.beginningWith(only, 1) : [{ ...index.vocabulary.find(only), fit: 1 }];
}

async function matchPairs(
  { pairs }: Term,
  segment: IndexSegment,
  { term, part, other }: SearchMemory,
  least: number,
  slice: TimeSlice,
): Promise<void> {
  other.clear();
  for (const [number, pair] of pairs.entries()) {
    part.clear();
    for (const index of segment.indexes)
      await part.addWord(index, expandPairs([pair], index, pair.length === 1), slice);
    forEachBot(part, (bot) =>
      other.addPart(bot, (part.values[bot] ?? 0) / pairs.length, number === 0 ? (part.places[bot] ?? 0) : 0),
    );
  }
  forEachBot(other, (bot) => {
    if (other.parts(bot) / pairs.length >= least)
      term.add(bot, other.values[bot] ?? 0, other.places[bot] ?? 0);
  });
}

/** Finds "reaction roles" for "reactionroles", and "Dank Memer" for "dankmemer". */
async function matchHalves(
  text: string,
  { texts }: IndexSegment,
  { term, part, other }: SearchMemory,
  slice: TimeSlice,
): Promise<void> {
  const [first, second] = findHalves(text, texts) ?? [];
  if (first === undefined || second === undefined) return;
  part.clear();
  other.clear();
  await part.addWord(texts, texts.formsOf(first, 1), slice);
  await other.addWord(texts, texts.formsOf(second, 1), slice);
  forEachBot(part, (bot) => {
    if (!other.has(bot) || !areNeighbours(part.places[bot] ?? 0, other.places[bot] ?? 0, 1)) return;
    const value = ((part.values[bot] ?? 0) + (other.values[bot] ?? 0)) / 2;
    term.add(bot, value * halvesFit, part.places[bot] ?? 0);
  });
}

/** Returns the two known words that a text is made of; of several such pairs the one whose rarer word is used most. */
function findHalves(text: string, index: WordIndex): [string, string] | undefined {
  let best: [string, string] | undefined;
  let bestCount = 0;
  for (let end = minHalfLength; end <= text.length - minHalfLength; end++) {
    const halves: [string, string] = [text.slice(0, end), text.slice(end)];
    const count = Math.min(...halves.map((half) => index.count(index.vocabulary.find(half))));
    if (count > bestCount) [best, bestCount] = [halves, count];
  }
  return best;
}

function forEachBot({ bots, size }: Matches, onBot: (bot: number) => void): void {
  for (let i = 0; i < size; i++) onBot(bots[i] ?? 0);
}

const openFit = 0.7;
const withinFit = 0.5;
const halvesFit = 0.95;
const minLengthWithin = 4;
const minHalfLength = 2;
