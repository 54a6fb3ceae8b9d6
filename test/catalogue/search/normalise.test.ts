import { notStrictEqual, strictEqual } from 'node:assert/strict';
import { normalise } from '../../../src/catalogue/search/words.ts';

describe('a normalised text', () => {
  it('has no case, no width, and no marks on Latin, Greek and Cyrillic letters', () => {
    strictEqual(normalise('ÀÉÎ Ｆｕｌｌ Άλφα Ёлка'), 'aei full αλφα елка');
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
