import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import { AuthorIndex } from '../../../src/catalogue/lists/authors.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import type { LinkedCollection } from '../../../src/site/front/collections.ts';
import {
  chooseCollections,
  chooseShelves,
  FrontLists,
  type Shelf,
  type ShelfName,
} from '../../../src/site/front/front-list.ts';
import { noQuery } from '../../../src/site/front/front-query.ts';
import { idsOf, listsOf } from '../../support/lists.ts';
import { noCounts } from '../../support/counts.ts';
import { agePages } from '../../support/age-pages.ts';
import { eventually } from '../../support/eventually.ts';
import { sampleBot } from '../../support/sample-bot.ts';

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

function frontListsOf(bots: MutableBotIndex): FrontLists {
  const cache = new CurrentCache();
  const authors = new AuthorIndex(bots, { files: new Map() }, cache);
  return new FrontLists({ cache, lists: listsOf(bots), authors, counts: noCounts });
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
  chooseShelves(shelves, languages as Locale[]).map(
    ({ sort, bots: chosen }) => `${sort}: ${idsOf(chosen).join(' ')}`,
  );

describe('the shelves of the front page', () => {
  it('begin with bots in the languages of the reader, and have one other at most', () => {
    deepStrictEqual(choose([shelf('newest')], 'ar', 'de'), ['newest: 3 4 7 0']);
    deepStrictEqual(choose([shelf('newest')], 'en'), ['newest: 0 2 6 8 10 11']);
    deepStrictEqual(choose([shelf('newest')], 'pt', 'ar'), ['newest: 3 5 7 0']);
  });

  it('have no bot twice, and three at least', () => {
    const shelves = [shelf('growing', [1, 3, 7]), shelf('newest'), shelf('edited')];
    deepStrictEqual(choose(shelves, 'ar', 'fr'), ['growing: 1 3 7', 'newest: 2 9 0']);
  });

  it('have those of the first two collections in a language of the reader, and none of these bots again', () => {
    const collect = (name: string, locale: string, ...ids: number[]): LinkedCollection => {
      const texts = { title: name, description: '', page: '' };
      const collection = {
        name,
        bots: [],
        locale: locale as Locale,
        contents: new Map([[locale as Locale, texts]]),
      };
      return { collection, listed: listed.filter((_, i) => ids.includes(i)) };
    };
    const linked = [
      collect('de', 'de', 0, 1, 2),
      collect('two', 'ar', 0, 1),
      collect('first', 'ar', 3, 4, 5),
      collect('same', 'ar', 3, 4, 6),
      collect('second', 'ar', 5, 6, 7, 8),
      collect('third', 'ar', 9, 10, 11),
    ];
    const chosen = chooseCollections(linked, ['ar' as Locale]);
    deepStrictEqual(
      chosen.map(({ collection, listed }) => [collection.name, idsOf(listed).join(' ')]),
      [
        ['first', '3 4 5'],
        ['second', '6 7 8'],
      ],
    );
    const taken = new Set(chosen.flatMap(({ listed }) => listed));
    const [others] = chooseShelves([shelf('newest')], ['fr' as Locale], taken);
    deepStrictEqual(idsOf(others?.bots ?? []).join(' '), '1 2 9 0');
  });

  it('are filled with others where the reader could read too few for any shelf', () => {
    deepStrictEqual(choose([shelf('newest')], 'de'), ['newest: 4 0 1 2 3 5']);
    deepStrictEqual(choose([shelf('newest')]), ['newest: 0 1 2 3 4 5']);
  });

  it('have all bots where there is one shelf for them, those in the languages of the reader first', () => {
    deepStrictEqual(choose([shelf('popular', [0, 1, 3])], 'ar'), ['popular: 3 0 1']);
    deepStrictEqual(choose([shelf('popular', [0])], 'ar'), ['popular: 0']);
  });
});
