import { forEachInSlices, sortInSlices } from '../../concurrency/in-slices.ts';
import type { Found } from '../search/run-search.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import {
  compareSorted,
  type Cursor,
  matches,
  type Selected,
  type Selection,
  type Sorted,
} from './selection.ts';
import type { IndexedBot } from '../index/bot-index.ts';

/**
 * Picks a page of what a search found, the best first: by score, then verified ones, then by the size of the count, then
 * what was edited last. Only bots that may be on the page are sorted.
 */
export async function selectBest(
  found: Found,
  selection: Selection,
  counts: ReadonlyCounts,
): Promise<Selected> {
  const { after, limit = found.bots.length } = selection;
  const highest = after === undefined ? Infinity : stepOf(Number(after.value));
  const matching: number[] = [];
  const sizes = new Map<number, number>();
  await forEachInSlices(found.bots.keys(), (i) => {
    const bot = found.bots[i];
    if (bot === undefined || !matches(bot, selection)) return;
    matching.push(i);
    const step = scoreStep(found, i);
    if (step <= highest) sizes.set(step, (sizes.get(step) ?? 0) + 1);
  });
  // One more than the limit, and those of the cursor's own score that may be on pages before.
  const lowest = stepWith(sizes, limit + 1 + (sizes.get(highest) ?? 0));
  const candidates: Sorted[] = [];
  await forEachInSlices(matching, (i) => {
    const step = scoreStep(found, i);
    const bot = found.bots[i];
    if (bot && step >= lowest && step <= highest) candidates.push({ bot, value: valueOf(bot, step, counts) });
  });
  const sorted = await sortInSlices(candidates, (a, b) => compareSorted(b, a));
  const rest = after === undefined ? sorted : sorted.filter((one) => isBehind(one, after));
  const page = rest.slice(0, limit);
  const last = page.at(-1);
  return {
    bots: page.map(({ bot }) => bot),
    total: matching.length,
    next: last && rest.length > limit ? { value: last.value, id: last.bot.id } : undefined,
  };
}

function isBehind(one: Sorted, { value, id }: Cursor): boolean {
  return compareSorted(one, { bot: { ...one.bot, id }, value }) < 0;
}

/** The step that so many bots are at or above. */
function stepWith(sizes: ReadonlyMap<number, number>, count: number): number {
  let above = 0;
  for (const [step, size] of [...sizes].toSorted(([a], [b]) => b - a))
    if ((above += size) >= count) return step;
  return 0;
}

/** Scores that differ by less are the same. */
const steps = 64;
const mostSteps = 2 ** 17 - 1;

function scoreStep({ scores }: Found, i: number): number {
  return Math.min(mostSteps, Math.ceil((scores[i] ?? 0) * steps));
}

/** One number to sort by, made of whole numbers: 17 bits of score, 1 of verified, 6 of the count, 26 of minutes. */
function valueOf({ id, facts }: IndexedBot, step: number, counts: ReadonlyCounts): number {
  const size = Math.round(Math.log2(1 + (counts.count(id) ?? 0)));
  const minutes = Math.min(2 ** 26 - 1, Math.max(0, Math.floor(facts.edited / 60_000)));
  return ((step * 2 + Number(facts.verified)) * 64 + size) * 2 ** 26 + minutes;
}

function stepOf(value: number): number {
  return Math.floor(value / (2 * 64 * 2 ** 26));
}
