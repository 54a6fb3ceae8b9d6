import { strictEqual } from 'node:assert/strict';
import { matchingLocale } from '../../../src/catalogue/search/matching-locale.ts';

describe('the language that a search matches', () => {
  const contents = {
    en: { name: 'Music Bear', description: 'Plays tracks.' },
    de: { name: 'Musikbär', description: 'Spielt Lieder im Sprachkanal.' },
    ja: { name: '音楽熊', description: '音楽を再生します。' },
  };

  it('is the one with most of the words, in any form', () => {
    strictEqual(matchingLocale(contents, 'track'), 'en');
    strictEqual(matchingLocale(contents, 'musikbar lied'), 'de');
    strictEqual(matchingLocale(contents, '音楽のボット'), 'ja');
  });

  it('is unknown where no text has a word', () => {
    strictEqual(matchingLocale(contents, 'wetter'), undefined);
  });
});
