import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import type { PageFile } from '../../../src/catalogue/page/page-file.ts';
import { parsePagePath } from '../../../src/catalogue/page/layout.ts';
import { parsePage } from '../../../src/catalogue/page/page.ts';
import { computeBlobId } from '../../../src/git/objects/objects.ts';
import { checkFiles, isMainPage, type ReadablePage } from '../../../src/catalogue/page/rules.ts';
import { mainPage, pagePath, translation } from '../../support/sample.ts';

const limits = toSettings();

/** A page file with this text, as if it had been read. */
function pageFile(text: string, locale = 'en', id = '7'): ReadablePage {
  const path = pagePath(id, locale);
  const place = parsePagePath(path);
  const { page, faults } = parsePage(path, Buffer.from(text));
  if (place === undefined || page === undefined) throw new Error(`no page: ${text}`);
  const bytes = Buffer.from(text);
  return { ...place, path, size: bytes.length, sha: computeBlobId(bytes, 'sha1'), tail: 0, page, faults };
}

function told(file: ReadablePage, main: boolean): string[] {
  return checkFiles(main ? [file] : [pageFile(mainPage(), 'de'), file], limits).faults.map(
    ({ path, line, column, rule, message }) => `${path}:${line}:${column} ${rule} ${message}`,
  );
}

describe('the rules of one page', () => {
  it('hold of a good main page and a good translation', () => {
    deepStrictEqual(told(pageFile(mainPage()), true), []);
    deepStrictEqual(told(pageFile(translation('Homère', 'Répond.')), false), []);
  });

  it('name the place of a value, in the list it stands in', () => {
    deepStrictEqual(told(pageFile(mainPage({ images: { preview: ['https://a', 'b'] } })), true), [
      'bots/007/7.en.md:14:7 pattern images.preview[1]: "b" is not allowed: write an absolute https:// address without spaces, user name or password',
    ]);
  });

  it('name the place of a key nobody knows by the key', () => {
    deepStrictEqual(told(pageFile('---\n{"name": "a", "description": "b",\n  "nsfw": true}\n---\n'), false), [
      'bots/007/7.en.md:3:3 additionalProperties nsfw: "nsfw" is not a key here: remove it; the keys are name or description',
    ]);
  });

  it('name the front matter where a key is missing', () => {
    deepStrictEqual(told(pageFile('---\n{"name": "a"}\n---\n'), false), [
      'bots/007/7.en.md:2:1 required "description" is missing: add it',
    ]);
  });

  it('quote a key that could be taken for something else', () => {
    const file = pageFile('---\n{"name": "a", "description": "b", "x.y\\n": 1}\n---\n');
    deepStrictEqual(told(file, false), [
      'bots/007/7.en.md:2:35 additionalProperties "x.y\\n": "x.y\\n" is not a key here: remove it; the keys are name or description',
    ]);
  });

  it('refuse a time of edit before that of creation', () => {
    deepStrictEqual(told(pageFile(mainPage({ edited: 5 })), true), [
      'bots/007/7.en.md:11:13 edited edited is before created (1700000000000): use a later time, or leave it out',
    ]);
    deepStrictEqual(told(pageFile(mainPage({ edited: 1_700_000_000_000 })), true), []);
  });

  it('refuse a page of more than 20,000 characters', () => {
    deepStrictEqual(told(pageFile(mainPage({}, 'é'.repeat(20_000))), true), []);
    deepStrictEqual(told(pageFile(mainPage({}, 'é'.repeat(20_001))), true), [
      'bots/007/7.en.md:1:1 maxLength the page below the front matter: the text has 20001 characters: shorten it to at most 20000',
    ]);
  });
});

describe('a main page', () => {
  it('is recognised by any key that only a main page must have', () => {
    for (const key of ['authors', 'category', 'created', 'invite'])
      strictEqual(isMainPage(pageFile(`---\n{"name": "a", "${key}": 0}\n---\n`)), true, key);
  });

  it('is not recognised by a slip in a translation', () => {
    for (const key of ['descripton', 'nsfw', 'website', '__proto__'])
      strictEqual(isMainPage(pageFile(`---\n{"name": "a", "${key}": 0}\n---\n`)), false, key);
  });
});

describe('the rules of one bot', () => {
  /** A file for each locale, main pages first, then translations. */
  const files = (mainPages: readonly string[], translations: readonly string[]): readonly PageFile[] => [
    ...mainPages.map((locale) => pageFile(mainPage(), locale)),
    ...translations.map((locale) => pageFile(translation('Homer', 'Answers.'), locale)),
  ];
  const reported = (all: readonly PageFile[]): string[] =>
    checkFiles(all, limits).faults.map(({ path, rule, message }) => `${path} ${rule} ${message}`);
  const unreadable = { ...pageFile(mainPage(), 'de'), page: undefined };

  it('hold when exactly one file is the main page', () => {
    const all = files(['en'], ['de', 'fr']);
    deepStrictEqual(checkFiles(all, limits), { mainPages: all.slice(0, 1), good: all, faults: [] });
    deepStrictEqual(reported([]), []);
  });

  it('take the only file for the main page', () => {
    const [only] = files([], ['en']);
    deepStrictEqual(checkFiles(only ? [only] : [], limits).mainPages, [only]);
    match(reported(only ? [only] : []).join(), /7\.en\.md required "authors" is missing/);
  });

  it('ask for a main page where there is none', () => {
    deepStrictEqual(reported(files([], ['de', 'fr'])), [
      'bots/007/7.de.md one-main-page 7 has no main page: one of its files needs authors, category, created and invite too',
    ]);
  });

  it('name in each of two main pages the other', () => {
    deepStrictEqual(reported(files(['de', 'en'], ['fr'])), [
      'bots/007/7.de.md one-main-page bots/007/7.en.md is a main page too: keep the shared keys in one file, name and description only in the others',
      'bots/007/7.en.md one-main-page bots/007/7.de.md is a main page too: keep the shared keys in one file, name and description only in the others',
    ]);
  });

  it('ask for no main page while a file cannot be read, and count it as one where it was one before', () => {
    const others = files([], ['en', 'fr']);
    deepStrictEqual(reported([unreadable, ...others]), []);
    deepStrictEqual(checkFiles([unreadable, ...others], limits, (file) => file === unreadable).mainPages, [
      unreadable,
    ]);
  });
});
