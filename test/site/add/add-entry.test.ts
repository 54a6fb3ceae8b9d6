import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { parsePage } from '../../../src/catalogue/page/page.ts';
import { validate } from '../../../src/catalogue/page/schema.ts';
import { type AddEntry, addEntry } from '../../../src/site/add/add-entry.ts';
import type { FieldTexts } from '../../../src/site/add/add-fields.ts';

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

const entryOf = (texts: FieldTexts): AddEntry => addEntry(texts, 1_700_000_000_000, (id) => id === '7');

describe('the form for a new bot', () => {
  it('comes to a file that keeps every rule, at its path', () => {
    const { path, text, faults } = entryOf(whole);
    deepStrictEqual(faults, {});
    strictEqual(path, 'bots/678/123456789012345678.en.md');
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
    match(entryOf({ ...whole, prefix: 'p'.repeat(33) }).faults.prefix ?? '', /at most 32$/);
  });

  it('tells every fault at its field', () => {
    const { path, faults } = entryOf({
      id: 'x',
      locale: 'EN',
      invite: 'http://example.org',
      avatar: 'x',
      owner: 'a b',
    });
    strictEqual(path, undefined);
    deepStrictEqual(Object.keys(faults).toSorted(), [
      'authors',
      'avatar',
      'category',
      'description',
      'id',
      'invite',
      'locale',
      'name',
      'owner',
    ]);
    match(faults.locale ?? '', /: write en$/);
    match(faults.category ?? '', /^choose/i);
  });

  it('knows the bots that are listed', () =>
    match(entryOf({ ...whole, id: '7' }).faults.id ?? '', /already/));

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
      const [fault] = parsePage(path, Buffer.from(text)).faults;
      deepStrictEqual(faults, { page: fault?.message });
    });
  }

  it('keeps the indentation of the first line, which makes it code', () =>
    match(entryOf({ ...whole, page: '\r\n    code\r\n' }).text, /\n---\n\n {4}code\n$/));

  it('refuses a page that is too long', () =>
    match(entryOf({ ...whole, page: 'x'.repeat(20_001) }).faults.page ?? '', /at most 20000/));
});
