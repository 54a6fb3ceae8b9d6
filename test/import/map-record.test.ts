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

  it('reads dates, seconds and milliseconds', () => {
    const times = [
      ['2023-04-05', 1_680_652_800_000],
      ['2023-04-05 06:07:08', 1_680_674_828_000],
      ['2023-04-05T06:07:08.900+02:00', 1_680_667_628_900],
      [1_680_652_800, 1_680_652_800_000],
      ['1680652800000', 1_680_652_800_000],
    ] as const;
    for (const [value, created] of times)
      deepStrictEqual(dataOf({ created: 'a' }, { a: value }), { created });
  });

  it('refuses a date in no certain form, with the forms that are', () => {
    const { refusals } = map({ created: 'a' }, { a: '4/5/2023' });
    match(refusals[0]?.message ?? '', /^created: "4\/5\/2023" is not a date from 2015 .*: write 2023-04-05/);
    strictEqual(refusals[0]?.rule, 'date');
  });

  it('refuses ids that are numbers which were rounded, and takes those that are exact', () => {
    const large = 190_519_304_972_663_300;
    for (const id of [large, 1.9e17, '1.90519E+17', '1,90519e+17', '190519304972663300.0'])
      deepStrictEqual(
        map({ authors: 'id' }, { id }).refusals.map(({ rule, message }) => `${rule} ${message.slice(0, 3)}`),
        ['rounded id:', 'rounded aut'],
        `${id}`,
      );
    match(map({}, { id: large }).refusals[0]?.message ?? '', /has rounded it, export it as text/);
    for (const id of [7, 7n, 190_519_304_972_663_312n, '190519304972663312'])
      deepStrictEqual(map({}, { id }).refusals, []);
  });

  it('removes the text that is before ids', () => {
    const strip = 'discord:';
    const rules = { id: { from: 'a', strip }, authors: { from: 'b', split: ',', strip } };
    const bot = map(rules, { a: 'discord:8', b: 'discord:1, 2' });
    strictEqual(bot.files[0]?.id, '8');
    deepStrictEqual(dataOf(rules, { a: 'discord:8', b: 'discord:1, 2' }), { authors: ['1', '2'] });
  });

  it('leaves out a value that is not allowed where the mapping says so', () => {
    const invalid = 'leave out';
    const rules: Partial<ImportMap> = {
      name: 'n',
      website: { from: 'w', invalid },
      edited: { from: 'e', invalid },
      'images.avatar': { from: 'i', invalid },
      support: 'w',
    };
    const fields = { n: 'A', w: 'javascript:x', i: 'ftp://a', e: 'soon' };
    deepStrictEqual(dataOf(rules, fields), { name: 'A', support: 'javascript:x' });
    const { leftOut, refusals } = map(rules, fields);
    deepStrictEqual(leftOut.map(({ rule, message }) => `${rule} ${message.split(':', 1)[0]}`).toSorted(), [
      'left-out edited',
      'left-out images.avatar',
      'left-out website',
    ]);
    deepStrictEqual(refusals, []);
  });

  it('makes a page of each entry of a list that has the locale', () => {
    const rules = {
      name: 'contents[].name',
      locale: 'contents[].locale',
      page: 'contents[].text',
      nsfw: 'nsfw',
    };
    const contents = [
      { locale: 'en', name: 'A' },
      { locale: 'fr', name: 'B', text: 'Bonjour' },
    ];
    const { files, refusals } = map(rules, { contents, nsfw: true });
    deepStrictEqual(refusals, []);
    deepStrictEqual(
      files.map(({ locale, page }) => [locale, page?.data, page?.page]),
      [
        ['en', { name: 'A', nsfw: true }, ''],
        ['fr', { name: 'B' }, 'Bonjour'],
      ],
    );
    const double = map(rules, { contents: [...contents, { locale: 'fr', name: 'C' }] });
    deepStrictEqual(
      double.refusals.map(({ message }) => message),
      ['locale: two pages are in fr: remove one'],
    );
  });

  it('fills in a template where a field is empty', () => {
    const rule = { from: 'a', template: 'https://a.example/{id}' };
    deepStrictEqual(dataOf({ invite: rule }, {}), { invite: 'https://a.example/7' });
    deepStrictEqual(dataOf({ invite: rule }, { a: 'https://b.example/' }), { invite: 'https://b.example/' });
  });

  it('uses the time of the import where a record has none', () => {
    const before = Date.now();
    const { created } = dataOf({ created: { from: 'a', else: 'now' } }, {}) as { created: number };
    ok(created >= before && created <= Date.now());
    deepStrictEqual(map({ edited: 'a' }, { a: 'now' }).refusals[0]?.rule, 'date');
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
