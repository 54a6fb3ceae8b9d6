import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readRecords, type SourceRecord } from '../../src/import/read-records.ts';
import { writeFiles } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

async function read(name: string, text: string | Buffer): Promise<SourceRecord[]> {
  const folder = tempFolder();
  writeFiles(folder, { [name]: text });
  return await listRecords(readRecords(join(folder, name)));
}

function reasonOf(fields: SourceRecord['fields'] | undefined): string {
  return typeof fields === 'string' ? fields : '';
}

async function listRecords(records: AsyncIterable<SourceRecord>): Promise<SourceRecord[]> {
  const all: SourceRecord[] = [];
  for await (const record of records) all.push(record);
  return all;
}

describe('records of a table', () => {
  it('have the line in which they begin, and values with line breaks, quotes and separators', async () => {
    const text = '\uFEFF"id", name ;x\r\n1,"a ""b"",\r\nc"\r\n\r\n2,he said "hi"\r\n';
    deepStrictEqual(await read('a.csv', text.replace(' ;x', '')), [
      { place: 'a.csv:2', fields: { id: '1', name: 'a "b",\r\nc' } },
      { place: 'a.csv:5', fields: { id: '2', name: 'he said "hi"' } },
    ]);
  });

  it('may have semicolons or tabs between their values', async () => {
    deepStrictEqual(await read('a.csv', '"a,b,c,d";b\n1;2,3\n'), [
      { place: 'a.csv:2', fields: { 'a,b,c,d': '1', b: '2,3' } },
    ]);
    deepStrictEqual(await read('a.tsv', 'a\tb\r1\t2'), [{ place: 'a.tsv:2', fields: { a: '1', b: '2' } }]);
  });

  it('are refused one by one where values are missing or not UTF-8', async () => {
    const [first, second, third] = await read('a.csv', Buffer.from('a,b\n1\n2,\xe9\n3,4\n', 'latin1'));
    match(reasonOf(first?.fields), /^there are 1 values for 2 columns: /);
    match(reasonOf(second?.fields), /^this is not UTF-8: /);
    deepStrictEqual(third?.fields, { a: '3', b: '4' });
  });

  it('end at a quote that is not closed, and at one that is too large, after those before it @slow', async () => {
    const open = await read('a.csv', 'a,b\n1,2\n3,"4\n5,6\n');
    deepStrictEqual(open[0]?.fields, { a: '1', b: '2' });
    strictEqual(open[1]?.place, 'a.csv:3');
    match(reasonOf(open[1]?.fields), /a quote that is not closed/);
    const large = await read('a.csv', `a,b\n1,2\n3,"${'x'.repeat(2 ** 24 + 100)}"\n5,6\n`);
    deepStrictEqual(
      large.map(({ place }) => place),
      ['a.csv:2', 'a.csv:3'],
    );
  });
});

describe('records of JSON', () => {
  const bots = [{ id: '1' }, { id: '2' }];

  it('are a list, the values of an object, or the one list of an object', async () => {
    const fields = async (value: unknown): Promise<unknown[]> =>
      (await read('a.json', JSON.stringify(value))).map((record) => [record.place, record.fields]);
    deepStrictEqual(await fields(bots), [
      ['a.json[0]', { key: '0', id: '1' }],
      ['a.json[1]', { key: '1', id: '2' }],
    ]);
    deepStrictEqual(await fields({ total: 2, bots }), await fields(bots));
    deepStrictEqual(await fields({ 7: { name: 'a' } }), [['a.json[7]', { key: '7', name: 'a' }]]);
    deepStrictEqual(await fields([5]), [['a.json[0]', 'this is not an object: put the fields in { }']]);
    deepStrictEqual(await fields(5), []);
  });

  it('keep the digits of long numbers, and no other number becomes a text', async () => {
    const text = '[{"id":190519304972663312,"x":"\\"190519304972663312","f":0.12345678901234566,"n":5}]';
    const [record] = await read('a.json', text);
    deepStrictEqual(record?.fields, {
      key: '0',
      id: '190519304972663312',
      x: '"190519304972663312',
      f: 0.123_456_789_012_345_66,
      n: 5,
    });
  });

  it('are on lines of their own in NDJSON, and a faulty line spoils no other', async () => {
    const records = await read('a.ndjson', '\uFEFF{"id":190519304972663312}\r\n\n{"a":\n[1]\n{"b":"\\n,"}');
    deepStrictEqual(
      records.map(({ place }) => place),
      ['a.ndjson:1', 'a.ndjson:3', 'a.ndjson:4', 'a.ndjson:5'],
    );
    deepStrictEqual(records[0]?.fields, { id: '190519304972663312' });
    ok(typeof records[1]?.fields === 'string' && typeof records[2]?.fields === 'string');
    deepStrictEqual(records[3]?.fields, { b: '\n,' });
  });

  it('are none where the document is not JSON, or the file of no kind', async () => {
    await rejects(read('a.json', '[{"id":1},'), /a\.json: it cannot be read .*: correct it/);
    await rejects(read('a.xml', '<a/>'), /a\.xml is of an unknown kind: pass \.csv/);
  });
});

describe('records of a folder', () => {
  it('are files at any depth, markdown with YAML or JSON before it, and no links', async () => {
    const folder = tempFolder();
    writeFiles(folder, {
      'a/1.md': '---\nid: 190519304972663312\ntags: [a, b]\n---\n\n# Hi\n',
      'a/2.md': '---json\n{"id": 190519304972663312}\n---\nText\n',
      'b.yml': 'name: B\ndate: 2020-01-02\n',
      'c.json': '{"name": "C"}',
      'd.txt': 'no record',
    });
    symlinkSync(join(folder, 'b.yml'), join(folder, 'e.yml'));
    const records = await listRecords(readRecords(folder));
    const name = folder.slice(folder.lastIndexOf('/') + 1);
    deepStrictEqual(records, [
      {
        place: `${name}/a/1.md`,
        fields: { file: '1', body: '# Hi', id: 190519304972663312n, tags: ['a', 'b'] },
      },
      { place: `${name}/a/2.md`, fields: { file: '2', body: 'Text', id: '190519304972663312' } },
      { place: `${name}/b.yml`, fields: { file: 'b', body: undefined, name: 'B', date: '2020-01-02' } },
      { place: `${name}/c.json`, fields: { file: 'c', body: undefined, name: 'C' } },
    ]);
  });

  it('are refused where they would be run, are too large, nested too deep, or nothing @slow', async () => {
    const folder = tempFolder();
    writeFiles(folder, {
      '1.md': '---js\n{ id: process.exit(3) }\n---\n',
      '2.md': 'x'.repeat(300_000),
      '3.yml': '['.repeat(4000),
      '4.md': '---\nid: 1\n',
      '5.md': 'no front matter',
      '6.md': `---\n${' '.repeat(10_000)}\n---\n`,
      '7.yml':
        'a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\nd: &d [*c, *c]\ne: &e [*d, *d]\nf: [*e, *e, *e, *e, *e]\n',
    });
    const records = await listRecords(readRecords(folder));
    deepStrictEqual(
      records.map(({ fields }) => typeof fields),
      ['string', 'string', 'string', 'object', 'string', 'string', 'string'],
    );
  });
});
