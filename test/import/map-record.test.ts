import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import type { ImportMap } from '../../schemas/types.ts';
import type { Locale } from '../../src/bot/locale.ts';
import { validate } from '../../src/bot/validate.ts';
import { type MappedBot, mapRecord, readExported } from '../../src/import/map-record.ts';
import { readCases } from '../support/fixture-lines.ts';
import { mainPage, pagePath } from '../support/sample.ts';

type Fields = Readonly<Record<string, unknown>>;

function map(rules: Partial<ImportMap>, fields: Fields): MappedBot {
  const whole: ImportMap = { id: 'id', ...rules };
  deepStrictEqual(validate('import-map', whole), []);
  return mapRecord(whole, { id: '7', ...fields }, 'de' as Locale);
}

/** Returns the id, the language, the front matter and the page of each file, what is refused and what is remarked. */
function describeBot({ files, refusals, remarks }: MappedBot): string[] {
  return [
    ...files.map(({ id, locale, text }) => {
      const [json = '', page] = text.replace('---\n', '').split('\n---\n');
      return `${id} ${locale} ${JSON.stringify(JSON.parse(json))} ${JSON.stringify(page)}`;
    }),
    ...refusals.map(({ rule, message }) => `refused: ${rule} ${message}`),
    ...remarks.map(({ rule, message }) => `${rule}: ${message}`),
  ];
}

describe('a mapping', () => {
  for (const { title, input, expected } of readCases('import-maps'))
    it(title, () => {
      const [rules, fields] = input.split(' ← ').map((json) => JSON.parse(json) as Fields);
      deepStrictEqual(describeBot(map(rules ?? {}, fields ?? {})), expected);
    });

  it('has the time of the import where a record has no time in a certain form, which is refused', () => {
    const before = Date.now();
    const bots = [
      map({ created: { from: 'a', else: 'now' } }, {}),
      map({ created: 'a' }, { a: '4/5/2023' }),
      map({ edited: 'a' }, { a: 'now' }),
    ];
    for (const { files } of bots) {
      const [time] = Object.values(files[0]?.page?.data ?? {});
      ok(Number(time) >= before && Number(time) <= Date.now());
    }
    deepStrictEqual(
      bots.map(({ refusals }) => refusals.map(({ rule, message }) => `${rule} ${message.slice(0, 33)}`)),
      [[], ['date created: "4/5/2023" is not a date'], ['date edited: "now" is not a date from ']],
    );
  });

  it('writes addresses with invisible characters in ASCII, however many there were before', () => {
    // Parsed texts are flat, which the fast parser of addresses needs to fail.
    for (let i = 0; i < 20_000; i++) URL.canParse(JSON.parse(`"https://a${i}.example/"`) as string);
    const addresses = ['https://ex\u200Bample.org/\u202Ex', 'https://exämple.org/'];
    const fields = JSON.parse(JSON.stringify({ addresses })) as Fields;
    const { files } = map({ website: 'addresses[0]', support: 'addresses[1]' }, fields);
    deepStrictEqual(files[0]?.page?.data, {
      support: 'https://xn--exmple-cua.org/',
      website: 'https://example.org/x',
    });
  });

  it('takes the digits of ids that are numbers of any size', () => {
    const id = 190_519_304_972_663_312n;
    deepStrictEqual(describeBot(map({ authors: 'id' }, { id })), [`${id} de {"authors":["${id}"]} ""`]);
  });

  it('refuses what is larger than a page file before it is formatted @long', () => {
    const rules = { authors: { from: 'a', split: ',' } };
    throws(
      () => map(rules, { a: Array.from({ length: 400_000 }, (_, i) => i).join() }),
      /more than 262144 bytes/,
    );
  });

  it('leaves out a list that is too long as a whole', () => {
    const rules: Partial<ImportMap> = { authors: { from: 'a', split: ',', invalid: 'leave out' } };
    const a = Array.from({ length: 300_000 }, (_, i) => `x${i}`).join();
    deepStrictEqual(describeBot(map(rules, { a })), [
      '7 de {} ""',
      'left-out: authors: the list has 300000 entries: keep at most 10',
    ]);
  });

  it('is refused with the name of the key', () => {
    const faults = validate('import-map', { nmae: 'a', category: { form: 'a' }, name: 5 });
    deepStrictEqual(faults.map(({ place, keyword }) => `${place.join('.')} ${keyword}`).toSorted(), [
      ' required',
      'category.form additionalProperties',
      'name type',
      'nmae additionalProperties',
    ]);
    const type = faults.find(({ keyword }) => keyword === 'type');
    match(type?.message ?? '', /write a text in quotes or an object in \{ \}/);
  });
});

describe('a line of an export', () => {
  it('has the files of one bot as they are', () => {
    const files = [{ path: pagePath('7'), text: mainPage() }];
    strictEqual(readExported({ files })?.files[0]?.text, mainPage());
    const two = [...files, { path: pagePath('8'), text: '' }];
    for (const other of [[], [null], [{ path: '../x', text: '' }], [{ path: pagePath('7') }], two, 5])
      strictEqual(readExported({ files: other }), undefined);
  });
});
