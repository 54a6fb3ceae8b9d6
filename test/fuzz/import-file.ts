import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { nothingBlocked } from '../../src/catalogue/settings/blocked.ts';
import { noLimits } from '../../src/catalogue/page/rules.ts';
import { importBots, ImportReport } from '../../src/import/import-bots.ts';
import { isBot } from '../../src/import/map-record.ts';
import { readRecords, type SourceFields, type SourceRecord } from '../../src/import/read-records.ts';
import { suggestMap } from '../../src/import/suggest-map.ts';
import { UserError } from '../../src/lib/errors.ts';
import { isObject } from '../../src/lib/json.ts';
import type { Locale } from '../../src/bot/locale.ts';
import { tempFolder } from '../support/temp-folder.ts';
import type { Target } from './fuzzer.ts';
import { jsonWords, split } from './words.ts';

const kinds = ['a.csv', 'a.tsv', 'a.ndjson', 'a.json', 'a.yml', 'f/a.md', 'f/a.yml', 'f/a.json'];

/** A list is read into records with the values that it has, or reasons; each is imported or refused, and nothing else happens. */
export function openImportFile(): Target {
  const folder = tempFolder({ 'f/none.txt': '' });
  const options = {
    root: folder,
    prefix: '',
    commit: async (plan: () => Promise<unknown>) => await plan(),
    limits: noLimits,
    blocked: nothingBlocked,
    replace: false,
  };
  return {
    words: [
      ...jsonWords,
      ...kinds.map((kind) => `${kind}\n`),
      ...split('id name ; \t \r\n \n "" ---\n - &a *a !!binary !!set <<: ? : |\n\t'),
    ],
    libraries: ['gray-matter'],
    maxLength: 1500,
    test: async (input) => {
      const [kind, content] = cut(input);
      if (!kinds.includes(kind)) return;
      // Only one of the files of the folder is there at a time.
      for (const other of kinds.filter((one) => one.startsWith('f/')))
        if (other !== kind) writeFileSync(join(folder, other), '{}');
      writeFileSync(join(folder, kind), content);
      const path = join(folder, kind.replace(/\/.*/, ''));
      const records = await list(readRecords(path));
      deepStrictEqual(Reflect.ownKeys(Object.prototype), keysOfObjects);
      if (records === undefined) return;
      for (const { fields } of records) if (typeof fields === 'string') match(fields, /: /);
      const text = content.toString();
      if (kind === 'a.json' && !/\d{16}/.test(text))
        ensureRead(records, JSON.parse(text.replace(/^\uFEFF/, '')));
      if (kind === 'a.csv' && !text.includes('\0') && !text.includes('\uFFFD')) ensureCells(records, text);
      const refuse = (error: unknown): void => ok(error instanceof UserError, error as Error);
      const map = (await suggestMap(path, ['fun', 'other']).catch(refuse)) ?? undefined;
      for (const rules of [undefined, map]) {
        const isRecord =
          rules && ((fields: SourceFields, isInner: boolean): boolean => isBot(rules, fields, isInner));
        const read: readonly SourceRecord[] | undefined = rules
          ? await list(readRecords(path, { isRecord }))
          : records;
        const report = new ImportReport();
        const run = importBots(path, { ...options, map: rules, report, locale: 'en' as Locale }, () => {});
        if (read === undefined) await rejects(run, UserError);
        else await run;
        const { added, refused, unchanged, replaced } = report.counts;
        strictEqual(added + refused + unchanged + replaced, read?.length ?? 0);
      }
    },
  };
}

const keysOfObjects = Reflect.ownKeys(Object.prototype);

/** Cuts an input after its first line. */
export function cut(input: Buffer): readonly [name: string, content: Buffer] {
  const end = input.indexOf('\n');
  return end === -1
    ? [input.toString(), Buffer.alloc(0)]
    : [input.toString('utf8', 0, end), input.subarray(end + 1)];
}

/** Returns all records; undefined where the list is refused as a whole. */
async function list(records: AsyncIterable<SourceRecord>): Promise<SourceRecord[] | undefined> {
  const all: SourceRecord[] = [];
  try {
    for await (const record of records) all.push(record);
    return all;
  } catch (error) {
    ok(error instanceof UserError, error as Error);
    return undefined;
  }
}

/** Ensures that the records are those of a document. */
function ensureRead(records: readonly SourceRecord[], document: unknown): void {
  const objects = Array.isArray(document)
    ? Object.entries(document).map(([key, value]) => (isObject(value) ? { key, ...value } : undefined))
    : [document];
  deepStrictEqual(
    records.map(({ fields }) => (typeof fields === 'string' ? undefined : fields)),
    objects,
  );
}

/** Ensures that the records of a table are on the lines that they name; in quotes a value has its own line breaks. */
function ensureCells(records: readonly SourceRecord[], text: string): void {
  const lines = text.replace(/^\uFEFF/, '').split(/\r\n|\n|\r/);
  for (const { place, fields } of records) {
    if (typeof fields === 'string') continue;
    const line = lines[Number(place.slice('a.csv:'.length)) - 1] ?? '';
    for (const value of Object.values(fields).slice(0, text.includes('"') ? 1 : undefined)) {
      const [start = ''] = String(value).split(/[\r\n"]/, 1);
      ok(line.includes(start), `${place} has no ${start}`);
    }
  }
}
