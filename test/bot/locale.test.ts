import { strictEqual } from 'node:assert/strict';
import { canonicalLocale, parseLocale } from '../../src/bot/locale.ts';
import { fixtureLines } from '../support/fixture-lines.ts';

describe('a locale', () => {
  for (const text of fixtureLines('locales-valid.txt'))
    it(`can be ${text}`, () => strictEqual(parseLocale(text), text));

  for (const text of fixtureLines('locales-invalid.txt'))
    it(`cannot be ${JSON.stringify(text)}`, () => strictEqual(parseLocale(text), undefined));

  it('has one canonical form however it is written', () => {
    for (const text of ['zh-hant-tw', 'ZH-HANT-TW', 'zh-Hant-TW'])
      strictEqual(canonicalLocale(text), 'zh-Hant-TW');
  });
});
