import { deepStrictEqual, ok } from 'node:assert/strict';
import { filters, type FilterValues } from '../../../src/catalogue/lists/filters.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { noCounts } from '../../support/counts.ts';
import { idsOf, listsOf } from '../../support/bot-lists.ts';
import { sampleBot } from '../../support/sample-bot.ts';

/** A text that some of the bots pass, for each filter. */
const texts: Readonly<Record<keyof typeof filters, string>> = {
  category: 'music',
  nsfw: 'true',
  openSource: 'true',
  verified: 'true',
  administrator: 'false',
  author: '3',
  locale: 'de',
  active: '30d',
};

describe('a filter of lists', () => {
  const bots = new MutableBotIndex();
  for (let i = 0; i < 64; i++) {
    const text = ['Bot', 'Counts sheep.'] as const;
    bots.set(
      sampleBot(String(i), i % 3 === 0 ? { de: text, en: text } : { en: text }, {
        authors: [String(i % 4)],
        category: i % 5 === 0 ? 'music' : 'fun',
        nsfw: i % 6 === 0,
        verified: i % 7 === 0,
        invite: `https://discord.com/oauth2/authorize?client_id=${i}&scope=bot&permissions=${i % 10}`,
        codehost: i % 8 === 0 ? { owner: 'o', repo: 'r' } : { owner: null, repo: null },
      }),
    );
  }
  const counts = { ...noCounts, reportedAt: (id: string) => (Number(id) % 9 === 0 ? Date.now() : 0) };
  const lists = listsOf(bots, counts);

  for (const [name, text] of Object.entries(texts) as [keyof typeof filters, string][]) {
    it(`leaves out the same bots in lists, searches and their first pages: ${name}`, async () => {
      const value = filters[name].parse([text], toSettings());
      const values: FilterValues = { [name]: value };
      const expected = idsOf(bots.all().filter((bot) => filters[name].matches(value as never, counts)(bot)));
      ok(expected.length > 0 && expected.length < bots.size);
      const sort = { key: 'id', descending: false } as const;
      for (const found of [
        (await lists.select(values)).bots,
        (await lists.select({ ...values, q: 'sheep', sort })).bots,
        (await lists.select({ ...values, q: 'sheep' })).bots.toSorted((a, b) => Number(a.id) - Number(b.id)),
        await lists.first(values, bots.size),
      ])
        deepStrictEqual(idsOf(found), expected);
    });
  }
});
