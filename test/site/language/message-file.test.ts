import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { Locale } from '../../../src/bot/locale.ts';
import { parseLocale } from '../../../src/bot/locale.ts';
import { readStrictJson } from '../../../src/lib/json.ts';
import { localesFolder } from '../../../src/catalogue/settings/settings.ts';
import { type MessageTexts, parseMessages } from '../../../src/site/language/messages.tsx';

function read(name: string): MessageTexts {
  const json = readStrictJson(readFileSync(`${localesFolder}/${name}`, 'utf8'), name);
  ok('data' in json, `${name} is JSON, and has no key twice`);
  return json.data;
}

const english = read('en.json');

const keysOf = (beginning: string): string[] =>
  Object.keys(english).filter((key) => key.startsWith(beginning));

/** Groups of texts that are next to each other on a page and have different meanings. */
const sideBySide = [
  [...keysOf('category.'), 'bot.manage', 'list.allCategories'],
  keysOf('list.category.'),
  keysOf('permission.'),
  ['permissions.server', 'permissions.members', 'permissions.messages', 'permissions.everything'],
  keysOf('permissions.to.'),
  keysOf('sort.'),
  ['shelf.popular', 'shelf.growing', 'shelf.newest', 'shelf.edited'],
  ['bot.serverCount', 'bot.category', 'bot.howToUse', 'bot.source', 'bot.edited', 'bot.language'],
  ['bot.edit', 'bot.translate', 'bot.history', 'bot.report', 'bot.json', 'bot.badge', 'bot.manage'],
  keysOf('report.reason.'),
  ['bot.invite', 'bot.support', 'bot.website'],
  keysOf('field.').filter((key) => key !== 'field.page'),
];

/** Texts, each with a word that it must not contain: all bots are reviewed, few are verified; maintainers are not administrators. */
const notWithin = [
  ['front.line', 'bot.verified'],
  ['bot.verifiedText', 'permission.administrator'],
  ['add.introduction', 'permission.administrator'],
  ['edit.introduction', 'permission.administrator'],
  ['translate.introduction', 'permission.administrator'],
] as const;

describe('the files of the interface', () => {
  for (const name of readdirSync(localesFolder)) {
    const tag = name.replace(/\.json$/, '');

    it(`are whole: ${name} has every key, placeholder and plural category`, () => {
      strictEqual(parseLocale(tag), tag);
      const { faults, missing } = parseMessages(tag as Locale, read(name), english);
      deepStrictEqual(faults, []);
      deepStrictEqual(missing, [], '"npm run locales" prints the English texts');
    });

    it(`have their keys in the order of the English file: ${name}`, () => {
      const texts = read(name);
      deepStrictEqual(
        Object.keys(texts),
        Object.keys(english).filter((key) => Object.hasOwn(texts, key)),
      );
    });

    it(`have different words for what stands side by side on a page: ${name}`, () => {
      const texts = read(name);
      const word = (key: string): string => String(texts[key]).toLocaleLowerCase(tag);
      for (const keys of sideBySide)
        deepStrictEqual(
          keys.filter((key, i) => keys.findIndex((other) => word(other) === word(key)) !== i),
          [],
          'these have a word that an earlier one of their group has',
        );
      for (const [text, other] of notWithin) {
        // The common stem of two forms of a word: "verificato" in "verificati".
        const stem = word(other).slice(0, Math.max(2, Math.ceil(word(other).length * 0.7)));
        ok(!word(text).includes(stem), `${text} has the word of ${other}: ${word(text)}`);
      }
    });
  }
});

describe('a message', () => {
  const english = {
    found: '{count, plural, one {# bot} other {# bots}} for {query}',
    plain: 'Bots',
    page: 'Page {page, number}',
  };
  const faultsOf = (texts: MessageTexts, locale = 'pl'): string => {
    const { faults, messages } = parseMessages(locale as Locale, texts, english);
    strictEqual(messages.size, 0, 'it is not used');
    return faults.join('\n');
  };

  const wrong: Readonly<Record<string, readonly [MessageTexts, RegExp]>> = {
    'that lacks a placeholder': [
      { page: 'Strona' },
      /pl\.json: "page" lacks the placeholder \{page, number\}/,
    ],
    'that writes a number as it is': [{ page: 'Strona {page}' }, /lacks the placeholder \{page, number\}/],
    'with a placeholder that English does not have': [
      { plain: 'Boty {name}' },
      /has \{name\}, which English does not have/,
    ],
    'that lacks a plural category of its language': [
      { found: '{count, plural, one {# bot} other {# bota}} dla {query}' },
      /plural categories for \{count\}.*write few, many, one, other/,
    ],
    'with a plural category that its language does not have': [
      { found: '{count, plural, zero {x} one {#} few {#} many {#} other {#}} {query}' },
      /plural categories/,
    ],
    'that is not closed': [{ plain: 'Boty {' }, /is not in ICU MessageFormat/],
    'that is empty': [{ plain: ' ' }, /is not a text/],
    'that is not a text': [{ plain: ['Boty'] }, /is not a text/],
    'with a key that English does not have': [{ other: 'Boty' }, /is not a key of locales\/en\.json/],
    'with the name of a property of every object': [{ constructor: 'Boty' }, /is not a key/],
  };
  for (const [name, [texts, reason]] of Object.entries(wrong))
    it(`${name} is a fault, and is not used`, () => match(faultsOf(texts), reason));

  it('that its file lacks is named', () => {
    deepStrictEqual(parseMessages('pl' as Locale, { plain: 'Boty' }, english).missing, ['found', 'page']);
  });
});
