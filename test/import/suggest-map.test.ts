import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { defaultCategories } from '../../src/bot/schemas.ts';
import type { ImportMap } from '../../src/bot/schema-types.ts';
import { validate } from '../../src/catalogue/page/schema.ts';
import type { SourceRecord } from '../../src/import/read-records.ts';
import { suggestMap } from '../../src/import/suggest-map.ts';

/** What was said about the last mapping. */
let remarks: string[];

async function suggest(...records: SourceRecord['fields'][]): Promise<ImportMap> {
  remarks = [];
  // oxlint-disable-next-line typescript/require-await -- as a reader does
  async function* list(): AsyncGenerator<SourceRecord> {
    yield* records.map((fields, i) => ({ place: `${i}`, fields }));
  }
  const map = await suggestMap(list(), defaultCategories, (text) => remarks.push(text));
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

  it('says what it does not use, what is missing, and which values will be refused', async () => {
    const rows = Array.from({ length: 300 }, (_, i) => ({
      id: '190519304972663312',
      'Owner IDs': i % 100 === 5 ? 'Ada' : '5',
      Short: 'x'.repeat(i < 40 ? 300 : 30),
      invite: i < 3 ? 'https://a.example/' : '',
      cats: '5',
    }));
    strictEqual((await suggest(...rows)).authors, 'Owner IDs');
    deepStrictEqual(remarks, [
      'invite: invite: only 3 of 300 records have it',
      'authors: Owner IDs: 3 of 300 values are no ids, first "Ada"',
      `description: Short: 40 of 300 values are longer than 200 characters, first "${'x'.repeat(55)}…"`,
      'name: no column looks like it',
      'category: no column looks like it',
      'created: no column looks like it',
      'not used: Short, invite, cats',
    ]);
  });

  it('never takes the long description for the short one', async () => {
    const texts = { Description: 'A bot.', 'Short description': 'Answers.' };
    const both = await suggest(texts);
    deepStrictEqual([both.description, both.page], ['Short description', 'Description']);
    const named = await suggest({ about: 'Long. '.repeat(20), desc: 'Short.' });
    deepStrictEqual([named.description, named.page], ['desc', 'about']);
  });

  it('takes one entry of a list, or all where each is a page', async () => {
    const contents = [{ name: 'A', description: 'B' }];
    const one = await suggest({ id: '1', owners: [{ name: 'Ada', id: '5' }], contents });
    deepStrictEqual(
      [one.name, one.description, one.authors],
      ['contents[0].name', 'contents[0].description', 'owners[].id'],
    );
    const pages = await suggest({ contents: [{ ...contents[0], locale: 'en' }] });
    deepStrictEqual([pages.name, pages.locale], ['contents[].name', 'contents[].locale']);
  });

  it('falls back on a template for records without an invite', async () => {
    const invite = 'https://discord.com/oauth2/authorize?client_id=1&scope=bot';
    deepStrictEqual((await suggest({ id: '1', invite }, { id: '2' })).invite, {
      from: 'invite',
      template: 'https://discord.com/oauth2/authorize?client_id={id}&scope=bot',
    });
  });

  it('has an id to fill in where nothing looks like one', async () => {
    deepStrictEqual((await suggest()).id, 'id');
  });
});
