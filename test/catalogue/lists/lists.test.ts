import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { isError } from '../../../src/lib/errors.ts';
import type { Lists, PageOfBots } from '../../../src/catalogue/lists/lists.ts';
import { sortKeys } from '../../../src/catalogue/lists/orders.ts';
import { filters } from '../../../src/catalogue/lists/parameters.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { parseListQuery } from '../../../src/http/api/read-routes.ts';
import { toProblem } from '../../../src/http/problem.ts';
import { noCounts } from '../../support/counts.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { idsOf, listsOf, pagesOf } from '../../support/lists.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { botId, mainPage, pagePath } from '../../support/sample.ts';

const byId = { key: 'id', descending: false } as const;

describe('the bots that a query selects', () => {
  const bots = new MutableBotIndex();
  const text = ['Bot', 'Counts sheep.'] as const;
  const invite = 'https://discord.com/oauth2/authorize?client_id=1&scope=bot&permissions=8';
  bots.set(sampleBot('1', { en: ['C', 'Counts sheep.'], de: text }, { created: 9, edited: 9, invite }));
  bots.set(sampleBot('2', { en: ['b', 'Counts sheep.'] }, { created: 5, edited: 10, category: 'music' }));
  bots.set(sampleBot('3', { en: ['A', 'Counts sheep.'] }, { created: 7, edited: 8, category: 'games' }));
  bots.set(sampleBot('10', { de: ['d', 'Counts sheep.'] }, { created: 7, edited: 7, authors: ['7', '8'] }));
  bots.set(
    sampleBot(
      '20',
      { fr: text },
      { created: 6, nsfw: true, verified: true, codehost: { owner: 'o', repo: 'r' } },
    ),
  );
  const byCount = new Map([
    ['1', 5],
    ['3', 0],
    ['20', 5],
  ]);
  const lists = listsOf(bots, {
    ...noCounts,
    count: (id) => byCount.get(id),
    reportedAt: (id) => (id === '3' ? Date.now() : byCount.get(id)),
  });

  const cases = readCases('list-queries');
  for (const { input, expected } of cases)
    it(`are the same in lists, in pages by cursor and by number, and among those that a search finds: ${input}`, async () => {
      const selected = parseListQuery(new URLSearchParams(input), toSettings());
      const ids = expected.flatMap((line) => line.split(' '));
      const { bots: all, total } = await lists.page(selected);
      deepStrictEqual([idsOf(all), total], [ids, ids.length]);
      deepStrictEqual(await pagesOf(lists, { ...selected, limit: 2 }), ids);
      deepStrictEqual(
        await pagesOf(lists, { sort: byId, ...selected, q: 'sheep', weaker: true, limit: 2 }),
        ids,
      );
      for (const limit of [2, 1000])
        for (let after = 0; after < 5; after += limit) {
          const page = await lists.page({ ...selected, after, limit });
          deepStrictEqual([idsOf(page.bots), page.total], [ids.slice(after, after + limit), ids.length]);
        }
      const { body } = await lists.json({ ...selected, fields: ['id'] });
      deepStrictEqual(
        JSON.parse((body as Buffer).toString()) as unknown,
        ids.map((id) => ({ id })),
      );
    });

  it('are tested for each filter', () => {
    const tested = cases.map(({ input }) => input.slice(1)).join('&');
    for (const name of Object.keys(filters)) ok(`&${tested}`.includes(`&${name}=`), name);
  });

  it('are counted by category, whichever is selected, on a page by its number', async () => {
    const { categories } = await lists.page({ category: ['fun'], nsfw: false, after: 0, limit: 1 });
    deepStrictEqual(Object.fromEntries(categories), { fun: 2, music: 1, games: 1 });
  });

  it('are counted by kind, with those for adults or without', async () => {
    for (const [withAdult, fun, locales] of [
      [true, 3, { en: 3, de: 2, fr: 1 }],
      [false, 2, { en: 3, de: 2 }],
    ] as const) {
      const sizes = await lists.sizes(withAdult);
      deepStrictEqual(Object.fromEntries(sizes.categories), { fun, music: 1, games: 1 });
      deepStrictEqual([Object.fromEntries(sizes.locales), sizes.total], [locales, fun + 2]);
    }
  });
});

describe('the beginning of a list', () => {
  it('is the same whether it is picked, alone or with others, or cut from the whole order', async () => {
    const author = fc.constantFrom('1', '2', '3');
    const bot = fc.record({
      created: fc.integer({ min: 0, max: 4 }),
      nsfw: fc.boolean(),
      // Few bots have the last two authors.
      author: fc.oneof({ weight: 9, arbitrary: fc.constant('1') }, { weight: 1, arbitrary: author }),
      count: fc.option(fc.nat(3)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(bot, { maxLength: 300 }),
        fc.constantFrom(...sortKeys),
        fc.boolean(),
        fc.integer({ min: 1, max: 50 }),
        fc.option(author, { nil: undefined }),
        async (drawn, key, descending, limit, author) => {
          const bots = new MutableBotIndex();
          drawn.forEach(({ created, nsfw, author }, i) => {
            const keys = { created, edited: created, nsfw, authors: [author] };
            bots.set(sampleBot(String(i * 7), { en: [`Bot ${created}`, 'x'] }, keys));
          });
          const count = (id: string): number | undefined => drawn[Number(id) / 7]?.count ?? undefined;
          const lists = listsOf(bots, { ...noCounts, count });
          const query = { nsfw: false, sort: { key, descending }, limit, ...(author && { author }) };
          const ofAdults = { ...query, nsfw: true };
          const picked = await lists.page({ ...query, after: 0 });
          const cut = await lists.page(query);
          deepStrictEqual([idsOf(picked.bots), picked.total], [idsOf(cut.bots), cut.total]);
          const { limit: _limit, ...unlimited } = query;
          const whole = idsOf((await lists.page(unlimited)).bots);
          for (const after of [3, 240, 1000]) {
            const later = await lists.page({ ...query, after });
            deepStrictEqual([idsOf(later.bots), later.total], [whole.slice(after, after + limit), cut.total]);
          }
          const selected = drawn.filter((one) => !one.nsfw && one.author === (author ?? one.author));
          strictEqual(picked.total, selected.length);
          const others = await lists.page({ ...ofAdults, after: 0 });
          deepStrictEqual(await lists.firstPages([query, ofAdults]), [picked, others]);
        },
      ),
    );
  });
});

describe('lists that many ask for at once', () => {
  const bots = new MutableBotIndex();
  for (let i = 0; i < 2000; i++) bots.set(sampleBot(String(i * 7), { en: [`Bot ${i}`, 'Counts things.'] }));
  const fresh = (): Lists => listsOf(bots);

  it('wait for each other when they are searches, up to 32 and 8 of a client, and are refused with 503 and 429 above that', async () => {
    const lists = fresh();
    const search = async (i: number, client: number): Promise<unknown> =>
      await lists.page({ q: `bot ${i}` }, `client ${client}`);
    const ofOne = await Promise.allSettled(Array.from({ length: 10 }, async (_, i) => await search(i, 1)));
    deepStrictEqual(ofOne.map(({ status }) => status).lastIndexOf('fulfilled'), 8);
    const last = toProblem((ofOne[9] as PromiseRejectedResult).reason);
    deepStrictEqual(
      [last.kind, last.status, last.headers],
      ['too-many-requests', 429, { 'Retry-After': '2' }],
    );
    const searches = Array.from({ length: 150 }, async (_, i) => await search(i, i % 10));
    const results = await Promise.allSettled(searches);
    const refused = results
      .filter((result) => result.status === 'rejected')
      .map(({ reason }) => reason as unknown);
    strictEqual(results.length - refused.length, 33);
    ok(refused.every((error) => isError(error, 'queue-full')));
    const problem = toProblem(refused[0]);
    deepStrictEqual([problem.kind, problem.status, problem.headers], ['busy', 503, { 'Retry-After': '2' }]);
    strictEqual((await lists.page({ q: 'bot 3' })).total > 0, true);
  });

  it('wait for one search at most, however many of the same client wait', async () => {
    const lists = fresh();
    const order: string[] = [];
    const note = async (name: string, query: Parameters<Lists['page']>[0]): Promise<void> => {
      await lists.page(query, 'client');
      order.push(name);
    };
    const searches = Array.from({ length: 8 }, async (_, i) => await note('search', { q: `bot ${i}` }));
    await Promise.race(searches);
    await note('list', { active: 30 });
    ok(order.length < 5, order.join(' '));
    await Promise.all(searches);
  });

  it('are made once when they are the same', async () => {
    const lists = fresh();
    const same = await Promise.all(Array.from({ length: 150 }, async () => await lists.json({ q: 'bot' })));
    strictEqual(new Set(same).size, 1);
  });

  it('are cut from the same bots where only their length or place differs, and from those of the author', async () => {
    let looks = 0;
    const reportedAt = (): number => (looks++, Date.now());
    const lists = listsOf(bots, { ...noCounts, reportedAt });
    const { total, next } = await lists.page({ active: 30, limit: 7 });
    deepStrictEqual([total, next?.id, looks], [2000, '42', 2000]);
    const { bots: page } = await lists.page({ active: 30, limit: 2, ...(next && { after: next }) });
    deepStrictEqual([idsOf(page), looks], [['49', '56'], 2000]);
    const { bots: none } = await lists.page({ active: 30, author: '987' });
    deepStrictEqual([none, looks], [[], 2000]);
  });

  it('do not wait behind a search whose index is still being built', async () => {
    const lists = fresh();
    const order: string[] = [];
    const search = lists.json({ q: 'bot' }).then(() => order.push('search'));
    const list = lists.json({ fields: ['id'] }).then(() => order.push('list'));
    await Promise.all([search, list]);
    deepStrictEqual(order, ['list', 'search']);
  });

  const works: Record<string, (lists: Lists) => Promise<unknown>> = {
    'a search': async (lists) => await lists.json({ q: 'bot' }),
    'a sorted list': async (lists) => await lists.json({ sort: { key: 'name', descending: true } }),
    'a list of some fields': async (lists) => await lists.json({ fields: ['id'] }),
    'the beginning of a list': async (lists) => await lists.page({ after: 0, limit: 24 }),
    'the highest of several lists': async (lists) => await lists.top(['count', 'created'], 6),
    'the sizes of the catalogue': async (lists) => await lists.sizes(true),
    'the list of files': async (lists) => await lists.files(),
  };
  for (const [name, work] of Object.entries(works)) {
    it(`let the event loop have its turn while ${name} is made`, async () => {
      const now = performance.now.bind(performance);
      // A clock that advances by a millisecond per call.
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

describe('the list of all files', () => {
  it('has another digest where a file has another name and the same bytes', async () => {
    const digestOf = async (locale: string): Promise<string> => {
      const { catalogue } = await openCatalogue({ [pagePath('7', locale)]: mainPage() });
      return (await listsOf(catalogue.store.bots).files()).digest;
    };
    strictEqual(await digestOf('pt'), await digestOf('pt'));
    notStrictEqual(await digestOf('pt'), await digestOf('pt-BR'));
  });
});

describe('the bots with the highest values', () => {
  it('are the first of each language, each bot once and in one order', async () => {
    const bots = new MutableBotIndex();
    const text = ['Bot', 'Counts things.'] as const;
    for (let id = 1; id <= 9; id++)
      bots.set(sampleBot(String(id), id === 2 ? { ar: text } : { en: text, 'en-GB': text, de: text }));
    const lists = listsOf(bots, { ...noCounts, count: Number });
    const [highest = []] = await lists.top(['count'], 3);
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
      (await lists.top(['count', 'random'], 2)).map((list) => idsOf(list).join());
    const [, random = ''] = await highest();
    deepStrictEqual(await highest(), ['2,1', random]);
    byId.set('3', 9);
    deepStrictEqual(await highest(), ['3,2', random]);
    bots.delete(botId(random.split(',')[0] ?? ''));
    notStrictEqual((await highest())[1], random);
  });
});

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

  it('is the same for one of several queries as for it alone', async () => {
    const queries = [
      { q: 'shepherd goats', category: ['fun'], limit: 3 },
      { q: 'shepherd goats', weaker: true, limit: 3 },
    ] as const;
    const [alone, together] = [
      await Promise.all(queries.map(async (query) => await lists.page({ ...query, after: 0 }))),
      await lists.firstPages(queries),
    ];
    const toFacts = ({ bots, total }: PageOfBots): unknown => [idsOf(bots), total];
    deepStrictEqual(together.map(toFacts), alone.map(toFacts));
    deepStrictEqual(await lists.firstPages([]), []);
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
    strictEqual((await lists.page({ q: 'goast', sort: { key: 'id', descending: true } })).corrected, 'goats');
  });
});
