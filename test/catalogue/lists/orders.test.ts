import { deepStrictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { compareBotIds } from '../../../src/bot/id.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { SortedIndexes, sortKeys } from '../../../src/catalogue/lists/orders.ts';
import { botId } from '../../support/sample.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { noCounts } from '../../support/counts.ts';
import { idsOf } from '../../support/lists.ts';

describe('sortedIndexes', () => {
  it('are those of a fresh sort, whatever was added, changed and removed since the last request', async () => {
    const change = fc.record({
      id: fc.integer({ min: 0, max: 30 }),
      name: fc.constantFrom('a', 'B', 'c', 'é', '…'),
      created: fc.integer({ min: 0, max: 5 }),
      removed: fc.boolean(),
      look: fc.boolean(),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 60 }), async (changes) => {
        const bots = new MutableBotIndex();
        const sortedIndexes = new SortedIndexes(bots, noCounts);
        for (const { id, name, created, removed, look } of changes) {
          if (removed) bots.delete(botId(String(id)));
          else bots.set(sampleBot(String(id), { en: [name, 'x'] }, { created, edited: created }));
          if (look) for (const key of sortKeys) await sortedIndexes.by(key);
        }
        for (const key of sortKeys) {
          const fresh = idsOf(await new SortedIndexes(bots, noCounts).by(key));
          deepStrictEqual(idsOf(await sortedIndexes.by(key)), fresh);
        }
        deepStrictEqual(
          idsOf(await sortedIndexes.by('id')),
          idsOf(bots.all()).map(botId).toSorted(compareBotIds),
        );
      }),
    );
  });

  it('have letters with marks beside those without, in any case', async () => {
    const bots = new MutableBotIndex();
    const names = 'Zoe Émile zebra eric Elsa Ömer otto Ærø ady Ёлка еда жар'.split(' ');
    for (const [i, name] of names.entries()) bots.set(sampleBot(String(i), { en: [name, 'x'] }));
    const sorted = await new SortedIndexes(bots, noCounts).by('name');
    deepStrictEqual(
      sorted.map(({ facts }) => facts.name),
      ['ady', 'Ærø', 'Elsa', 'Émile', 'eric', 'Ömer', 'otto', 'zebra', 'Zoe', 'еда', 'Ёлка', 'жар'],
    );
  });
});
