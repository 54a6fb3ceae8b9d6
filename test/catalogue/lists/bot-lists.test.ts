import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { QueueFullError } from '../../../src/lib/serial-queue.ts';
import type { BotLists } from '../../../src/catalogue/lists/bot-lists.ts';
import { toProblem } from '../../../src/http/problem-response.ts';
import { idsOf, listsOf } from '../../support/bot-lists.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { noCounts } from '../../support/counts.ts';
import { botId } from '../../support/sample.ts';

describe('lists that many ask for at once', () => {
  const bots = new MutableBotIndex();
  for (let i = 0; i < 2000; i++) bots.set(sampleBot(String(i * 7), { en: [`Bot ${i}`, 'Counts things.'] }));
  const fresh = (): BotLists => listsOf(bots);

  it('wait for each other when they are searches, up to 64 and 16 of a client, and are refused with 503 above that', async () => {
    const lists = fresh();
    const search = async (i: number, client: number): Promise<unknown> =>
      await lists.select({ q: `bot ${i}` }, `client ${client}`);
    const ofOne = await Promise.allSettled(Array.from({ length: 18 }, async (_, i) => await search(i, 1)));
    deepStrictEqual(ofOne.map(({ status }) => status).lastIndexOf('fulfilled'), 16);
    const searches = Array.from({ length: 150 }, async (_, i) => await search(i, i % 10));
    const results = await Promise.allSettled(searches);
    const refused = results
      .filter((result) => result.status === 'rejected')
      .map(({ reason }) => reason as unknown);
    strictEqual(results.length - refused.length, 65);
    ok(refused.every((error) => error instanceof QueueFullError));
    const problem = toProblem(refused[0]);
    deepStrictEqual([problem.kind, problem.status, problem.headers], ['busy', 503, { 'Retry-After': '2' }]);
    strictEqual((await lists.select({ q: 'bot 3' })).total > 0, true);
  });

  it('are made once when they are the same', async () => {
    const lists = fresh();
    const same = await Promise.all(
      Array.from({ length: 150 }, async () => await lists.elements({ q: 'bot' })),
    );
    strictEqual(new Set(same).size, 1);
  });

  it('are cut from the same bots where only their length or place differs, and from those of the author', async () => {
    let looks = 0;
    const reportedAt = (): number => (looks++, Date.now());
    const lists = listsOf(bots, { ...noCounts, reportedAt });
    const { total, next } = await lists.select({ active: 30, limit: 7 });
    deepStrictEqual([total, next?.id, looks], [2000, '42', 2000]);
    const { bots: page } = await lists.select({ active: 30, limit: 2, ...(next && { after: next }) });
    deepStrictEqual([idsOf(page), looks], [['49', '56'], 2000]);
    const { bots: none } = await lists.select({ active: 30, author: '987' });
    deepStrictEqual([none, looks], [[], 2000]);
  });

  it('do not wait behind a search whose index is still being built', async () => {
    const lists = fresh();
    const order: string[] = [];
    const search = lists.elements({ q: 'bot' }).then(() => order.push('search'));
    const list = lists.elements({ fields: ['id'] }).then(() => order.push('list'));
    await Promise.all([search, list]);
    deepStrictEqual(order, ['list', 'search']);
  });

  const works: Record<string, (lists: BotLists) => Promise<unknown>> = {
    'a search': async (lists) => await lists.elements({ q: 'bot' }),
    'a sorted list': async (lists) => await lists.elements({ sort: { key: 'name', descending: true } }),
    'a list of some fields': async (lists) => await lists.elements({ fields: ['id'] }),
    'the beginning of a list': async (lists) => await lists.first({}, 24),
    'the highest of several lists': async (lists) => await lists.highest(['count', 'created'], 6),
    'the sizes of the catalogue': async (lists) => await lists.sizes(true),
    'the list of files': async (lists) => await lists.files(),
  };
  for (const [name, work] of Object.entries(works)) {
    it(`let the event loop have its turn while ${name} is made`, async () => {
      const now = performance.now.bind(performance);
      // A clock by which each look at a bot takes a millisecond.
      let time = now();
      performance.now = () => (time += 1);
      let rounds = 0;
      let counting = true;
      const count = (): void => {
        rounds++;
        if (counting) setImmediate(count);
      };
      setImmediate(count);
      try {
        await work(fresh());
      } finally {
        performance.now = now;
        counting = false;
      }
      ok(rounds > 2000 / 10, `${rounds} rounds of the event loop`);
    });
  }
});

describe('the bots with the highest values', () => {
  it('are the first of each language, each bot once and in one order', async () => {
    const bots = new MutableBotIndex();
    const text = ['Bot', 'Counts things.'] as const;
    for (let id = 1; id <= 9; id++)
      bots.set(sampleBot(String(id), id === 2 ? { ar: text } : { en: text, 'en-GB': text, de: text }));
    const lists = listsOf(bots, { ...noCounts, count: Number });
    const [highest = []] = await lists.highest(['count'], 3);
    deepStrictEqual(idsOf(highest), ['9', '8', '7', '2']);
  });

  it('follow each count and each change of a bot', async () => {
    const bots = new MutableBotIndex();
    for (const id of ['1', '2', '3']) bots.set(sampleBot(id, { en: ['Bot', 'Counts things.'] }));
    const byId = new Map([
      ['1', 5],
      ['2', 7],
    ]);
    const lists = listsOf(bots, { ...noCounts, count: (id) => byId.get(id) });
    const highest = async (): Promise<string[]> =>
      (await lists.highest(['count', 'random'], 2)).map((list) => idsOf(list).join());
    const [, random = ''] = await highest();
    deepStrictEqual(await highest(), ['2,1', random]);
    byId.set('3', 9);
    deepStrictEqual(await highest(), ['3,2', random]);
    bots.delete(botId(random.split(',')[0] ?? ''));
    notStrictEqual((await highest())[1], random);
  });
});
