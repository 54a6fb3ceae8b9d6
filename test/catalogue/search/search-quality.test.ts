import { ok } from 'node:assert/strict';
import type { Category } from '../../../schemas/types.ts';
import type { BotId } from '../../../src/bot/id.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { noCounts } from '../../support/counts.ts';
import { listsOf } from '../../support/lists.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { readPackageFile } from '../../support/package-files.ts';

/** Minimum mean nDCG@5 of the judged queries of each kind, and of all, by fixture. */
const floors = {
  queries: {
    all: 0.93,
    word: 0.95,
    question: 0.82,
    name: 0.95,
    language: 0.9,
    typo: 0.9,
    joined: 0.86,
    phrase: 0.9,
    synonym: 0.9,
  },
  unseen: { all: 0.77, phrase: 0.78, joined: 0.69, question: 0.77, name: 0.97, vocabulary: 0.64 },
} as const;

describe('a search among the bots of the demo and others like those of real lists', () => {
  for (const fixture of ['queries', 'unseen'] as const)
    it(`finds first what people want, by every kind of judged-${fixture}.jsonl`, async () => {
      const found = averageByKind(await measureSearchQuality(fixture));
      const averages = Array.from(found, ([kind, average]) => `${kind} ${average.toFixed(3)}`).join(', ');
      for (const [kind, floor] of Object.entries(floors[fixture]))
        ok((found.get(kind) ?? 0) >= floor, `${kind}: nDCG@5 < ${floor}, of ${averages}`);
    });
});

/** A query, and what a person who types it wants: bots by id, from 1 (it helps) to 3 (just that). */
interface JudgedQuery {
  readonly query: string;
  readonly kind: string;
  readonly judgements: Readonly<Record<string, { readonly grade: number }>>;
}

/** How well a search fits a query of a kind: nDCG of the first five, from 0 to 1. */
interface Quality {
  readonly kind: string;
  readonly gain: number;
}

interface TextsOfBot {
  readonly name: string;
  readonly description: string;
  readonly page: string;
}

interface DemoBot {
  readonly servers?: number;
  readonly main: { readonly category: Category; readonly nsfw: boolean; readonly verified: boolean };
  readonly contents: Readonly<Record<string, TextsOfBot>>;
}

interface InventedBot extends TextsOfBot {
  readonly id: string;
  readonly category: Category;
  readonly locale: string;
  readonly count: number;
}

/**
 * Searches for every judged query of a fixture, among the bots of the demo and the invented ones. `queries` were made
 * beside the engine; `unseen` by somebody who knew the bots' texts only.
 */
async function measureSearchQuality(fixture: 'queries' | 'unseen'): Promise<Quality[]> {
  const bots = new MutableBotIndex();
  const counts = new Map<BotId, number>();
  const demo = JSON.parse(readPackageFile('assets/demo/bots.json')) as Record<string, DemoBot>;
  for (const [id, { servers, main, contents }] of Object.entries(demo)) {
    const { category, nsfw, verified } = main;
    const texts = Object.entries(contents).map(
      ([locale, { name, description, page }]) => [locale, [name, description, page]] as const,
    );
    const bot = sampleBot(id, Object.fromEntries(texts), { category, nsfw, verified });
    bots.set(bot);
    counts.set(bot.id, servers ?? 0);
  }
  for (const { id, category, locale, name, description, page, count } of readLines<InventedBot>('bots')) {
    const bot = sampleBot(id, { [locale]: [name, description, page] }, { category });
    bots.set(bot);
    counts.set(bot.id, count);
  }
  const lists = listsOf(bots, { ...noCounts, count: (id) => counts.get(id) });
  const qualities: Quality[] = [];
  for (const { query, kind, judgements } of readLines<JudgedQuery>(fixture)) {
    const { bots: found } = await lists.page({ q: query, limit: 5, nsfw: false });
    const grades = found.map(({ id }) => judgements[id]?.grade ?? 0);
    const ideal = Object.values(judgements)
      .map(({ grade }) => grade)
      .toSorted((a, b) => b - a);
    qualities.push({ kind, gain: sumDiscounted(grades) / sumDiscounted(ideal.slice(0, 5)) });
  }
  return qualities;
}

/** Returns the mean nDCG of some qualities, as a whole and by kind of query. */
function averageByKind(qualities: readonly Quality[]): Map<string, number> {
  const kinds = new Set(['all', ...qualities.map(({ kind }) => kind)]);
  const average = (kind: string): number => {
    const some = qualities.filter((quality) => kind === 'all' || quality.kind === kind);
    return some.reduce((sum, { gain }) => sum + gain, 0) / some.length;
  };
  return new Map(Array.from(kinds, (kind) => [kind, average(kind)]));
}

/** Returns the discounted cumulative gain of grades, the first result's first. */
function sumDiscounted(grades: readonly number[]): number {
  return grades.reduce((sum, grade, place) => sum + (2 ** grade - 1) / Math.log2(place + 2), 0);
}

function readLines<T>(name: string): T[] {
  return readPackageFile(`test/fixtures/search/judged-${name}.jsonl`)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}
