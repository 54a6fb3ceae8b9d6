import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { idsOf, listsOf, pagesOf } from '../../support/lists.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { noCounts } from '../../support/counts.ts';

describe('what a search found, the best first', () => {
  const bots = new MutableBotIndex();
  for (let i = 0; i < 200; i++) {
    const description = i % 3 === 0 ? 'Counts sheep.' : 'Counts sheep and goats.';
    const keys = {
      nsfw: i % 10 === 0,
      category: i % 2 === 0 ? 'fun' : 'games',
      created: 0,
      edited: i * 60_000,
    } as const;
    bots.set(
      sampleBot(
        String(i),
        { en: [i === 101 ? 'Shepherd' : `Bot${i}`, description] },
        { ...keys, verified: i === 101 },
      ),
    );
  }
  const counts = { ...noCounts, count: (id: string) => (id === '13' ? 1000 : undefined) };
  const lists = listsOf(bots, counts);

  it('is the same page by page as at once', async () => {
    const q = 'sheep goats';
    const { bots: whole, total } = await lists.page({ q });
    deepStrictEqual([whole.length, total], [200, 200]);
    deepStrictEqual(await pagesOf(lists, { q, limit: 7 }), idsOf(whole));
    for (const after of [0, 7, 196, 300]) {
      const page = await lists.page({ q, after, limit: 7 });
      deepStrictEqual([page.bots, page.total], [whole.slice(after, after + 7), 200]);
    }
  });

  it('has verified bots first among those of one score, then large ones, then those that were edited last', async () => {
    const { bots: first } = await lists.page({ q: 'goats', limit: 4 });
    deepStrictEqual(idsOf(first), ['101', '13', '199', '197']);
  });

  it('counts what is for adults and was not requested, and the bots of each category', async () => {
    const result = await lists.page({ q: 'sheep', nsfw: false, category: ['fun'], limit: 5 });
    deepStrictEqual([result.total, result.hidden], [80, 20]);
    deepStrictEqual([...new Set(result.bots.flatMap(result.localesOf))], ['en']);
    deepStrictEqual(
      [...result.categories],
      [
        ['fun', 80],
        ['games', 100],
      ],
    );
  });

  it('leaves out weak matches, says how many there are, and has them where they are requested', async () => {
    const q = 'shepherd sheep goats';
    const { bots: best, total, weaker } = await lists.page({ q, limit: 5 });
    deepStrictEqual([idsOf(best)[0], total, weaker], ['101', 133, 67]);
    deepStrictEqual((await lists.page({ q, limit: 5, weaker: true })).total, 200);
  });

  it('says what was searched for in the place of a misspelled word', async () => {
    const { corrected, total } = await lists.page({ q: 'gaots', limit: 5 });
    deepStrictEqual([corrected, total], ['goats', 133]);
    strictEqual(
      (await lists.page({ q: 'gaosts', sort: { key: 'id', descending: true } })).corrected,
      'goats',
    );
  });
});
