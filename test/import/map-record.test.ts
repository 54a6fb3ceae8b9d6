import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import type { Locale } from '../../src/bot/locale.ts';
import type { ImportMap } from '../../src/bot/schema-types.ts';
import { validate } from '../../src/catalogue/page/schema.ts';
import { type MappedBot, mapRecord, readExported } from '../../src/import/map-record.ts';
import { mainPage, pagePath } from '../support/sample.ts';

function map(rules: Partial<ImportMap>, fields: Readonly<Record<string, unknown>>): MappedBot {
  const whole: ImportMap = { id: 'id', ...rules };
  deepStrictEqual(validate('import-map', whole), []);
  return mapRecord(whole, { id: '7', ...fields }, 'de' as Locale);
}

/** The front matter of the one page that a record becomes. */
function dataOf(rules: Partial<ImportMap>, fields: Readonly<Record<string, unknown>>): unknown {
  return JSON.parse(map(rules, fields).files[0]?.text.split('\n---\n')[0]?.replace('---\n', '') ?? '');
}

describe('a mapping', () => {
  it('reads a field by its name, at a path, or in every entry of a list', () => {
    const fields = { 'a.b': 'Dot', a: { c: [{ d: 'Deep' }] }, owners: [{ id: 1 }, { id: 2n }, {}] };
    const rules = { name: 'a.b', description: 'a.c[0].d', authors: 'owners[].id' };
    deepStrictEqual(dataOf(rules, fields), { name: 'Dot', description: 'Deep', authors: ['1', '2'] });
  });

  it('leaves out what is empty, and fills in what else is said', () => {
    const fields = { a: ' ', b: [], c: null };
    const rules = {
      website: 'a',
      authors: 'b',
      support: 'c',
      name: { from: 'd', else: 'E' },
      nsfw: { else: false },
    };
    deepStrictEqual(dataOf(rules, fields), { name: 'E', nsfw: false });
  });

  it('translates values, also those of a list', () => {
    const rule = { values: { x: 'music' }, else: 'other' };
    deepStrictEqual(dataOf({ category: { from: 'a', ...rule } }, { a: 'x' }), { category: 'music' });
    deepStrictEqual(dataOf({ category: { from: 'a', ...rule } }, { a: 'y' }), { category: 'other' });
    const kept = { from: 'a', values: { x: '1' } };
    deepStrictEqual(dataOf({ authors: kept }, { a: ['x', 'y'] }), { authors: ['1', 'y'] });
  });

  it('splits lists, and puts values into keys inside each other', () => {
    const rules = { authors: { from: 'o', split: ',' }, 'images.avatar': 'i', 'images.preview': 'p' };
    deepStrictEqual(dataOf(rules, { o: '1, 2,,', i: 'https://a.example/', p: 'https://b.example/' }), {
      authors: ['1', '2'],
      images: { avatar: 'https://a.example/', preview: ['https://b.example/'] },
    });
  });

  it('fills in templates, escaped in addresses, and none that lacks a field', () => {
    const rules = {
      id: 'bot',
      invite: { template: 'https://a.example/{id}?{x.y}' },
      support: { template: '{z}' },
    };
    const fields = { bot: 8, x: { y: 'a&b' } };
    deepStrictEqual(dataOf(rules, fields), { invite: 'https://a.example/8?a%26b' });
  });

  it('reads dates, seconds and milliseconds, and keeps what is no time for the rules to refuse', () => {
    const times = [
      ['2023-04-05', 1_680_652_800_000],
      ['2023-04-05 06:07:08', 1_680_674_828_000],
      ['2023-04-05T06:07:08.900+02:00', 1_680_667_628_900],
      [1_680_652_800, 1_680_652_800_000],
      ['1680652800000', 1_680_652_800_000],
      ['4/5/2023', '4/5/2023'],
    ] as const;
    for (const [value, created] of times)
      deepStrictEqual(dataOf({ created: 'a' }, { a: value }), { created });
  });

  it('uses the time of the import where a record has none', () => {
    const before = Date.now();
    const { created } = dataOf({ created: { from: 'a', else: 'now' } }, {}) as { created: number };
    ok(created >= before && created <= Date.now());
    deepStrictEqual(dataOf({ edited: 'a' }, { a: 'now' }), { edited: 'now' });
  });

  it('takes nothing from a column without a name where a rule names no field', () => {
    const rules = { name: { else: 'A' }, locale: { else: 'fr' } };
    const { files, refusals } = map(rules, { '': '0' });
    deepStrictEqual([files[0]?.locale, refusals], ['fr', []]);
    deepStrictEqual(dataOf(rules, { '': '0' }), { name: 'A' });
    strictEqual(map({}, { '': '0' }).files[0]?.locale, 'de');
  });

  it('puts the page below in the language of its field, of the mapping, or of the catalogue', () => {
    const localeOf = (locale: ImportMap['locale'], fields: object): string | undefined =>
      map({ ...(locale !== undefined && { locale }) }, { ...fields }).files[0]?.locale;
    deepStrictEqual(
      [localeOf('l', { l: 'PT-br' }), localeOf('fr', {}), localeOf(undefined, {})],
      ['pt-BR', 'fr', 'de'],
    );
    match(map({ page: 'p' }, { p: '\r\n# A\r\nB \n' }).files[0]?.text ?? '', /\n---\n\n# A\nB\n$/);
    match(map({}, { body: 'C' }).files[0]?.text ?? '', /\n---\n\nC\n$/);
    match(map({}, {}).files[0]?.text ?? '', /\n---\n$/);
  });

  it('refuses an id and a language that are none, both at once', () => {
    const { refusals } = map({ locale: { from: 'l' } }, { id: '../7', l: 'english' });
    deepStrictEqual(
      refusals.map(({ rule }) => rule),
      ['id', 'locale'],
    );
  });

  it('refuses what is larger than a page file before it is formatted @slow', () => {
    const rules = { authors: { from: 'a', split: ',' } };
    throws(() => map(rules, { a: '1,'.repeat(4_000_000) }), /more than 262144 bytes/);
  });

  it('takes nothing from what every object has', () => {
    const fields = JSON.parse('{"__proto__": {"x": "1"}}') as Record<string, unknown>;
    deepStrictEqual(dataOf({ name: 'constructor.name', description: 'x', website: '__proto__.x' }, fields), {
      website: '1',
    });
    deepStrictEqual(dataOf({ category: { from: 'a', values: {} } }, { a: 'toString' }), {
      category: 'toString',
    });
  });

  it('is refused with the name of the key', () => {
    const faults = validate('import-map', { nmae: 'a', category: { form: 'a' }, name: 5 });
    deepStrictEqual(faults.map(({ place, keyword }) => `${place.join('.')} ${keyword}`).toSorted(), [
      ' required',
      'category.form additionalProperties',
      'name type',
      'nmae additionalProperties',
    ]);
    match(
      faults.find(({ keyword }) => keyword === 'type')?.message ?? '',
      /write a text in quotes or an object in \{ \}/,
    );
  });
});

describe('a line of an export', () => {
  it('has the files of one bot as they are', () => {
    const files = [{ path: pagePath('7'), text: mainPage() }];
    strictEqual(readExported({ files })?.files[0]?.text, mainPage());
    for (const other of [
      [],
      [null],
      [{ path: '../x', text: '' }],
      [{ path: pagePath('7') }],
      [...files, { path: pagePath('8'), text: '' }],
      5,
    ])
      strictEqual(readExported({ files: other }), undefined);
  });
});
