import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { keepByLocale, toCanonicalLocale, parseLocale } from '../../src/bot/locale.ts';
import { fixtureLines } from '../support/fixture-lines.ts';

describe('a locale', () => {
  for (const text of fixtureLines('locales-valid.txt'))
    it(`can be ${text}`, () => strictEqual(parseLocale(text), text));

  for (const text of fixtureLines('locales-invalid.txt'))
    it(`cannot be ${JSON.stringify(text)}`, () => strictEqual(typeof parseLocale(text), 'object'));

  it('is refused with the reason and what to write instead', () => {
    deepStrictEqual(parseLocale('en-gb'), {
      reason: 'is not in canonical case',
      canonical: 'en-GB',
      instead: 'en-GB',
    });
    deepStrictEqual(parseLocale('english'), {
      reason: 'is not a language tag',
      canonical: undefined,
      instead: 'a tag such as en, en-GB or zh-CN',
    });
  });

  it('has one canonical form however it is written', () => {
    for (const text of ['zh-hant-tw', 'ZH-HANT-TW', 'zh-Hant-TW'])
      strictEqual(toCanonicalLocale(text), 'zh-Hant-TW');
  });
});

describe('results by locale', () => {
  it('are the last thousand', () => {
    const computed: string[] = [];
    const compute = keepByLocale((locale) => {
      computed.push(locale);
      return locale;
    });
    for (let i = 0; i < 1001; i++) compute(`de-x-a${i}`);
    const before = computed.length;
    for (const locale of ['de-x-a1000', 'de-x-a1', 'de-x-a0', 'de-x-a0']) compute(locale);
    deepStrictEqual(computed.slice(before), ['de-x-a0']);
  });
});
