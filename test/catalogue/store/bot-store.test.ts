import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { IndexedBot } from '../../../src/catalogue/store/bot-index.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { idsOf } from '../../support/lists.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { botId } from '../../support/sample.ts';

function bot(id: string, name = 'Homer'): IndexedBot {
  return sampleBot(id, { en: [name, 'Answers.'] });
}

describe('the index', () => {
  it('lets other work run between the folders that it unpacks for all that wait for its bots', async () => {
    const index = new MutableBotIndex();
    const rounds: number[] = [];
    let round = 0;
    const turn = setInterval(() => round++);
    const unpack = (id: string): IndexedBot[] => {
      const end = performance.now() + 5;
      while (performance.now() < end);
      rounds.push(round);
      return [bot(id)];
    };
    for (const id of ['9002', '7001', '8003']) index.addPacked(id.slice(1), 1, () => unpack(id));
    const [all, again] = await Promise.all([index.sorted(), index.sorted()]);
    clearInterval(turn);
    deepStrictEqual(idsOf(all), ['7001', '8003', '9002']);
    strictEqual(again, all);
    strictEqual(await index.sorted(), all);
    strictEqual(new Set(rounds).size, 3);
  });

  it('is what a map would be, in numeric order, after any changes, also while it is sorted, and changes no array it gave', async () => {
    const id = fc.constantFrom('0', '1', '01', '2', '10', '9', '190519304972663312', '18446744073709551615');
    const look = fc.constantFrom('all', 'sort', 'no', 'wait');
    const change = fc.record({ id, name: fc.constantFrom('a', 'b', null), look });
    await fc.assert(
      fc.asyncProperty(fc.array(change, { maxLength: 30 }), async (changes) => {
        let sorting = Promise.resolve();
        const index = new MutableBotIndex();
        const model = new Map<string, IndexedBot>();
        const given: { bots: readonly IndexedBot[]; copy: IndexedBot[] }[] = [];
        for (const { id, name, look } of changes) {
          if (name === null) {
            model.delete(id);
            index.delete(botId(id));
          } else {
            const changed = bot(id, name);
            model.set(id, changed);
            index.set(changed);
          }
          if (look === 'all') given.push({ bots: index.all(), copy: [...index.all()] });
          if (look === 'sort') sorting = Promise.all([sorting, index.sorted()]).then(() => {});
          if (look === 'wait') await sorting;
        }
        await sorting;
        const expected = [...model.keys()].toSorted(
          (a, b) => Number(BigInt(a) - BigInt(b)) || a.length - b.length,
        );
        deepStrictEqual(
          index.all().map(({ id, digest }) => [id, digest]),
          expected.map((id) => [id, model.get(id)?.digest]),
        );
        for (const { bots, copy } of given) deepStrictEqual(bots, copy);
        strictEqual(index.size, model.size);
        strictEqual(index.get(botId('7')), undefined);
        for (const [id, last] of model) strictEqual(index.get(botId(id)), last);
      }),
      { numRuns: 50 },
    );
  });
});
