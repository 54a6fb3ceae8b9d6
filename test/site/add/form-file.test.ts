import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import { toCanonicalForm } from '../../../src/catalogue/page/canonical-form.ts';
import { parsePage } from '../../../src/catalogue/page/page.ts';
import { validate } from '../../../src/catalogue/page/schema.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { type FieldTexts } from '../../../src/site/add/fields.ts';
import { type FormFile, makeFile } from '../../../src/site/add/form-file.ts';
import { createBotForm, createEditForm, createTranslationForm } from '../../../src/site/add/forms.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { mainPage, translation } from '../../support/sample.ts';

const whole: FieldTexts = {
  id: ' 123456789012345678 ',
  locale: 'en',
  name: ' Bookworm ',
  description: 'Keeps the reading list.',
  category: 'education',
  authors: '11, 22\n33',
  invite: 'https://example.org/invite',
  preview: 'https://example.org/1.png\r\nhttps://example.org/2.png',
  prefix: '!\r\n  bw.\r\n\r\n',
  mentionable: 'true',
  page: '\r\n# Bookworm\r\n\r\nText.\r\n',
};

const settings = toSettings();
const offered = { languages: [], proposed: '' } as const;
const seven = sampleBot('7', { en: ['Seven', 'Answers.'], fr: ['Sept', 'Répond.'] });
const place = { locale: 'en' as Locale, size: 0, sha: '', tail: 0 };
const bots = { get: (id: string) => (id === '7' ? seven : undefined) };

const entryOf = (texts: FieldTexts): FormFile =>
  makeFile(createBotForm(bots, null, offered), texts, settings);

describe('the form for a new bot', () => {
  it('makes a file that keeps every rule, at its path, as the formatter writes it', () => {
    const { path, text, faults, missing } = entryOf(whole);
    deepStrictEqual(faults, {});
    strictEqual(missing, 0);
    strictEqual(path, 'bots/678/123456789012345678.en.md');
    strictEqual(text, toCanonicalForm(text));
    const { page } = parsePage(path, Buffer.from(text));
    deepStrictEqual(validate('main-page', page?.data), []);
    deepStrictEqual(page?.data['authors'], ['11', '22', '33']);
    deepStrictEqual(page.data['trigger'], { prefix: ['!', 'bw.'], customisable: false, mentionable: true });
    strictEqual(page.data['name'], 'Bookworm');
    strictEqual(page.page, '# Bookworm\n\nText.');
  });

  it('keeps a prefix of several words and the space at its end, and refuses one of more than 32 characters', () => {
    const prefix = ['hey siri ', '@Name#1234 ', 'p'.repeat(32)];
    const { path = '', text, faults } = entryOf({ ...whole, prefix: prefix.join('\r\n') });
    deepStrictEqual(faults, {});
    const { page } = parsePage(path, Buffer.from(text));
    deepStrictEqual(page?.data['trigger'], { prefix, customisable: false, mentionable: true });
    deepStrictEqual(entryOf({ ...whole, prefix: 'p'.repeat(33) }).faults, {
      prefix: { key: 'fault.prefix' },
    });
  });

  it('reports every fault at its field in words of its own, and counts the required fields that are empty', () => {
    const { path, faults, missing } = entryOf({
      id: 'x',
      locale: 'english',
      invite: 'http://example.org',
      avatar: 'x',
      owner: 'a b',
    });
    strictEqual(path, undefined);
    strictEqual(missing, 4);
    deepStrictEqual(faults, {
      id: { key: 'fault.id' },
      locale: { key: 'fault.locale' },
      name: { key: 'fault.name' },
      description: { key: 'fault.description' },
      category: { key: 'fault.category' },
      authors: { key: 'fault.authors' },
      invite: { key: 'fault.link' },
      avatar: { key: 'fault.link' },
      owner: { key: 'fault.repository' },
    });
  });

  it('has six required fields to fill in at first', () => strictEqual(entryOf({ locale: 'en' }).missing, 6));

  it('writes a language in its canonical case', () =>
    strictEqual(entryOf({ ...whole, locale: 'EN-gb' }).path, 'bots/678/123456789012345678.en-GB.md'));

  it('knows the bots that are listed', () =>
    deepStrictEqual(entryOf({ ...whole, id: '7' }).faults, {
      id: { key: 'fault.listed', values: { bot: 'Seven' }, path: '/bots/7' },
    }));

  it('takes any text without making another file of it', () => {
    for (const page of ['---js\nx', '---\n{}\n---', '\u0000', '<<<<<<< a', '"\\ud800"', '`'.repeat(20_000)]) {
      const { text } = entryOf({ ...whole, name: '"}\n---\n', page });
      strictEqual(text.startsWith('---\n{\n  "name": "\\"}\\n---",\n'), true);
    }
  });

  for (const [what, page] of [
    ['a NUL', 'a\u0000b'],
    ['a merge conflict', '<<<<<<< ours\na\n=======\nb\n>>>>>>> theirs'],
  ] as const) {
    it(`refuses a page with ${what}, as the check does`, () => {
      const { path = '', text, faults } = entryOf({ ...whole, page });
      const reason = parsePage(path, Buffer.from(text)).faults[0]?.message;
      deepStrictEqual(faults, { page: { key: 'fault.file', values: { reason } } });
    });
  }

  it('keeps the indentation of the first line, which makes it code', () =>
    strictEqual(entryOf({ ...whole, page: '\r\n    code\r\n' }).text.endsWith('\n---\n\n    code\n'), true));

  it('says how long a text is that is too long', () => {
    const { faults } = entryOf({ ...whole, page: 'x'.repeat(20_001), name: 'x'.repeat(33) });
    deepStrictEqual(faults, {
      page: { key: 'fault.tooLong', values: { count: 20_001, limit: 20_000 } },
      name: { key: 'fault.tooLong', values: { count: 33, limit: 32 } },
    });
  });
});

describe('the form that edits a bot', () => {
  const keys = {
    random: 0.314_159_265_358_979_3,
    codehost: { owner: 'o', repo: 'r' },
    website: 'https://example.org/',
  };
  const edited = (text: string, changes: FieldTexts, isMain = true): FormFile => {
    const files = [{ ...place, main: isMain }];
    const form = createEditForm({ ...seven, files }, isMain ? null : 'en', () => text);
    return makeFile(form, { ...form.texts, ...changes }, settings);
  };

  it('keeps every byte of a file without a change, also of one that is not formatted', () => {
    for (const text of [mainPage(keys), '---json\r\n{"name":"a",\r\n"authors": ["1"]}\r\n---\r\nx\r\n'])
      strictEqual(edited(text, {}).text, text);
  });

  it('changes only what its fields change, as the formatter writes it', () => {
    const before = toCanonicalForm(mainPage(keys, '# Homer\n\nThe page.\n'));
    const { text, faults } = edited(before, {
      description: 'Bakes.',
      owner: '',
      page: '# Homer\r\n\r\nMore.',
    });
    deepStrictEqual(faults, {});
    strictEqual(
      text,
      before
        .replace('Answers questions about doughnuts.', 'Bakes.')
        .replace('"owner": "o"', '"owner": null')
        .replace('The page.', 'More.'),
    );
    strictEqual(text, toCanonicalForm(text));
  });

  it('formats a file that it changes, and puts new keys in their order', () => {
    const { text } = edited(
      '---\n{"invite":"https://example.org/i","authors":["1"],"category":"fun",\n"created":1.0,"name":"a"}\n---\nx',
      {
        description: 'b',
      },
    );
    strictEqual(text, toCanonicalForm(text));
    strictEqual(text.startsWith('---\n{\n  "name": "a",\n  "description": "b",\n'), true);
    strictEqual(text.includes('"created": 1.0,'), true);
  });

  it('keeps the line ends of a page', () =>
    strictEqual(edited(mainPage({}, 'a\r\nb\r\n'), { page: 'a\nc' }).text.endsWith('\r\na\r\nc\r\n'), true));

  it('edits a translation, which has a name, a description and a page', () => {
    const before = toCanonicalForm(translation('Homère', 'Répond.', 'Bonjour.\n'));
    const { text, faults } = edited(before, { name: 'Homer' }, false);
    deepStrictEqual(faults, {});
    strictEqual(text, before.replace('Homère', 'Homer'));
  });

  it('reports what none of its fields can mend', () => {
    const { faults } = edited(mainPage({ random: 2 }), {});
    strictEqual(faults.page?.key, 'fault.file');
  });
});

describe('the form that adds a language', () => {
  const main = { name: 'Homer', description: 'Answers.', page: '# Homer' };
  const text = toCanonicalForm(translation(main.name, main.description, main.page));
  const bot = { ...seven, files: [{ ...place, main: true }] };
  const form = createTranslationForm(bot, null, () => text, offered);

  it('makes a translation as the formatter writes it', () => {
    const { path, text, faults } = makeFile(
      form,
      { ...main, locale: 'de', description: 'Antwortet.' },
      settings,
    );
    deepStrictEqual(faults, {});
    strictEqual(path, 'bots/007/7.de.md');
    strictEqual(text, '---\n{\n  "name": "Homer",\n  "description": "Antwortet."\n}\n---\n\n# Homer\n');
    strictEqual(text, toCanonicalForm(text));
  });

  it('refuses a language that the bot has, and a description that is not translated', () =>
    deepStrictEqual(makeFile(form, { ...main, locale: 'fr' }, settings).faults, {
      locale: { key: 'fault.hasLanguage' },
      description: { key: 'fault.untranslated' },
    }));
});
