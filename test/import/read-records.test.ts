import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readRecords, type SourceFields, type SourceRecord } from '../../src/import/read-records.ts';
import { messageOf } from '../../src/lib/errors.ts';
import { readCases } from '../support/fixture-lines.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

async function read(name: string, text: string | Buffer): Promise<SourceRecord['fields'][]> {
  const folder = tempFolder({ [name]: text });
  const all: SourceRecord['fields'][] = [];
  for await (const { fields } of readRecords(join(folder, name))) all.push(fields);
  return all;
}

function isRecord({ id, key }: SourceFields): boolean {
  return /^\d+$/.test(String(id ?? key));
}

/** Returns each record as its place with its fields or a reason, then what else the source has, or why it is refused. */
async function describeSource(folder: string, source: string): Promise<string[]> {
  const [records, notes]: [string[], string[]] = [[], []];
  try {
    const note = (text: string, place: string): void => void notes.push(`note: ${place} ${text}`);
    for await (const { place, fields } of readRecords(join(folder, source), { isRecord, note }))
      records.push(`${place} ${typeof fields === 'string' ? fields : JSON.stringify(fields)}`);
  } catch (error) {
    notes.push(`refused: ${messageOf(error).replace(`${folder}/`, '')}`);
  }
  return [...records, ...notes];
}

/** A file: a text, the same in an encoding, or a link. */
type Content = string | Readonly<Partial<Record<BufferEncoding | 'link', string>>>;

function writeContent(folder: string, path: string, content: Content): void {
  if (typeof content === 'string') return writeFiles(folder, { [path]: content });
  const [[kind, text] = ['', '']] = Object.entries(content);
  if (kind !== 'link') return writeFiles(folder, { [path]: Buffer.from(text, kind as BufferEncoding) });
  mkdirSync(dirname(join(folder, path)), { recursive: true });
  symlinkSync(text, join(folder, path));
}

describe('the records of a source', () => {
  for (const { title, input, expected } of readCases('records'))
    it(`are read from ${input.split(' ')[0]} with ${title}`, async () => {
      const [source = '', files = ''] = input.split(' ← ');
      const folder = tempFolder();
      for (const [path, content] of Object.entries(JSON.parse(files) as Record<string, Content>))
        writeContent(folder, path, content);
      deepStrictEqual(await describeSource(folder, source), expected);
    });

  it('are refused where they are too large, and those after them are read @slow', async () => {
    const large = await read('a.csv', `a,b\n1,2\n3,"${'x'.repeat(2 ** 24 + 100)}"\n5,6\n`);
    deepStrictEqual(
      large.map((fields) => typeof fields),
      ['object', 'string', 'object'],
    );
  });

  it('may be UTF-16 with a byte order mark, cut anywhere', async () => {
    const little = Buffer.from(`\uFEFFid,name\r\n${'1,é😀\r\n'.repeat(7000)}`, 'utf16le');
    for (const bytes of [little, Buffer.from(little).swap16()]) {
      const records = await read('a.csv', bytes);
      strictEqual(records.length, 7000);
      ok(records.every((fields) => typeof fields === 'object' && fields['name'] === 'é😀'));
    }
  });

  it('are refused without a search for the end of a string at each of its quotes', async () => {
    // At each quote, this would be read 100,000 times.
    const [fields] = await read('a.ndjson', `{"a":"${'\\"'.repeat(100_000)}`);
    ok(typeof fields === 'string' && fields.startsWith('it cannot be read'));
  });

  it('may have a string with millions of escapes @long', async () => {
    const escapes = String.raw`\n`.repeat(7_000_000);
    const [long] = await read('a.ndjson', `{"a":"${escapes}","id":190519304972663312}`);
    ok(typeof long === 'object' && long['id'] === '190519304972663312');
  });

  it('are refused where they would be run, are too large, nested too deep, or nothing @slow', async () => {
    const folder = tempFolder({
      'f/1.md': 'x'.repeat(300_000),
      'f/2.yml': '['.repeat(4000),
      'f/3.md': `---\n${' '.repeat(10_000)}\n---\n`,
      'f/5.yml': 'x'.repeat(2 ** 24 + 1),
      'f/4.md': '---js\n{ id: process.exit(3) }\n---\n',
    });
    for (const line of await describeSource(folder, 'f')) match(line, /^f\/\d\.\w+ [^{]/);
  });
});
