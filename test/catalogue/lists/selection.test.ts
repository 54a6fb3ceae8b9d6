import { deepStrictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { sortKeys } from '../../../src/catalogue/lists/selection.ts';
import { idsOf, listsOf } from '../../support/bot-lists.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { noCounts } from '../../support/counts.ts';

describe('the beginning of a list', () => {
  it('is the same whether it is picked or cut from the whole order', async () => {
    const bot = fc.record({
      created: fc.integer({ min: 0, max: 4 }),
      nsfw: fc.boolean(),
      count: fc.option(fc.nat(3)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(bot, { maxLength: 40 }),
        fc.constantFrom(...sortKeys),
        fc.boolean(),
        fc.integer({ min: 1, max: 50 }),
        async (drawn, key, descending, count) => {
          const bots = new MutableBotIndex();
          drawn.forEach(({ created, nsfw }, i) => {
            bots.set(
              sampleBot(String(i * 7), { en: [`Bot ${created}`, 'x'] }, { created, edited: created, nsfw }),
            );
          });
          const lists = listsOf(bots, {
            ...noCounts,
            count: (id) => drawn[Number(id) / 7]?.count ?? undefined,
          });
          const selection = { nsfw: false, sort: { key, descending } };
          const picked = await lists.first(selection, count);
          const cut = await lists.select({ ...selection, limit: count });
          deepStrictEqual(idsOf(picked), idsOf(cut.bots));
        },
      ),
    );
  });
});
