import { deepStrictEqual } from 'node:assert/strict';
import { defaultCategories } from '../../src/bot/schemas.ts';
import type { ImportMap } from '../../src/bot/schema-types.ts';
import { validate } from '../../src/catalogue/page/schema.ts';
import type { SourceRecord } from '../../src/import/read-records.ts';
import { suggestMap } from '../../src/import/suggest-map.ts';

async function suggest(...records: SourceRecord['fields'][]): Promise<ImportMap> {
  // oxlint-disable-next-line typescript/require-await -- as a reader does
  async function* list(): AsyncGenerator<SourceRecord> {
    yield* records.map((fields, i) => ({ place: `${i}`, fields }));
  }
  const map = await suggestMap(list(), defaultCategories);
  deepStrictEqual(validate('import-map', map), []);
  return map;
}

describe('a suggested mapping', () => {
  it('is made from the names of fields and from their values', async () => {
    const record = {
      'Bot ID': '190519304972663312',
      Name: 'Homer',
      'Short description': 'Answers.',
      Description: 'Long. '.repeat(100),
      owners: [{ id: '190519304972663313' }],
      tags: ['mod', 'Musik', 'cats'],
      meta: { 'added-on': '2020-01-02', 'site URL': 'https://a.example/' },
      join: 'https://discord.com/oauth2/authorize?client_id=1&scope=bot',
      icon_url: 'https://a.example/a.png',
      nsfw: false,
      prefix: '!',
    };
    deepStrictEqual(await suggest('not readable', record), {
      id: 'Bot ID',
      invite: 'join',
      name: 'Name',
      authors: 'owners[].id',
      created: { from: 'meta.added-on', else: 'now' },
      category: {
        from: 'tags[0]',
        values: { mod: 'moderation', Musik: 'music', cats: 'other' },
        else: 'other',
      },
      'images.avatar': 'icon_url',
      website: 'meta.site URL',
      nsfw: 'nsfw',
      'trigger.prefix': 'prefix',
      description: 'Short description',
      page: 'Description',
    });
  });

  it('finds ids by their values, and has an invite and a time where there is none', async () => {
    deepStrictEqual(await suggest({ snowflake_: '190519304972663312', devs: '1;2', title: 'A' }), {
      id: 'snowflake_',
      name: 'title',
      authors: { from: 'devs', split: ';' },
      created: { else: 'now' },
      invite: { template: 'https://discord.com/oauth2/authorize?client_id={id}&scope=bot' },
    });
  });

  it('has an id to fill in where nothing looks like one', async () => {
    deepStrictEqual((await suggest()).id, 'id');
  });
});
