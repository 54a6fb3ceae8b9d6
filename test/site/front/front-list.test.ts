import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import { indexBot, parseRecord } from '../../../src/catalogue/store/bot-index.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { chooseShelves, FrontLists, type Shelf, type ShelfName } from '../../../src/site/front/front-list.ts';
import { noQuery } from '../../../src/site/front/front-query.ts';
import { readCases } from '../../support/fixture-lines.ts';
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

const today = new Date().toISOString().slice(0, 10);

describe('the featured bot', () => {
  const images = { avatar: '/appdata/a.webp', cover: '/appdata/b.webp', preview: [] };
  const isShown = async (keys: object, since = today): Promise<boolean> => {
    const bots = new MutableBotIndex();
    const record = parseRecord(sampleBot('7'));
    const contents = { en: { description: 'Answers.', name: 'Homer', page: 'Ask.' } };
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
    const noPage = { en: { description: 'Answers.', name: 'Homer', page: '' } };
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

describe('the ledge of the front page', () => {
  it('has the bot on most servers of each category, of those with a picture, for everyone and without Administrator', async () => {
    const bots = new MutableBotIndex();
    const put = (id: string, keys: object): void => {
      const cachedImages = { avatar: '/appdata/a.webp', cover: '/appdata/b.webp', preview: [] };
      const contents = { en: { description: 'Answers.', name: 'Homer', page: 'Ask.' } };
      bots.set(indexBot(botId(id), { ...parseRecord(sampleBot(id)), cachedImages, contents, ...keys }, []));
    };
    const invite = 'https://discord.com/oauth2/authorize?client_id=1&scope=bot&permissions=8';
    put('1', { category: 'fun' });
    put('2', { category: 'music' });
    put('3', { category: 'music' });
    put('4', { category: 'fun', cachedImages: { avatar: null, cover: null, preview: [] } });
    put('5', { category: 'fun', nsfw: true });
    put('6', { category: 'fun', invite });
    put('7', { category: 'games' });
    put('8', { category: 'games' });
    const lists = frontListsOf(bots, { ...noCounts, count: Number });
    const front = await lists.front({ id: '8', by: '5', why: 'It helps.', since: today });
    deepStrictEqual(idsOf(front.ledge), ['7', '3', '1']);
  });
});

describe('growth', () => {
  it('counts from 100 servers on, on the shelf and in the list that is sorted by it', async () => {
    const bots = new MutableBotIndex();
    for (let id = 96; id < 126; id++) bots.set(sampleBot(String(id)));
    const lists = frontListsOf(bots, { ...noCounts, count: Number, growth: (id) => 1 / Number(id) });
    const [growing] = (await lists.front(null)).shelves;
    deepStrictEqual(idsOf(growing?.bots ?? []).slice(0, 3), ['100', '101', '102']);
    const { bots: sorted } = await lists.get({ ...noQuery, sort: 'growing' }, '');
    deepStrictEqual(idsOf(sorted).slice(0, 3), ['100', '101', '102']);
  });
});

function frontListsOf(bots: MutableBotIndex, counts = noCounts): FrontLists {
  const cache = new CurrentCache();
  return new FrontLists({ cache, bots, lists: listsOf(bots, counts), counts });
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
const choose = (shelves: readonly Shelf[], ...languages: string[]): string => {
  const known = languages as Locale[];
  const chosen = chooseShelves(
    { shelves, featured: listed[5] },
    { known, wanted: [...known, 'fr' as Locale] },
  );
  return chosen.map(({ sort, bots }) => `${sort} ${idsOf(bots).join(' ')}`).join(', ');
};

describe('the shelves of the front page', () => {
  for (const { title, input, expected } of readCases('shelves'))
    it(title, () => {
      const [tags = '', ...names] = input.split(' | ');
      const shelves = names.map((name) => {
        const [sort, ...ids] = name.split(' ');
        return shelf(sort as ShelfName, ids.length > 0 ? ids.map(Number) : undefined);
      });
      const languages = tags === 'none' ? [] : tags.split(' ');
      strictEqual(choose(shelves, ...languages), expected.join(', '));
    });
});
