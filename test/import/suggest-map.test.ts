import { deepStrictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultCategories } from '../../src/bot/schemas.ts';
import { validate } from '../../src/bot/validate.ts';
import type { SourceFields } from '../../src/import/read-records.ts';
import { suggestMap } from '../../src/import/suggest-map.ts';
import { readCases } from '../support/fixture-lines.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** Returns the mapping, and what is said about it. */
async function suggest(...records: readonly SourceFields[]): Promise<unknown[]> {
  const remarks: string[] = [];
  const path = join(tempFolder(), 'bots.ndjson');
  writeFileSync(path, records.map((fields) => `${JSON.stringify(fields)}\n`).join(''));
  const map = await suggestMap(path, defaultCategories, (text) => remarks.push(text));
  deepStrictEqual(validate('import-map', map), []);
  return [map, ...remarks];
}

describe('a suggested mapping', () => {
  for (const { title, input, expected } of readCases('suggested-maps'))
    it(title, async () => {
      const [map = '', ...remarks] = expected;
      const records = JSON.parse(input) as SourceFields[];
      deepStrictEqual(await suggest(...records), [JSON.parse(map), ...remarks]);
    });

  it('comes with what is not used, what is missing, and which values will be refused', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => ({
      id: '190519304972663312',
      'Owner IDs': i % 100 === 5 ? 'Ada' : '5',
      Short: 'x'.repeat(i < 40 ? 300 : 30),
      invite: i < 3 ? 'https://a.example/' : '',
      cats: '5',
    }));
    deepStrictEqual((await suggest(...rows)).slice(1), [
      'invite: invite: only 3 of 300 records have it',
      'authors: Owner IDs: 3 of 300 values are no ids, first "Ada": what is not allowed is left out',
      `description: Short: 40 of 300 values are longer than 200 characters, first "${'x'.repeat(55)}…"`,
      'name: no column looks like it',
      'category: no column looks like it',
      'created: no column looks like it',
      'not used: invite, cats',
    ]);
  });
});
