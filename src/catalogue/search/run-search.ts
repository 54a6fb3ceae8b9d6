import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { BotId } from '../../bot/id.ts';
import type { IndexedBot } from '../index/bot-index.ts';
import { wholeNameWord } from './bot-words.ts';
import { countTerm, findTerm, type SearchPart } from './find-term.ts';
import { areNeighbours } from './match-term.ts';
import { type Query, readQuery, type Term } from './query.ts';
import { type IndexSegment, type Kind, KindNumbers } from './segment.ts';
import type { CategoryWords } from './text/category-words.ts';
import { normalise } from './text/normalise.ts';

/** What a search found. */
export interface Found {
  readonly bots: readonly IndexedBot[];
  /** How well each of the bots fits, above 0. */
  readonly scores: Float32Array;
  /** What each of the bots is: its place in `allKinds`. */
  readonly kinds: Uint16Array;
  readonly allKinds: readonly Kind[];
  /** What was searched for instead, where a word is in no bot and others are spelled nearly like it. */
  readonly corrected: string | undefined;
}

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
    let before: Term | undefined;
    for (const term of query.terms) {
      const spelling = await findTerm(term, parts, relaxed, slice, words);
      if (spelling !== undefined) corrected = corrected.replace(term.text, spelling);
      weight += addTerm(parts, before === undefined ? undefined : term.place - before.place);
      before = term;
    }
    const found = collect(parts, weight);
    return { ...found, corrected: corrected === normalise(text.trim()) ? undefined : corrected };
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
      [vocabulary.find(wholeNameWord(name)), nameScore],
      [vocabulary.beginningWith(wholeNameWord(name)), name.length < shortestBeginning ? 0 : beginningScore],
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
  const weight = count === 0 ? rarest : 1 - rarest + (rarest * Math.log1p(all / count)) / Math.log1p(all);
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

/** Puts together what was found. A bot that has only some of the terms scores less. */
function collect(parts: readonly SearchPart[], weight: number): Omit<Found, 'corrected'> {
  const bots: IndexedBot[] = [];
  const scores: number[] = [];
  const kinds: number[] = [];
  const numbers = new KindNumbers();
  const add = ({ segment, memory }: SearchPart, number: number, own: readonly number[]): void => {
    const bot = segment.bot(number);
    if (bot === undefined) return;
    const coverage = (memory.covered[number] ?? 0) / weight;
    const score = (memory.found.values[number] ?? 0) * (leastCoverage + (1 - leastCoverage) * coverage);
    bots.push(bot);
    kinds.push(own[segment.kind(number)] ?? 0);
    scores.push((Number.isNaN(score) ? 0 : score) + (memory.names.values[number] ?? 0));
  };
  for (const part of parts) {
    const { found, names } = part.memory;
    const own = part.segment.kinds.map((kind) => numbers.of(kind));
    for (let i = 0; i < found.size; i++) add(part, found.bots[i] ?? 0, own);
    for (let i = 0; i < names.size; i++)
      if (!found.has(names.bots[i] ?? 0)) add(part, names.bots[i] ?? 0, own);
  }
  return { bots, scores: Float32Array.from(scores), kinds: Uint16Array.from(kinds), allKinds: numbers.all };
}

const idScore = 1000;
const nameScore = 8;
const beginningScore = 2;
const shortestBeginning = 3;
const phraseScore = 1.5;
/** What a term loses by being in every bot, at most. */
const rarest = 0.6;
const leastCoverage = 0.2;
