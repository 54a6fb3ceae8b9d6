import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readRecords, type ReportNote, type SourceRecord } from '../../src/import/read-records.ts';
import { writeFiles } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

async function read(name: string, text: string | Buffer, note?: ReportNote): Promise<SourceRecord[]> {
  const folder = tempFolder();
  writeFiles(folder, { [name]: text });
  return await listRecords(readRecords(join(folder, name), note));
}

/** What a source has beside its records. */
function recordNotes(): { readonly notes: string[]; readonly note: ReportNote } {
  const notes: string[] = [];
  return { notes, note: (text, place) => notes.push(`${place} ${text}`) };
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

  it('are refused one by one where there are too many values, or bytes that are not UTF-8', async () => {
    const text = Buffer.from('a,b\n1,x,y\n2,\xe9\n"3\n\xe9",4\n5,\0\n6,7,, \n', 'latin1');
    const records = await read('a.csv', text);
    deepStrictEqual(
      records.map(({ place }) => place),
      ['a.csv:2', 'a.csv:3', 'a.csv:4', 'a.csv:6', 'a.csv:7'],
    );
    match(reasonOf(records[0]?.fields), /^there are 3 values for 2 columns: /);
    match(reasonOf(records[1]?.fields), /^this is not UTF-8: /);
    match(reasonOf(records[2]?.fields), /^this is not UTF-8: /);
    match(reasonOf(records[3]?.fields), /UTF-16 without a byte order mark .*: /);
    deepStrictEqual(records[4]?.fields, { a: '6', b: '7' });
  });

  it('are padded where cells at the end are missing, and skipped where all are blank, which is noted', async () => {
    const { notes, note } = recordNotes();
    deepStrictEqual(await read('a.csv', 'a;b;c\n1\n; ;\n\n2;3;4\n', note), [
      { place: 'a.csv:2', fields: { a: '1', b: '', c: '' } },
      { place: 'a.csv:5', fields: { a: '2', b: '3', c: '4' } },
    ]);
    deepStrictEqual(notes, [
      'a.csv:2 rows were shorter than the first: empty cells were added',
      'a.csv:3 blank rows were skipped',
      'a.csv:4 blank rows were skipped',
    ]);
  });

  it('may name their separator in a line before, and have blanks beside quotes', async () => {
    deepStrictEqual(await read('a.CSV', 'sep=|\r\na|b\r\n "1" | "2|""3""" \r\n'), [
      { place: 'a.CSV:3', fields: { a: '1', b: '2|"3"' } },
    ]);
  });

  it('are refused as a whole where two columns have one name, or the names cannot be read', async () => {
    await rejects(read('a.csv', 'a,b, a\n1,2,3\n'), /two columns that are called "a": rename one/);
    await rejects(read('a.csv', 'a,"b"c\n1,2\n'), /a\.csv:1: there is a quote that is not closed/);
    const { notes, note } = recordNotes();
    deepStrictEqual((await read('a.csv', 'a,,\n1,2,3\n', note))[0]?.fields, { a: '1' });
    deepStrictEqual(notes, ['a.csv:1 columns without a name were not read']);
  });

  it('are all refused that a quote which is not closed may have swallowed, each by its line', async () => {
    const open = await read('a.csv', 'id,page\n1,"not closed\n2,b\n3,"c"\n4,d\n5,"""e""\n6,f');
    deepStrictEqual(
      open.map(({ place, fields }) => [place, typeof fields]),
      [
        ['a.csv:2', 'string'],
        ['a.csv:3', 'string'],
        ['a.csv:4', 'string'],
        ['a.csv:5', 'object'],
        ['a.csv:6', 'string'],
        ['a.csv:7', 'string'],
      ],
    );
    match(reasonOf(open[0]?.fields), /a quote that is not closed/);
    match(reasonOf(open[1]?.fields), /a quote opens at line 2: correct that line/);
  });

  it('are refused where they are too large, and those after them are read @slow', async () => {
    const large = await read('a.csv', `a,b\n1,2\n3,"${'x'.repeat(2 ** 24 + 100)}"\n5,6\n`);
    deepStrictEqual(
      large.map(({ place, fields }) => [place, typeof fields]),
      [
        ['a.csv:2', 'object'],
        ['a.csv:3', 'string'],
        ['a.csv:4', 'object'],
      ],
    );
  });

  it('may be UTF-16 with a byte order mark, cut anywhere', async () => {
    const text = `\uFEFFid,name\r\n${'1,é😀\r\n'.repeat(7000)}`;
    const little = Buffer.from(text, 'utf16le');
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      const records = await read('a.csv', bytes);
      strictEqual(records.length, 7000);
      deepStrictEqual(
        records.find(({ fields }) => typeof fields === 'string' || fields['name'] !== 'é😀'),
        undefined,
      );
    }
    await rejects(read('a.csv', Buffer.from([0xff, 0xfe, 0x61])), /a\.csv is not UTF-16/);
    match(
      reasonOf((await read('a.ndjson', little.subarray(2)))[0]?.fields),
      /UTF-16 without a byte order mark/,
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

  it('are refused where a key is there twice', async () => {
    const [first, second] = await read('a.ndjson', '{"id":"1","a":{"b":1,"b":2}}\n{"id":"2","b":{"id":1}}\n');
    match(reasonOf(first?.fields), /the key "b" is here twice/);
    ok(typeof second?.fields === 'object');
    await rejects(read('a.json', '[{"id":"1","id":"2"}]'), /a\.json: .*the key "id" is here twice/);
  });

  it('are refused where they are not UTF-8', async () => {
    const records = await read('a.ndjson', Buffer.from('{"a":"\xe9"}\n{"a":"e"}\n', 'latin1'));
    match(reasonOf(records[0]?.fields), /^this is not UTF-8: /);
    deepStrictEqual(records[1]?.fields, { a: 'e' });
    deepStrictEqual((await read('a.ndjson', '{"a":"\uFFFD"}'))[0]?.fields, { a: '\uFFFD' });
    await rejects(read('a.json', Buffer.from('["\xe9"]', 'latin1')), /a\.json: .*this is not UTF-8/);
    strictEqual((await read('a.json', Buffer.from('\uFEFF[{}]', 'utf16le'))).length, 1);
  });

  it('are refused without a search for the end of a string at each of its quotes', async () => {
    // At each quote, this would be read 100,000 times.
    const [record] = await read('a.ndjson', `{"a":"${'\\"'.repeat(100_000)}`);
    match(reasonOf(record?.fields), /^it cannot be read/);
  });

  it('may have a string with millions of escapes @slow', async () => {
    const [long] = await read(
      'a.ndjson',
      `{"a":"${String.raw`\n`.repeat(7_000_000)}","id":190519304972663312}`,
    );
    ok(typeof long?.fields === 'object' && long.fields['id'] === '190519304972663312');
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

  it('may have endings in capitals; hidden files, links and files of other kinds are noted', async () => {
    const folder = tempFolder();
    writeFiles(folder, {
      'a.MD': '---\nid: 1\n---\nA',
      'b.markdown': '---\nid: 2\n---\nB',
      'c.YAML': 'id: 3',
      '.git/x.md': 'x',
      'd/.e.md': 'x',
      'f.txt': 'x',
    });
    symlinkSync(join(folder, 'a.MD'), join(folder, 'g.md'));
    const { notes, note } = recordNotes();
    const records = await listRecords(readRecords(folder, note));
    deepStrictEqual(
      records.map(({ fields }) => typeof fields === 'object' && [fields['file'], fields['body']]),
      [
        ['a', 'A'],
        ['b', 'B'],
        ['c', undefined],
      ],
    );
    deepStrictEqual(
      notes.map((text) => text.replace(/^[^/]*\/(\S+) .*(hidden|links|endings).*$/, '$1 $2')),
      ['.git/x.md hidden', 'd/.e.md hidden', 'f.txt endings', 'g.md links'],
    );
  });

  it('are refused where they are not UTF-8, or have a key twice', async () => {
    const folder = tempFolder();
    writeFiles(folder, {
      '1.md': Buffer.from('---\nid: 1\n---\n\xe9', 'latin1'),
      '2.yml': 'id: 1\na:\n  b: 1\n  b: 2\n',
      '3.md': '---\n{"id": 1, "id": 2}\n---\n',
      '4.yml': Buffer.from('\uFEFFid: 4', 'utf16le'),
    });
    const records = await listRecords(readRecords(folder));
    match(reasonOf(records[0]?.fields), /this is not UTF-8/);
    match(reasonOf(records[1]?.fields), /the key "b" is here twice/);
    match(reasonOf(records[2]?.fields), /the key "id" is here twice/);
    deepStrictEqual(records[3]?.fields, { file: '4', body: undefined, id: 4n });
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
