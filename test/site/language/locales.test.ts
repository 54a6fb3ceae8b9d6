import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import {
  chooseLocale,
  createLanguageNames,
  directionOf,
  findLanguages,
  parseLanguageRanges,
  formatOwnName,
  listWantedRanges,
} from '../../../src/site/language/locales.ts';

const available = ['en', 'fr', 'pt-BR', 'zh-Hant-TW'] as Locale[];
const choose = (requested: string | undefined, accepted = ''): string | undefined =>
  chooseLocale(available, listWantedRanges(requested, accepted));

describe('the language of a page', () => {
  it('is the one that the address asks for', () => strictEqual(choose('fr', 'en'), 'fr'));
  it('is found in any case', () => strictEqual(choose('FR'), 'fr'));
  it('is the best that the browser asks for, by weight', () =>
    strictEqual(choose(undefined, 'de, en;q=0.5, fr;q=0.9'), 'fr'));
  it('is found by a longer tag (RFC 4647, look-up)', () => strictEqual(choose(undefined, 'fr-CA'), 'fr'));
  it('is found by a tag with a script', () =>
    strictEqual(choose(undefined, 'zh-Hant-TW-x-private'), 'zh-Hant-TW'));
  it('is a regional form where there is no other', () => strictEqual(choose(undefined, 'pt'), 'pt-BR'));
  it('is never one of weight 0', () => strictEqual(choose(undefined, 'fr;q=0'), 'en'));
  it('is the default where all are welcome', () => strictEqual(choose(undefined, '*, fr;q=0.1'), 'en'));
  it('is the default where none is there', () => strictEqual(choose('xx', 'ja'), 'en'));
  for (const junk of ['', ';;;', 'q=1', '\u0000', '-', 'a'.repeat(5000), 'en-'.repeat(200), ',,,;q=x']) {
    it(`is the default for ${JSON.stringify(junk.slice(0, 20))}`, () =>
      strictEqual(choose(junk, junk), 'en'));
  }
  it('keeps the order of ranges of one weight', () =>
    deepStrictEqual(parseLanguageRanges('de, fr ;q=0.5, en'), ['de', 'en', 'fr']));
  it('is one of the catalogue, however many ways there are to ask for it', () => {
    const known = ['en', 'en-GB', 'fr', 'de', 'ja', 'ko', 'pt-BR'] as Locale[];
    const find = (accepted: string): string =>
      findLanguages(listWantedRanges(undefined, accepted), known).join(' ');
    for (const accepted of ['en', 'en-US,en;q=0.9', 'EN-ca, sv, *', 'sw,en-US;q=0.7,en;q=0.3'])
      strictEqual(find(accepted), 'en', accepted);
    strictEqual(find('pt-PT,en-GB;q=0.8'), 'pt-BR en-GB');
    strictEqual(find('sw, *'), '');
  });
  it('has a direction', () => {
    deepStrictEqual(['ar', 'he', 'fa-IR', 'ur', 'dv', 'en', 'az', 'az-Arab', 'zh-CN'].map(directionOf), [
      'rtl',
      'rtl',
      'rtl',
      'rtl',
      'rtl',
      'ltr',
      'ltr',
      'rtl',
      'ltr',
    ]);
  });
  it('has a name of its own, and one in other languages', () => {
    strictEqual(formatOwnName('fr'), 'français');
    strictEqual(formatOwnName('xq'), 'xq');
    deepStrictEqual(['de', 'xq'].map(createLanguageNames('fr')), ['allemand', 'xq']);
  });
});
