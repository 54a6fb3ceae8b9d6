import { deepStrictEqual, notStrictEqual, strictEqual } from 'node:assert/strict';
import { forEachWord, splitRuns } from '../../../src/catalogue/search/words.ts';
import { normalise } from '../../../src/lib/text.ts';

describe('the words of a text', () => {
  const words = (text: string): string[] => {
    const found: string[] = [];
    forEachWord(text, 0, (word, place) => found.push(`${word}@${place}`));
    return found;
  };

  it('end where the script changes', () => {
    deepStrictEqual(
      splitRuns('Discord用の音楽bot').map(({ text }) => text),
      ['discord', '用', 'の', '音楽', 'bot'],
    );
  });

  it('keep what tells programming languages apart', () => {
    deepStrictEqual(words('C++, C# and C'), ['c++@0', 'c#@1', 'and@2', 'c@3']);
    deepStrictEqual(words('Homer#1234'), ['homer@0', '1234@1']);
  });

  it('are pairs of letters in scripts without spaces', () => {
    deepStrictEqual(words('天気予報 x'), ['天気@0', '気予@1', '予報@2', '報@3', 'x@4']);
  });

  it('have no Arabic article', () => {
    deepStrictEqual(words('الموسيقى'), words('موسيقي'));
  });
});

describe('a normalised text', () => {
  it('has no case, no width, and no marks on Latin, Greek and Cyrillic letters', () => {
    strictEqual(normalise('ÀÉÎ Ｆｕｌｌ Άλφα Ёлка'), 'aei full αλφα елка');
  });

  it('has no vowel marks of Arabic and Hebrew', () => {
    strictEqual(normalise('مُوسِيقَى شَلُّوم'), normalise('موسيقى شلوم'));
    strictEqual(normalise('שָׁלוֹם מוּזִיקָה'), 'שלום מוזיקה');
  });

  it('keeps marks that make another sound in other scripts', () => {
    notStrictEqual(normalise('ボット'), normalise('ホット'));
    strictEqual(normalise('หนังสือ'), 'หนังสือ'.normalize('NFKC'));
    strictEqual(normalise('йод'), 'йод');
  });

  it('has the letters that people type for those that their keyboard lacks', () => {
    strictEqual(
      normalise('Łódź Straße æther œuvre þing ørn đak İstanbul ışık'),
      'lodz strasse aether oeuvre thing orn dak istanbul isik',
    );
  });
});
