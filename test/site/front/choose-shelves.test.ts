import { deepStrictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import {
  chooseCollections,
  chooseShelves,
  type Shelf,
  type ShelfName,
} from '../../../src/site/front/front-list.ts';
import type { LinkedCollection } from '../../../src/site/front/collections.ts';
import { idsOf } from '../../support/lists.ts';
import { sampleBot } from '../../support/sample-bot.ts';

const bots = ['en', 'fr', 'en fr', 'ar', 'de', 'pt-BR', 'en-GB', 'ar', 'en', 'fr', 'en', 'en'].map(
  (locales, i) => {
    const contents = locales.split(' ').map((locale) => [locale, ['Bot', 'Answers.']] as const);
    return sampleBot(String(i), Object.fromEntries(contents));
  },
);
const shelf = (sort: ShelfName, ids: readonly number[] = [...bots.keys()]): Shelf => {
  return { sort, bots: bots.filter((_, i) => ids.includes(i)) };
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
      return { collection, listed: bots.filter((_, i) => ids.includes(i)) };
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
