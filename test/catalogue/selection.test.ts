import { deepStrictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { MutableBotIndex } from '../../src/catalogue/bot-index.ts';
import { Orders } from '../../src/catalogue/orders.ts';
import { select, selectFirst, sortKeys } from '../../src/catalogue/selection.ts';
import { sampleBot } from '../support/sample-bot.ts';

describe('the beginning of a list', () => {
  it('is the same whether it is picked or cut from the whole order', () => {
    const bot = fc.record({
      created: fc.integer({ min: 0, max: 4 }),
      nsfw: fc.boolean(),
      count: fc.option(fc.nat(3)),
    });
    fc.assert(
      fc.property(
        fc.array(bot, { maxLength: 40 }),
        fc.constantFrom(...sortKeys),
        fc.boolean(),
        fc.integer({ min: 1, max: 50 }),
        (drawn, key, descending, count) => {
          const bots = new MutableBotIndex();
          drawn.forEach(({ created, nsfw }, i) => {
            bots.set(
              sampleBot(String(i * 7), { en: [`Bot ${created}`, 'x'] }, { created, edited: created, nsfw }),
            );
          });
          const orders = new Orders(bots, {
            version: 0,
            count: (id) => drawn[Number(id) / 7]?.count ?? undefined,
          });
          const sorted = orders.by(key).bots;
          const valueOf = orders.valueOf(key);
          const order = descending ? sorted.toReversed() : sorted;
          deepStrictEqual(
            selectFirst(bots.all(), valueOf, descending, { nsfw: false }, count).map(({ id }) => id),
            select(order, valueOf, descending, { nsfw: false, limit: count }).bots.map(({ id }) => id),
          );
        },
      ),
    );
  });
});
