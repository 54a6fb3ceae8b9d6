import { deepStrictEqual } from 'node:assert/strict';
import { readQuery, getNeeds } from '../../../src/catalogue/search/query.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';

describe('the categories that a query names', () => {
  const categories = {
    music: { en: 'Music' },
    'server-care': { en: 'Server management', fr: 'Gestion de serveur', de: 'Serververwaltung' },
    'voice-games': { en: 'Voice games', es: 'Juegos de voz', 'zh-CN': '语音游戏' },
    games: { en: 'Games' },
  };
  const words = getNeeds(toSettings({ categories }));
  const named = (query: string): string[] => [
    ...new Set(
      readQuery(query, words).terms.flatMap(({ needs }) => needs.flatMap(({ category }) => category ?? [])),
    ),
  ];

  it('are those of a name of one word, in any form', () => {
    deepStrictEqual(named('musical games'), ['music', 'games']);
    deepStrictEqual(named('serververwaltung'), ['server-care']);
  });

  it('are those of a longer name where all its words are there, in any order and form', () => {
    for (const query of ['voice games', 'game with voice', 'juego por voz', '语音游戏', 'voice-games'])
      deepStrictEqual(named(query), ['voice-games'], query);
    deepStrictEqual(named('voice'), []);
  });

  it('need no words of a name that say nothing', () => {
    for (const query of ['server management', 'management', 'gestion des serveurs'])
      deepStrictEqual(named(query), ['server-care'], query);
    deepStrictEqual(named('server'), []);
  });

  it('have the words that settings say mean the same', () => {
    const needs = getNeeds(toSettings({ synonyms: [['wh40k', 'warhammer']] }));
    const [term] = readQuery('warhammer', needs).terms;
    deepStrictEqual(
      term?.needs.map((need) => [...need.words.keys()]),
      [['wh40k', 'warhammer']],
    );
  });
});
