import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { findPosition } from '../../../src/catalogue/page/fault.ts';
import { checkFiles, isMainPage, isReadable, placeholders } from '../../../src/catalogue/page/rules.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { good, type Pages, toFiles } from '../../support/page-file.ts';
import { botId, mainPage } from '../../support/sample.ts';

const limits = toSettings();
const id = botId('7');

function faultsOf(pages: Pages): string[] {
  return checkFiles(toFiles(id, pages), limits).faults.map(
    ({ path, line, column, rule, message }) => `${path}:${line}:${column} ${rule} ${message}`,
  );
}

describe('the rules of the files of a bot', () => {
  for (const { title, input, expected } of readCases('bots'))
    it(`find ${expected.length} faults in ${title}`, () =>
      deepStrictEqual(faultsOf(JSON.parse(input) as Pages), expected));

  it('refuse a page of more than 20,000 characters', () => {
    deepStrictEqual(faultsOf({ en: mainPage({}, 'é'.repeat(20_000)) }), []);
    deepStrictEqual(faultsOf({ en: mainPage({}, 'é'.repeat(20_001)) }), [
      'bots/007/7.en.md:1:1 maxLength the page below the front matter: the text has 20001 characters: shorten it to at most 20000',
    ]);
  });

  it('name a hundred placeholders of a file with thousands, wherever they are', () => {
    const authors = Array.from({ length: 8000 }, () => placeholders.author);
    const found = checkFiles(toFiles(id, { en: { authors } }), limits).faults;
    strictEqual(found.filter(({ rule }) => rule === 'placeholder').length, 100);
    const text = '\n'.repeat(2 ** 20);
    for (let line = 2 ** 20 - 5000; line < 2 ** 20; line++)
      deepStrictEqual(findPosition(text, line), { line: line + 1, column: 1 });
    deepStrictEqual(findPosition(text, 1), { line: 2, column: 1 });
    deepStrictEqual(findPosition('a\nb', 2), { line: 2, column: 1 });
  });

  it('return the main page, which the only file is, and the files without faults', () => {
    const all = toFiles(id, { en: {}, de: ['Homer', 'Antwortet.'] });
    deepStrictEqual(checkFiles(all, limits), { mainPages: all.slice(0, 1), good: all, faults: [] });
    const only = toFiles(id, { en: ['Homer', 'Answers.'] });
    deepStrictEqual(checkFiles(only, limits).mainPages, only);
    deepStrictEqual(checkFiles([], limits).faults, []);
  });

  it('ask for no main page while a file cannot be read, and count it as one where it was one before', () => {
    const files = toFiles(id, { de: '', en: ['Homer', 'Answers.'], fr: ['Homère', 'Répond.'] });
    const isUnreadable = (file: (typeof files)[number]): boolean => !isReadable(file);
    const { faults, mainPages } = checkFiles(files, limits, isUnreadable);
    deepStrictEqual([faults.map(({ rule }) => rule), mainPages], [['opener'], files.slice(0, 1)]);
    deepStrictEqual(checkFiles(files, limits).faults.length, 1);
  });
});

describe('a main page', () => {
  it('is recognised by any key that only a main page must have, and by no slip in a translation', () => {
    const isMain = (key: string): boolean =>
      isMainPage({ page: good(`---\n{"name": "a", "${key}": 0}\n---\n`) });
    for (const key of ['authors', 'category', 'created', 'invite']) strictEqual(isMain(key), true, key);
    for (const key of ['descripton', 'nsfw', 'website', '__proto__']) strictEqual(isMain(key), false, key);
  });
});
