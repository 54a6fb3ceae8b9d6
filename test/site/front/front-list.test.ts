import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import { AuthorIndex } from '../../../src/catalogue/lists/authors.ts';
import { indexBot, MutableBotIndex, parseRecord } from '../../../src/catalogue/store/bot-index.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { chooseShelves, FrontLists, type Shelf, type ShelfName } from '../../../src/site/front/front-list.ts';
import { noQuery } from '../../../src/site/front/front-query.ts';
import { idsOf, listsOf } from '../../support/lists.ts';
import { noCounts } from '../../support/counts.ts';
import { agePages } from '../../support/age-pages.ts';
import { eventually } from '../../support/eventually.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { botId } from '../../support/sample.ts';

describe('the pages of a list', () => {
  it('have 24 bots each in the order of the list, and what changed since the last one @slow', async () => {
    const bots = new MutableBotIndex();
    const put = (number: number): void => {
      bots.set(sampleBot(String(number), undefined, { created: number }));
    };
    for (let number = 1; number <= 50; number++) put(number);
    const lists = frontListsOf(bots);
    const read = async (page: number): Promise<string[]> => {
      return idsOf((await lists.get({ ...noQuery, sort: 'newest', page }, '')).bots);
    };
    deepStrictEqual([(await read(1)).length, (await read(2))[0], await read(3)], [24, '26', ['2', '1']]);
    put(51);
    await eventually(async () => (await read(2))[0] === '27');
  });
});

describe('the front page', () => {
  it('does not wait long for examples of searches, has them once they are chosen, and until others are', async () => {
    let build = (): void => {};
    let built = new Promise<void>((resolve) => (build = resolve));
    const bots = new MutableBotIndex();
    bots.set(sampleBot('1', { en: ['Homer', 'Answers.'] }));
    const sorted = bots.sorted.bind(bots);
    bots.sorted = async () => await built.then(sorted);
    const lists = frontListsOf(bots);
    deepStrictEqual((await lists.examples(['answers'])).queries, []);
    build();
    await eventually(async () => (await lists.examples(['answers'])).queries.length === 1);
    built = new Promise((resolve) => (build = resolve));
    bots.set(sampleBot('2'));
    agePages();
    strictEqual((await lists.examples(['answers'])).queries.length, 1);
    build();
  });
});

describe('the featured bot', () => {
  const images = { avatar: '/appdata/a.webp', cover: '/appdata/b.webp', preview: [] };
  const today = new Date().toISOString().slice(0, 10);
  const isShown = async (keys: object, since = today): Promise<boolean> => {
    const bots = new MutableBotIndex();
    const record = parseRecord(sampleBot('7'));
    const contents = { en: { name: 'Homer', description: 'Answers.', page: 'Ask.' } };
    bots.set(indexBot(botId('7'), { ...record, cachedImages: images, contents, ...keys }, []));
    const front = await frontListsOf(bots).front({ id: '7', by: '5', why: 'It helps.', since });
    return front.featured !== undefined;
  };

  it('is shown for 14 days', async () => {
    strictEqual(await isShown({}), true);
    for (const since of ['2020-01-01', '2999-01-01', '2026-02-31'])
      strictEqual(await isShown({}, since), false);
  });

  it('has pictures and a page, is for everyone, and asks for no full control', async () => {
    const invite = 'https://discord.com/oauth2/authorize?client_id=1&scope=bot&permissions=8';
    const noPage = { en: { name: 'Homer', description: 'Answers.', page: '' } };
    for (const keys of [
      { cachedImages: { ...images, cover: null } },
      { cachedImages: { ...images, avatar: null } },
      { contents: noPage },
      { nsfw: true },
      { invite },
    ])
      strictEqual(await isShown(keys), false, JSON.stringify(keys));
  });
});

function frontListsOf(bots: MutableBotIndex): FrontLists {
  const cache = new CurrentCache();
  const authors = new AuthorIndex(bots, { files: new Map() }, cache);
  return new FrontLists({ cache, bots, lists: listsOf(bots), authors, counts: noCounts });
}

const listed = ['en', 'fr', 'en fr', 'ar', 'de', 'pt-BR', 'en-GB', 'ar', 'en', 'fr', 'en', 'en'].map(
  (locales, i) => {
    const contents = locales.split(' ').map((locale) => [locale, ['Bot', 'Answers.']] as const);
    return sampleBot(String(i), Object.fromEntries(contents));
  },
);
const shelf = (sort: ShelfName, ids: readonly number[] = [...listed.keys()]): Shelf => {
  return { sort, bots: listed.filter((_, i) => ids.includes(i)) };
};
const choose = (shelves: readonly Shelf[], ...languages: string[]): string[] =>
  chooseShelves({ shelves, featured: listed[5] }, languages as Locale[]).map(
    ({ sort, bots: chosen }) => `${sort}: ${idsOf(chosen).join(' ')}`,
  );

describe('the shelves of the front page', () => {
  it('keep their order, with bots in the languages of the reader and one other, without the featured one', () => {
    deepStrictEqual(choose([shelf('growing')], 'ar', 'de'), ['growing: 0 3 4 7']);
    deepStrictEqual(choose([shelf('growing')], 'en'), ['growing: 0 1 2 6 8 10']);
    deepStrictEqual(choose([shelf('newest')], 'pt', 'ar'), ['newest: 0 3 7']);
  });

  it('have no bot twice, and three at least', () => {
    const shelves = [shelf('growing', [1, 3, 7]), shelf('newest'), shelf('edited')];
    deepStrictEqual(choose(shelves, 'ar', 'fr'), ['growing: 1 3 7', 'newest: 0 2 9']);
  });

  it('are filled with others where the reader could read too few for any shelf', () => {
    deepStrictEqual(choose([shelf('newest')], 'de'), ['newest: 0 1 2']);
    deepStrictEqual(choose([shelf('growing')]), ['growing: 0 1 2 3 4 6']);
  });

  it('have all bots where there is one shelf for them', () => {
    deepStrictEqual(choose([shelf('popular', [0, 1, 3])], 'ar'), ['popular: 0 1 3']);
    deepStrictEqual(choose([shelf('popular', [0])], 'ar'), ['popular: 0']);
  });
});
