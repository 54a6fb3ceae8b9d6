import { deepStrictEqual } from 'node:assert/strict';
import { findMatchingLocales } from '../../../src/catalogue/search/query.ts';

describe('the languages that a search matches', () => {
  const contents = {
    en: { name: 'Music Bear', description: 'Plays tracks.' },
    de: { name: 'Musikbär', description: 'Spielt Lieder im Sprachkanal.' },
    nl: { name: 'Music Bear', description: 'Speelt liedjes.' },
    ja: { name: '音楽熊', description: '音楽を再生します。' },
  };

  it('are those with most of the words, in any form', () => {
    deepStrictEqual(findMatchingLocales(contents, 'track'), ['en']);
    deepStrictEqual(findMatchingLocales(contents, 'musikbar lied'), ['de']);
    deepStrictEqual(findMatchingLocales(contents, '音楽のボット'), ['ja']);
    deepStrictEqual(findMatchingLocales(contents, 'music bear'), ['en', 'nl']);
  });

  it('are none where no text has a word', () => {
    deepStrictEqual(findMatchingLocales(contents, 'wetter'), []);
  });
});
