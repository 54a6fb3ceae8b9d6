import type { TimeSlice } from '../../concurrency/time-slice.ts';
import type { BotId } from '../../bot/id.ts';
import type { IndexedBot } from '../index/bot-index.ts';
import { wholeNameWord } from './bot-words.ts';
import { areNeighbours, matchTerm, type Tolerance } from './match-term.ts';
import { nearWords } from './near-words.ts';
import { type Query, readQuery, type Term } from './query.ts';
import type { SearchMemory, Segment } from './segment.ts';
import { categoryOf } from './text/category-words.ts';
import { normalise } from './text/normalise.ts';

/** What a search found. */
export interface Found {
  readonly bots: readonly IndexedBot[];
  /** How well each of the bots fits, above 0. */
  readonly scores: Float32Array;
  /** What each of the bots is: its place in `kinds`. */
  readonly kinds: Uint8Array;
  /** What was searched for instead, where a word is in no bot and others are spelled nearly like it. */
  readonly corrected: string | undefined;
}

/** A segment, and what this search keeps of its bots. */
interface Part {
  readonly segment: Segment;
  readonly memory: SearchMemory;
}

/**
 * Searches segments for the words of a text, never holding the event loop for long.
 * @param slice of the request: each new one would wait for a turn of the event loop
 * @param relaxed whether to find the nearest there is, for when nothing fits
 */
export async function runSearch(
  segments: readonly Segment[],
  text: string,
  slice: TimeSlice,
  relaxed = false,
): Promise<Found> {
  const query = readQuery(text);
  const parts = segments.map((segment) => ({ segment, memory: segment.borrowMemory() }));
  try {
    for (const part of parts) await addNames(query, part, slice);
    let corrected = normalise(text.trim());
    let weight = 0;
    let before: Term | undefined;
    for (const term of query.terms) {
      const spelling = await findTerm(term, parts, relaxed, slice);
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
async function addNames({ names, ids }: Query, { segment, memory }: Part, slice: TimeSlice): Promise<void> {
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
 * Finds a term in every part; where hardly any bot has it, also what is spelled nearly like it.
 * @returns that spelling, where no bot has the term
 */
async function findTerm(
  term: Term,
  parts: readonly Part[],
  relaxed: boolean,
  slice: TimeSlice,
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
  const near = await nearWords(term.text, indexes, relaxed, slice);
  const known = indexes.some((index) => index.knows(term.text, term.open));
  const fit = known ? besidesFit : 1;
  const others = near.map((spelling) => ({ ...spelling, fit: spelling.fit * fit }));
  const [best] = near;
  if (best === undefined) {
    const family = familyOf(term.text);
    if (count === 0 && family !== undefined) await match({ ...term, text: family, open: true }, tolerance);
    return undefined;
  }
  const category = term.category ?? (known ? undefined : categoryOf(best.word));
  await match({ ...term, others: [...term.others, ...others], category }, tolerance);
  return known || count > 0 ? undefined : best.word.replace(/^=/, '');
}

/** What other words of the same family may begin with: "музыкальный" and "музыка" have no stem in common. */
function familyOf(text: string): string | undefined {
  return text.length < longWord ? undefined : text.slice(0, Math.floor(text.length / 2));
}

function countTerm(parts: readonly Part[]): number {
  let count = 0;
  for (const { segment, memory } of parts) {
    const { bots, size } = memory.term;
    for (let i = 0; i < size; i++) if (segment.bot(bots[i] ?? 0) !== undefined) count++;
  }
  return count;
}

/**
 * Adds what the term that was just found counts. A term that few bots have tells more.
 * @param distance places between it and the term before, undefined where it is the first
 * @returns the weight of the term
 */
function addTerm(parts: readonly Part[], distance: number | undefined): number {
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
function collect(parts: readonly Part[], weight: number): Omit<Found, 'corrected'> {
  const bots: IndexedBot[] = [];
  const scores: number[] = [];
  const kinds: number[] = [];
  const add = ({ segment, memory }: Part, number: number): void => {
    const bot = segment.bot(number);
    if (bot === undefined) return;
    const coverage = (memory.covered[number] ?? 0) / weight;
    const score = (memory.found.values[number] ?? 0) * (leastCoverage + (1 - leastCoverage) * coverage);
    bots.push(bot);
    kinds.push(segment.kind(number));
    scores.push((Number.isNaN(score) ? 0 : score) + (memory.names.values[number] ?? 0));
  };
  for (const part of parts) {
    const { found, names } = part.memory;
    for (let i = 0; i < found.size; i++) add(part, found.bots[i] ?? 0);
    for (let i = 0; i < names.size; i++) if (!found.has(names.bots[i] ?? 0)) add(part, names.bots[i] ?? 0);
  }
  return { bots, scores: Float32Array.from(scores), kinds: Uint8Array.from(kinds) };
}

/** What another spelling counts where some bot has the term as it is spelled. */
const besidesFit = 0.3;
const longWord = 8;
/** A term that fewer bots have is searched for with other spellings, too. */
const enough = 3;
const mostPairs = 0.6;
const idScore = 1000;
const nameScore = 8;
const beginningScore = 2;
const shortestBeginning = 3;
const phraseScore = 1.5;
/** What a term loses by being in every bot, at most. */
const rarest = 0.6;
const leastCoverage = 0.2;
