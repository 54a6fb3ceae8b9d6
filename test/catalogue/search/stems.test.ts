import { strictEqual } from 'node:assert/strict';
import { toLanguageBit, Stems } from '../../../src/catalogue/search/stems.ts';

describe('stems', () => {
  const same = (language: string, one: string, other: string): void =>
    strictEqual(new Stems(one).areSharedBy(other, toLanguageBit(language)), true, `${one} ${other}`);

  it('are shared by the forms of a word, in the language it is in', () => {
    same('en', 'translate', 'translation');
    same('en-GB', 'currencies', 'currency');
    same('en', 'plays', 'playing');
    same('de', 'umfrage', 'umfragen');
    same('fr', 'jeux', 'jeu');
    same('es', 'canciones', 'cancion');
    same('ru', 'музыка', 'музыку');
  });

  it('are not shared in a language that has no such forms', () => {
    strictEqual(new Stems('музыка').areSharedBy('музыку', toLanguageBit('en')), false);
    strictEqual(toLanguageBit('ja'), 0);
  });
});
