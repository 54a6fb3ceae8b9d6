import { deepStrictEqual, ok, strictEqual, throws } from 'node:assert/strict';
import type { Locale } from '../../../src/bot/locale.ts';
import { validate } from '../../../src/bot/validate.ts';
import { toCanonicalForm, parsePage } from '../../../src/catalogue/page/page.ts';
import {
  assembleCollections,
  parseCollectionPage,
  ensureValid,
} from '../../../src/catalogue/page/side-file.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import type { FieldTexts } from '../../../src/desk/add/fields.ts';
import {
  createForm,
  type Form,
  type FormFile,
  type FormParts,
  type FormRequest,
  formHeads,
  makeFile,
  toEditAgainPath,
} from '../../../src/desk/add/forms.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { testSite } from '../../support/languages.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { accountId, collection, mainPage, pagePath, profile, translation } from '../../support/sample.ts';

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

const bots = new MutableBotIndex();
bots.set(sampleBot('7', { en: ['Seven', 'Answers.'], fr: ['Sept', 'Répond.'] }));
const small = [
  ['small.en.md', collection({ bots: ['7', '8'] }, 'Text.\n')],
  ['small.de.md', collection({ title: 'Klein' })],
] as const;
const parsed = small.map(([name, text]) => {
  return [name, ensureValid(parseCollectionPage(name, Buffer.from(text)))] as const;
});

/** Returns a catalogue with a bot, a collection, and these files by path. */
function partsOf(files: Readonly<Record<string, string>> = {}): FormParts {
  const all: Readonly<Record<string, string>> = {
    ...Object.fromEntries(small.map(([name, text]) => [`collections/${name}`, text])),
    'bots/007/7.en.md': mainPage({}, 'Main.\n'),
    'bots/007/7.fr.md': translation('Sept', 'Répond.'),
    'people/77.json': profile({ description: { en: 'Bakes.' } }),
    ...files,
  };
  return {
    bots,
    collections: { all: assembleCollections(new Map(parsed)).collections },
    readFile: (path) => all[path],
    site: testSite,
  };
}

/** Opens a form in English, for a reader who also writes Italian. */
function openForm(
  kind: Form['kind'],
  mode: Form['mode'],
  request: Partial<FormRequest> = {},
  parts = partsOf(),
): Form {
  const messages = { locale: 'en' as Locale, languageName: (locale: string) => locale };
  const viewer = { id: accountId('77'), name: 'Ada', authenticatedAt: 0 };
  const reader = { subject: '', language: null, viewer, messages: { ...messages, wanted: ['it'] } };
  const head = formHeads.find((one) => one.kind === kind && one.mode === mode);
  ok(head);
  return createForm(parts, head, { ...reader, ...request });
}

const entryOf = (texts: FieldTexts): FormFile => makeFile(partsOf(), openForm('bot', 'add'), texts);

describe('a form', () => {
  for (const { input, expected } of readCases('opened-forms'))
    it(`for ${input} is sent to its path, and has the texts and the path of its file`, () => {
      const [kind, mode, subject = '', language = null] = input.split(' ');
      const [action, json = '', path] = expected;
      const form = openForm(kind as Form['kind'], mode as Form['mode'], { subject, language });
      const texts = { ...form.texts, ...(JSON.parse(json) as object) };
      deepStrictEqual({ ...form, action, texts }, form);
      strictEqual(makeFile(partsOf(), form, form.texts).path, path);
    });

  for (const { input, expected } of readCases('edit-again-paths'))
    it(`${expected[0]} is where ${input} is edited again`, () => {
      const [path = '', ...before] = input.split(' beside ');
      const files = new Map(before.map((other) => [other, '']));
      strictEqual(toEditAgainPath(path, files), `${expected[0]}proposal=${encodeURIComponent(path)}`);
    });

  for (const [what, kind, request, files] of [
    ['a language that the bot does not have', 'bot', { subject: '7', language: 'de' }, {}],
    ['a file that cannot be parsed', 'bot', { subject: '7' }, { 'bots/007/7.en.md': 'x' }],
    ['a profile that cannot be parsed', 'profile', { subject: '77' }, { 'people/77.json': '[' }],
    ['no collection', 'collection', { subject: 'none' }, {}],
  ] as const) {
    it(`is not found for ${what}`, () =>
      throws(() => openForm(kind, 'edit', request, partsOf(files)), { kind: 'not-found' }));
  }
});

describe('the form for a new bot', () => {
  it('makes a file that keeps every rule, at its path, as the formatter writes it', () => {
    const { path, text, faults, missing } = entryOf(whole);
    deepStrictEqual(faults, {});
    deepStrictEqual(missing, []);
    strictEqual(path, 'bots/678/123456789012345678.en.md');
    strictEqual(text, toCanonicalForm(text));
    const { page } = parsePage(path, Buffer.from(text));
    deepStrictEqual(validate('main-page', page?.data), []);
    deepStrictEqual(page?.data['authors'], ['11', '22', '33']);
    deepStrictEqual(page.data['trigger'], { prefix: ['!', 'bw.'], customisable: false, mentionable: true });
    strictEqual(page.data['name'], 'Bookworm');
    strictEqual(page.page, '# Bookworm\n\nText.');
  });

  it('keeps a prefix of several words and the space at its end, and refuses a prefix or a name of more than 32 characters', () => {
    const prefix = ['hey siri ', '@Name#1234 ', 'p'.repeat(32)];
    const { path = '', text, faults } = entryOf({ ...whole, prefix: prefix.join('\r\n') });
    deepStrictEqual(faults, {});
    const { page } = parsePage(path, Buffer.from(text));
    deepStrictEqual(page?.data['trigger'], { prefix, customisable: false, mentionable: true });
    deepStrictEqual(entryOf({ ...whole, prefix: 'p'.repeat(33), name: 'x'.repeat(33) }).faults, {
      prefix: { key: 'fault.prefix' },
      name: { key: 'fault.tooLong', values: { count: 33, limit: 32 } },
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
    strictEqual(missing.length, 4);
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

  it('gives the form in ASCII of a link', () =>
    deepStrictEqual(
      entryOf({ ...whole, website: 'exämple.org', preview: 'https://example.org/ü.png' }).faults,
      {
        website: { key: 'fault.address', values: { address: 'https://xn--exmple-cua.org/' } },
        preview: { key: 'fault.address', values: { address: 'https://example.org/%C3%BC.png' } },
      },
    ));

  it('writes a language in its canonical case', () =>
    strictEqual(entryOf({ ...whole, locale: 'EN-gb' }).path, 'bots/678/123456789012345678.en-GB.md'));

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
});

describe('the form that edits a bot', () => {
  const keys = {
    random: 0.314_159_265_358_979_3,
    codehost: { owner: 'o', repo: 'r' },
    website: 'https://example.org/',
  };
  const edited = (text: string, changes: FieldTexts): FormFile => {
    const parts = partsOf({ [pagePath('7')]: text });
    const form = openForm('bot', 'edit', { subject: '7' }, parts);
    return makeFile(parts, form, { ...form.texts, ...changes });
  };

  it('keeps every byte of a file without a change, also of one that is not formatted', () => {
    for (const text of [mainPage(keys), '---json\r\n{"name":"a",\r\n"authors": ["1"]}\r\n---\r\nx\r\n'])
      strictEqual(edited(text, {}).text, text);
  });

  it('keeps a link that is listed and not in ASCII, and refuses a new one', () => {
    const website = 'https://exämple.org/';
    const text = mainPage({ website });
    deepStrictEqual(edited(text, { description: 'Bakes.' }).faults, {});
    deepStrictEqual(Object.keys(edited(text, { website: `${website}%zz` }).faults), ['website']);
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
      { description: 'b' },
    );
    strictEqual(text, toCanonicalForm(text));
    strictEqual(text.startsWith('---\n{\n  "name": "a",\n  "description": "b",\n'), true);
    strictEqual(text.includes('"created": 1.0,'), true);
  });

  it('keeps the line ends of a page', () =>
    strictEqual(edited(mainPage({}, 'a\r\nb\r\n'), { page: 'a\nc' }).text.endsWith('\r\na\r\nc\r\n'), true));

  it('reports what none of its fields can mend', () => {
    const { faults } = edited(mainPage({ random: 2 }), {});
    strictEqual(faults.page?.key, 'fault.file');
  });
});

describe('the form that adds a language', () => {
  const main = { name: 'Homer', description: 'Answers.', page: '# Homer' };
  const parts = partsOf({ [pagePath('7')]: mainPage(main, main.page) });
  const form = openForm('bot', 'translate', { subject: '7' }, parts);

  it('refuses a language that the bot has, and a description that is not translated', () =>
    deepStrictEqual(makeFile(parts, form, { ...main, locale: 'fr' }).faults, {
      locale: { key: 'fault.hasLanguage' },
      description: { key: 'fault.untranslated' },
    }));
});
