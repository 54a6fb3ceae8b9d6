import { deepStrictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import { createWordSplitter, findMatchingLocales } from '../../../src/catalogue/search/split-words.ts';

describe('the words of a search in a text', () => {
  for (const [query, text, marked, locale = 'en'] of [
    ['lyrics', 'Lyrics, and one lyric a day', 'Lyrics lyric'],
    ['play music', 'Plays MUSIC; replays it', 'Plays MUSIC'],
    ['a bot for music', 'A bot for music', 'music'],
    ['modera', 'Moderation and modes', 'Moderation'],
    ['mod', 'Moderation', ''],
    ['reaction roles', 'ReactionRoles', 'ReactionRoles'],
    ['cafe', 'Un café', 'café', 'fr'],
    ['c++', 'Runs C++ and C', 'C++'],
    ['音楽を再生', 'ボイスで音楽を再生します', '音楽', 'ja'],
    ['موسيقى', 'بوت الموسيقى', 'الموسيقى', 'ar'],
    ['lyrics', '', ''],
  ] as const)
    it(`“${query}” in “${text}”: ${marked || 'none'}`, () => {
      const pieces = createWordSplitter(query)(text, locale as Locale);
      deepStrictEqual(pieces.join(''), text);
      deepStrictEqual(pieces.filter((_, i) => i % 2 === 1).join(' '), marked);
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
