import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { type Locale, chooseLocale, directionOf, findLanguages } from '../../../src/bot/locale.ts';
import { createLanguageNames, formatOwnName } from '../../../src/site/language/messages.tsx';
import { parseLanguageRanges, listWantedRanges } from '../../../src/site/language/languages.ts';
import { readCases } from '../../support/fixture-lines.ts';

const available = ['en', 'fr', 'pt-BR', 'zh-Hant-TW'] as Locale[];
const choose = (requested: string | undefined, accepted = ''): string | undefined =>
  chooseLocale(available, listWantedRanges(requested, accepted));

describe('the language of a page', () => {
  for (const { title, input, expected } of readCases('page-languages')) {
    const [requested, accepted] = input.split(' | ').map((text) => (text === '-' ? undefined : text));
    it(`is ${title}`, () => strictEqual(choose(requested, accepted), expected[0]));
  }
  for (const junk of ['', ';;;', 'q=1', '\u0000', '-', 'a'.repeat(5000), 'en-'.repeat(200), ',,,;q=x'])
    it(`is the default for ${JSON.stringify(junk.slice(0, 20))}`, () =>
      strictEqual(choose(junk, junk), 'en'));
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
    for (const tag of ['ar', 'he', 'fa-IR', 'ur', 'dv', 'az-Arab']) strictEqual(directionOf(tag), 'rtl', tag);
    for (const tag of ['en', 'az', 'zh-CN']) strictEqual(directionOf(tag), 'ltr', tag);
  });
  it('has a name of its own, and one in other languages', () => {
    strictEqual(formatOwnName('fr', ['fr']), 'français');
    strictEqual(formatOwnName('xq', []), 'xq');
    const nameOf = createLanguageNames('fr');
    deepStrictEqual([nameOf('de'), nameOf('xq'), nameOf('en-US')], ['allemand', 'xq', 'anglais américain']);
  });
  it('has a name without a region or a script where no other of its kind is listed', () => {
    const tags = ['en-US', 'pt-BR', 'sr-Latn', 'zh-CN', 'zh-TW'];
    deepStrictEqual(
      tags.map((tag) => createLanguageNames('de')(tag, tags)),
      ['Englisch', 'Portugiesisch', 'Serbisch', 'Chinesisch (China)', 'Chinesisch (Taiwan)'],
    );
    strictEqual(formatOwnName('pt-BR', tags), 'português');
  });
});
