import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import * as fc from 'fast-check';
import type { BotId } from '../../../src/bot/id.ts';
import type { Cursor } from '../../../src/catalogue/lists/orders.ts';
import { formatCursor } from '../../../src/catalogue/lists/parameters.ts';
import { parseListQuery } from '../../../src/http/api/read-routes.ts';
import { openApi } from '../../../src/http/api/openapi.ts';
import { ProblemError } from '../../../src/http/problem.ts';
import { eventually } from '../../support/eventually.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { botId, collection, mainPage, pagePath, profile } from '../../support/sample.ts';
import { writeFiles } from '../../support/temp-folder.ts';
import { startTestService, type TestService } from '../../support/service.ts';

function read(query: string): ReturnType<typeof parseListQuery> {
  return parseListQuery(new URLSearchParams(query), toSettings());
}

/** Returns the errors of a query, as `pointer detail`; an empty list if it is valid. */
function errors(query: string): string[] {
  try {
    read(query);
    return [];
  } catch (error) {
    ok(error instanceof ProblemError && error.kind === 'bad-query');
    return error.errors.map(({ pointer, detail }) => `${pointer} ${detail}`);
  }
}

const pointersOf = (query: string): string =>
  errors(query)
    .map((error) => error.split(' ')[0])
    .join(' ');

describe('the query of the list of bots', () => {
  it('may be empty', () => deepStrictEqual(read(''), {}));

  it('has no other order where it asks for relevance', () =>
    deepStrictEqual(read('q=doughnuts&sort=relevance'), { q: 'doughnuts' }));

  it('is read into a selection, a sort order, a page and fields', () => {
    const after: Cursor = { value: 'homer', id: botId('7') };
    deepStrictEqual(
      read(
        `q=doughnuts&category=music&category=fun&nsfw=false&verified=true&author=1&locale=en-GB&sort=-name&limit=1000&after=${formatCursor(after)}&fields=website,id,category`,
      ),
      {
        q: 'doughnuts',
        category: ['music', 'fun'],
        nsfw: false,
        verified: true,
        author: '1',
        locale: 'en-GB',
        sort: { key: 'name', descending: true },
        limit: 1000,
        after,
        fields: ['id', 'category', 'website'],
      },
    );
  });

  for (const { input, expected } of readCases('list-query-faults'))
    it(`is refused with ${input}`, () => deepStrictEqual(errors(input), expected));

  it('is refused with what is too long, and with a cursor that is none', () => {
    const cursor = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url');
    for (const [name, ...values] of [
      ['q', 'x'.repeat(201)],
      ['after', 'a'.repeat(2001), cursor([1, 'x']), cursor([1, '7', 2]), cursor([null, '7'])],
      ['fields', `${'id,'.repeat(30)}id`],
      ['x'.repeat(100), '1'],
    ])
      for (const value of values)
        strictEqual(pointersOf(`${name}=${value}`), `?${name?.slice(0, 50)}`, `${name} ${value}`);
  });

  it('is quoted where it is empty', () => {
    throws(() => read('=1'), /^ProblemError: "": there is no such/);
  });

  it('has all of its errors reported at once, in their order', () => {
    strictEqual(pointersOf('foo=1&limit=0&sort=size&q='), '?foo ?limit ?sort ?q');
  });

  it('has a cursor of its own order only', () => {
    const byName = formatCursor({ value: 'a', id: botId('7') });
    const byCount = formatCursor({ value: 5, id: botId('7') });
    for (const query of [`after=${byName}`, `sort=-count&after=${byName}`, `sort=name&after=${byCount}`])
      match(errors(query).join(), /^\?after it is from a list in another order: /, query);
    for (const query of [`after=${byCount}`, `sort=name&after=${byName}`, `sort=-count&after=${byCount}`])
      deepStrictEqual(errors(query), [], query);
  });

  it('reads back every cursor that was written', () => {
    const id = fc.stringMatching(/^[0-9]{1,20}$/).map((text) => text as BotId);
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme', maxLength: 32 }), fc.nat(), id, (name, count, id) => {
        const cursors: readonly [string, Cursor][] = [
          ['name', { value: name, id }],
          ['count', { value: count, id }],
        ];
        for (const [sort, cursor] of cursors)
          deepStrictEqual(read(`sort=${sort}&after=${formatCursor(cursor)}`).after, cursor);
      }),
    );
  });

  it('has the limits that the OpenAPI document has', () => {
    const { paths } = JSON.parse(JSON.stringify(openApi('', toSettings()))) as {
      paths: Record<string, { get: { parameters: { name: string; schema: Record<string, unknown> }[] } }>;
    };
    const { parameters = [] } = paths['/api/v2/bots']?.get ?? {};
    const schemas = new Map(parameters.map(({ name, schema }) => [name, schema]));
    // contract.test.ts has those of limit.
    const longest = Number(schemas.get('q')?.['maxLength']);
    for (const more of [0, 1]) strictEqual(errors(`q=${'x'.repeat(longest + more)}`).length, more);
    const sort = new RegExp(String(schemas.get('sort')?.['pattern']));
    for (const text of ['id', '-id', 'count', 'name', '-edited', 'size', '--id', '', 'relevance', 'growth'])
      strictEqual(errors(`q=x&sort=${text}`).length === 0, sort.test(text), text);
  });
});

describe('the authors of the API', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({
      [pagePath('10')]: mainPage({ authors: ['5', '6'], created: 2000 }),
      [pagePath('9')]: mainPage({ authors: ['5'], created: 1000, nsfw: true }),
      'people/5.json': profile({ website: 'https://ada.example.org/', description: { en: 'Makes bots.' } }),
      'people/7.json': profile({ name: 'Bob' }),
      'collections/all.en.md': collection({ bots: ['10', '8', '9'] }),
      'collections/all.fr.md': collection({ title: 'Tous' }),
    });
  });

  it('returns what the account says about itself, and its bots', async () => {
    const { status, json } = await service.request('/api/v2/authors/5');
    strictEqual(status, 200);
    deepStrictEqual(json, {
      id: '5',
      name: 'Ada',
      website: 'https://ada.example.org/',
      description: { en: 'Makes bots.' },
      bots: ['9', '10'],
      since: 1000,
    });
    const nothing = { name: null, website: null, description: {} };
    const other = { id: '6', ...nothing, bots: ['10'], since: 2000 };
    deepStrictEqual((await service.request('/api/v2/authors/6')).json, other);
    const withoutBots = { id: '7', ...nothing, name: 'Bob', bots: [], since: null };
    deepStrictEqual((await service.request('/api/v2/authors/7')).json, withoutBots);
  });

  it('are listed in the order of their ids, a page at a time', async () => {
    const { json, headers } = await service.request('/api/v2/authors?limit=1');
    deepStrictEqual(json, [(await service.request('/api/v2/authors/5')).json]);
    const [, next = ''] = /<https?:\/\/[^/]+(.*)>; rel="next"/.exec(headers.get('Link') ?? '') ?? [];
    deepStrictEqual([next, headers.get('X-Total-Count')], ['/api/v2/authors?limit=1&after=5', '2']);
    const last = await service.request(next);
    const { json: six } = await service.request('/api/v2/authors/6');
    deepStrictEqual([last.json, last.headers.get('Link')], [[six], null]);
    strictEqual((await service.request('/api/v2/authors?after=%00')).status, 400);
  });

  it('are next to collections, which have their listed bots', async () => {
    const { json, headers } = await service.request('/api/v2/collections');
    const en = { title: 'For small servers', description: 'Bots that need no set-up.' };
    deepStrictEqual(json, [{ id: 'all', contents: { en, fr: { ...en, title: 'Tous' } }, bots: ['10', '9'] }]);
    strictEqual(headers.get('X-Total-Count'), '1');
    deepStrictEqual((await service.request('/api/v2/collections?after=all')).json, []);
  });

  it('has an ETag that changes with the profile', async () => {
    const etag = (await service.request('/api/v2/authors/7')).headers.get('ETag') ?? '';
    const ask = async (): Promise<number> =>
      (await service.request('/api/v2/authors/7', { headers: { 'If-None-Match': etag } })).status;
    strictEqual(await ask(), 304);
    writeFiles(service.root, { 'people/7.json': profile({ name: 'Robert' }) });
    await eventually(async () => (await ask()) === 200);
  });

  it('is a 404 for an account without a bot and a profile, and for what is no account', async () => {
    for (const id of ['8', 'x', '9'.repeat(300)]) {
      const { status, json } = await service.request(`/api/v2/authors/${id}`);
      strictEqual(status, 404);
      match(json.detail, /^there is no author "\w{1,60}": send the account of a listed bot$/);
    }
    strictEqual((await service.request('/api/v2/authors/5?x=1')).status, 400);
  });
});
