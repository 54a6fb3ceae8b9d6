import { deepStrictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import { createWordSplitter } from '../../../src/catalogue/search/split-words.ts';

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
