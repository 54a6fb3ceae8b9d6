import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import type { Locale } from '../../../src/bot/locale.ts';
import { parseLocale } from '../../../src/bot/locale.ts';
import { readStrictJson } from '../../../src/lib/json.ts';
import { localesFolder } from '../../../src/catalogue/settings/settings.ts';
import { type MessageTexts, parseMessages } from '../../../src/site/language/messages.tsx';
import { fixtureLines, readCases } from '../../support/fixture-lines.ts';

function read(name: string): MessageTexts {
  const json = readStrictJson(readFileSync(`${localesFolder}/${name}`, 'utf8'), name);
  ok('data' in json, `${name} is JSON, and has no key twice`);
  return json.data;
}

const english = read('en.json');

/** Groups of texts that are next to each other on a page and have different meanings; `*` is any end. */
const sideBySide = fixtureLines('words-side-by-side.txt').map((line) =>
  line.split(' ').flatMap((key) => {
    const [beginning = '', end] = key.split('*');
    return end === undefined ? [key] : Object.keys(english).filter((other) => other.startsWith(beginning));
  }),
);

/** Texts, each with a word that it must not contain: all bots are reviewed, few are verified; maintainers are not administrators. */
const notWithin = readCases('words-not-within');

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
      for (const { input: text, expected } of notWithin) {
        const [other = ''] = expected;
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

  for (const { title, input, expected } of readCases('message-faults'))
    it(`${title} is a fault, and is not used`, () =>
      strictEqual(faultsOf(JSON.parse(input) as MessageTexts), expected.join('\n')));

  it('that its file lacks is named', () => {
    deepStrictEqual(parseMessages('pl' as Locale, { plain: 'Boty' }, english).missing, ['found', 'page']);
  });
});
