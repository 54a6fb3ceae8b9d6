import type { TimeSlice } from '../../lib/time-slice.ts';
import type { BotId } from '../../bot/id.ts';
import { toWholeNameWord } from './bot-words.ts';
import { countTerm, findTerm, type SearchPart } from './find-term.ts';
import { Found } from './found.ts';
import { areNeighbours } from './match-term.ts';
import { type Query, readQuery, type Term } from './query.ts';
import type { IndexSegment } from './segment.ts';
import type { CategoryWords } from './category-words.ts';
import { normalise } from './normalise.ts';

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
  relaxed = false,
): Promise<Found> {
  const query = readQuery(text, words);
  const parts = segments.map((segment) => ({ segment, memory: segment.borrowMemory() }));
  try {
    for (const part of parts) await addNames(query, part, slice);
    let corrected = normalise(text.trim());
    let weight = 0;
    const unmatched: string[] = [];
    let before: Term | undefined;
    const options = { relaxed, isOnly: query.terms.length === 1, spelled: new Set<Term>() };
    for (const term of query.terms) {
      const spelling = await findTerm(term, parts, options, slice, words);
      if (spelling !== undefined) corrected = corrected.replace(term.text, spelling);
      if (countTerm(parts) === 0) unmatched.push(term.text);
      weight += addTerm(parts, before === undefined ? undefined : term.place - before.place);
      before = term;
    }
    const spelling = { corrected: corrected === normalise(text.trim()) ? undefined : corrected, unmatched };
    return new Found(parts, weight, spelling);
  } finally {
    for (const { segment, memory } of parts) segment.returnMemory(memory);
  }
}

/** Adds what bots of a whole name, of a name that begins with the query, and of an id score. */
async function addNames(
  { names, ids }: Query,
  { segment, memory }: SearchPart,
  slice: TimeSlice,
): Promise<void> {
  for (const id of ids) {
    const bot = segment.numberOf(id as BotId);
    if (bot !== undefined) memory.names.add(bot, idScore, 0);
  }
  for (const name of names) {
    const { vocabulary } = segment.texts;
    for (const [range, score] of [
      [vocabulary.find(toWholeNameWord(name)), nameScore],
      [vocabulary.beginningWith(toWholeNameWord(name)), name.length < minPrefixLength ? 0 : beginningScore],
    ] as const) {
      if (score === 0) continue;
      memory.part.clear();
      await memory.part.addWord(segment.texts, [{ ...range, fit: 1 }], slice);
      for (let i = 0; i < memory.part.size; i++) memory.names.add(memory.part.bots[i] ?? 0, score, 0);
    }
  }
}

/**
 * Adds what the term that was just found counts. A term that few bots have tells more.
 * @param distance places between it and the term before, undefined where it is the first
 * @returns the weight of the term
 */
function addTerm(parts: readonly SearchPart[], distance: number | undefined): number {
  const all = parts.reduce((sum, { segment }) => sum + segment.live, 0);
  const count = countTerm(parts);
  const weight =
    count === 0
      ? rarityWeight
      : 1 - rarityWeight + (rarityWeight * Math.log1p(all / count)) / Math.log1p(all);
  for (const { memory } of parts) {
    const { term, previous, found, covered } = memory;
    for (let i = 0; i < term.size; i++) {
      const bot = term.bots[i] ?? 0;
      const isPhrase =
        distance !== undefined &&
        previous.has(bot) &&
        areNeighbours(previous.places[bot] ?? 0, term.places[bot] ?? 0, distance);
      found.addPart(bot, ((term.values[bot] ?? 0) + (isPhrase ? phraseScore : 0)) * weight, 0);
      covered[bot] = (covered[bot] ?? 0) + weight;
    }
    [memory.term, memory.previous] = [previous, term];
  }
  return weight;
}

const idScore = 1000;
const nameScore = 8;
const beginningScore = 2;
const minPrefixLength = 3;
const phraseScore = 1.5;
/** What a term loses by being in every bot, at most. */
const rarityWeight = 0.65;
