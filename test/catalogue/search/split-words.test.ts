import { deepStrictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import { createWordSplitter, findMatchingLocales } from '../../../src/catalogue/search/split-words.ts';
import { readCases } from '../../support/fixture-lines.ts';

describe('the words of a search in a text', () => {
  for (const { input, expected } of readCases('found-words'))
    it(`are ${expected[0] ?? 'none'}: ${input}`, () => {
      const [query, text, locale] = JSON.parse(input) as [string, string, Locale];
      const pieces = createWordSplitter(query)(text, locale);
      deepStrictEqual(pieces.join(''), text);
      deepStrictEqual(pieces.filter((_, i) => i % 2 === 1).join(' '), expected[0] ?? '');
    });
});

describe('the languages that a search matches', () => {
  const contents = {
    en: { name: 'Music Bear', description: 'Plays tracks.' },
    de: { name: 'Musikbär', description: 'Spielt Lieder im Sprachkanal.' },
    nl: { name: 'Music Bear', description: 'Speelt liedjes.' },
    ja: { name: '音楽熊', description: '音楽を再生します。' },
  };

  const find = (q: string): string[] => findMatchingLocales(contents, createWordSplitter(q));

  it('are those with most of the words, in any form', () => {
    deepStrictEqual(find('track'), ['en']);
    deepStrictEqual(find('musikbar lied'), ['de', 'nl']);
    deepStrictEqual(find('音楽のボット'), ['ja']);
    deepStrictEqual(find('music bear'), ['en', 'nl']);
  });

  it('are none where no text has a word', () => {
    deepStrictEqual(find('wetter'), []);
  });
});
