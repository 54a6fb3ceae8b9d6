import { deepStrictEqual, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { Category } from '../../../schemas/types.ts';
import type { BotId } from '../../../src/bot/id.ts';
import { defaultCategories } from '../../../src/bot/schemas.ts';
import { getNeeds } from '../../../src/catalogue/search/query.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import type { IndexedBot } from '../../../src/catalogue/store/bot-index.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { noCounts } from '../../support/counts.ts';
import { listsOf } from '../../support/lists.ts';
import { sumDiscounted } from '../../support/search-quality.ts';
import { sampleBot } from '../../support/sample-bot.ts';

type Texts = Readonly<Record<string, readonly [name: string, description: string, page?: string]>>;
type Bot = [Category, Texts, { count: number; verified?: boolean; nsfw?: boolean }];
/** The judged results of a query: the best bots, good bots, and a category whose bots are acceptable. */
interface Judgement {
  readonly best?: readonly string[];
  readonly good?: readonly string[];
  readonly category?: Category;
}

describe('a search of 165 bots', () => {
  const bots = new MutableBotIndex();
  const categories = {
    ...Object.fromEntries(defaultCategories.map((category) => [category, {}])),
    'server-care': { en: 'Server management', fr: 'Gestion de serveur', ja: 'サーバー管理' },
    'voice-games': { en: 'Voice games', es: 'Juegos de voz' },
  };
  const words = getNeeds(toSettings({ categories }));
  const counts = new Map<BotId, number>();
  for (const [i, [category, texts, { count, ...keys }]] of fixture<Bot>('bots').entries()) {
    const bot = sampleBot(String(190_519_304_972_664_832n + BigInt(i) * 1_000_003n), texts, {
      category,
      ...keys,
    });
    bots.set(bot);
    counts.set(bot.id, count);
  }
  const queries = fixture<[string, Judgement]>('queries').map(
    ([q, judgement]) => [queryOf(q), judgement] as const,
  );
  const lists = listsOf(bots, { ...noCounts, count: (id) => counts.get(id) }, () => words);

  it('finds something for each of 203 queries, and what is wanted first', async () => {
    const gains: [number, string][] = [];
    for (const [q, judgement] of queries) {
      const first = await lists.page({ q, limit: 5, nsfw: false });
      const found =
        first.suggested === undefined
          ? first
          : await lists.page({ q: first.suggested, limit: 5, nsfw: false });
      const names = found.bots.map(({ facts }) => facts.name);
      const grades = found.bots.map((bot) => grade(bot, judgement));
      const ideal = bots
        .all()
        .map((bot) => grade(bot, judgement))
        .toSorted((a, b) => b - a);
      gains.push([sumDiscounted(grades) / sumDiscounted(ideal.slice(0, 5)), `${q}: ${names.join(', ')}`]);
    }
    const worst = gains.filter(([gain]) => gain < 0.9).map(([gain, text]) => `${gain.toFixed(2)} ${text}`);
    const mean = gains.reduce((sum, [gain]) => sum + gain, 0) / gains.length;
    if (process.env['SHOW']) console.log(mean, worst);
    deepStrictEqual(
      gains.filter(([gain]) => gain === 0).map(([, text]) => text),
      [],
    );
    ok(mean >= 0.9, `nDCG@5 ${mean.toFixed(3)}\n${worst.join('\n')}`);
  });

  /** Returns the id for `id:Name`, else the query itself. */
  function queryOf(q: string): string {
    if (!q.startsWith('id:')) return q;
    return bots.all().find(({ facts }) => facts.name === q.slice(3))?.id ?? q;
  }
});

function fixture<T>(name: string): T[] {
  const path = new URL(`./test/fixtures/search/${name}.jsonl`, import.meta.resolve('#package'));
  return readFileSync(path, 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

function grade({ facts }: IndexedBot, { best = [], good = [], category }: Judgement): number {
  if (best.includes(facts.name)) return 3;
  if (good.includes(facts.name)) return 1;
  return facts.category === category ? (best.length > 0 ? 1 : 2) : 0;
}
