import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import type { CatalogueChanges } from '../../../schemas/types.ts';
import { eventually } from '../../support/eventually.ts';
import { EventReader } from '../../support/event-reader.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { repositoryIn, testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { issueTestToken } from '../../support/token.ts';

/** More than a page with exact counts has. */
const all = Array.from({ length: 101 }, (_, i) => String(i + 1));

describe('the bots that ids selects', () => {
  let service: TestService;
  let tokens: Record<string, string>;

  before(async () => {
    const page = (id: string): string => mainPage({ name: `Bot ${id}`, nsfw: id === '9' });
    const { folder: root } = testRepository(Object.fromEntries(all.map((id) => [pagePath(id), page(id)])));
    tokens = { 7: await issueTestToken(root, '7'), 9: await issueTestToken(root, '9') };
    service = await startTestService({}, { root });
  });

  const request = async (path: string): ReturnType<TestService['request']> =>
    await service.request(`/api/v2/${path}`);
  /** Reads what is not one document of JSON. */
  const read = async (path: string): Promise<{ text: string; headers: Headers }> => {
    const response = await fetch(`${service.address}/api/v2/${path}`);
    return { text: await response.text(), headers: response.headers };
  };
  const post = async (id: string, count: number): Promise<void> => {
    strictEqual((await service.post(id, tokens[id] ?? '', { count })).status, 200);
  };
  const idsOf = (json: unknown): string[] => (json as { id: string }[]).map(({ id }) => id);

  it('are the list, by id or in its order, with unknown ones in a header', async () => {
    const { json, headers } = await request('bots?ids=9,404&ids=7,9,500');
    deepStrictEqual(idsOf(json), ['7', '9']);
    strictEqual(headers.get('x-unknown-ids'), '404,500');
    match(headers.get('access-control-expose-headers') ?? '', /\bX-Unknown-Ids\b/);
    strictEqual(headers.get('x-total-count'), '2');
    strictEqual((await request('bots?ids=7')).headers.get('x-unknown-ids'), null);
    deepStrictEqual(idsOf((await request('bots?ids=7,8,9&sort=-name&nsfw=false')).json), ['8', '7']);
    deepStrictEqual(idsOf((await request('bots?ids=7,9&q=doughnuts')).json).toSorted(), ['7', '9']);
    deepStrictEqual((await request('bots?ids=404')).json, []);
    const first = await request('bots?ids=7,8,9&limit=2');
    const [, next = ''] = /<[^>]*\/api\/v2\/([^>]*)>; rel="next"/.exec(first.headers.get('link') ?? '') ?? [];
    deepStrictEqual([...idsOf(first.json), ...idsOf((await request(next)).json)], ['7', '8', '9']);
  });

  it('are those of the latest counts, and of the export', async () => {
    await post('7', 70);
    await post('9', 90);
    for (const path of ['counts', 'counts.csv']) {
      const { text, headers } = await read(`${path}?ids=9,404`);
      match(text, /\b9\b.*\b90\b/s);
      doesNotMatch(text, /\b70\b/);
      deepStrictEqual([headers.get('x-unknown-ids'), headers.get('cache-control')], ['404', 'no-cache']);
    }
    const { text, headers } = await read('export.ndjson?ids=9,404,7');
    deepStrictEqual(text.match(/(?<=^\{"id":")\d+/gm), ['7', '9']);
    strictEqual(headers.get('x-unknown-ids'), '404');
    match(headers.get('x-cursor') ?? '', /^[0-9a-f]{40}$/);
  });

  for (const path of ['bots', 'counts', 'counts.csv', 'changes', 'export.ndjson', 'export.ndjson.gz'])
    it(`may not be none, or no ids, on ${path}`, async () => {
      for (const query of ['ids=', 'ids=7,x', `ids=${all.join()}`]) {
        const { status, json } = await request(`${path}?${query}`);
        deepStrictEqual([status, json.errors[0].pointer], [400, '?ids'], query);
      }
    });

  for (const query of ['ids', 'ids=7,', 'ids=7&ids=', 'ids=7,%208', 'ids=seven', `ids=${'7'.repeat(21)}`])
    it(`are not selected by ${query}`, async () =>
      match((await request(`bots?${query}`)).json.detail, /^ids: ".*" is not a bot ID: use 1 to 20 digits$/));

  it('are a hundred, and no more', async () => {
    deepStrictEqual(idsOf((await request(`bots?ids=${all.slice(1).join()}`)).json), all.slice(1));
    for (const query of [`ids=${all.join()}`, all.map((id) => `ids=${id}`).join('&')])
      match((await request(`bots?${query}`)).json.detail, /more than 100 (?:ids|parameters)/);
  });

  it('have the count that was answered a moment ago', async () => {
    const reads = [
      'bots/7/stats',
      'bots?ids=7&fields=id,count',
      'bots?limit=100&fields=id,count',
      'counts?ids=7',
    ];
    for (const path of reads) await request(path);
    for (const count of [1001, 1002, 1003]) {
      await post('7', count);
      for (const path of reads) match((await request(path)).text, new RegExp(`:${count}\\b`), path);
    }
    const { server_count, countedAt } = (await request('bots/7/stats')).json;
    strictEqual(server_count, 1003);
    strictEqual(countedAt, (await request('counts?ids=7')).json[7].reportedAt);
    deepStrictEqual((await request('bots/8/stats')).json, { server_count: null, countedAt: null });
    strictEqual((await request('bots/8/stats?x=1')).status, 400);
  });

  it('are those of the changes, page by page and as events, with those that are removed', async () => {
    const person = repositoryIn(service.root);
    const { next: start } = (await request('changes')).json as CatalogueChanges;
    const events = new EventReader(`${service.address}/api/v2/changes?since=${start}&ids=8,9`);
    person.commit({ [pagePath('7')]: mainPage({ name: 'Other' }) });
    person.git('rm', '-q', pagePath('8'));
    person.git('commit', '-q', '-m', 'Remove 8');
    const last = person.commit({
      [pagePath('9')]: mainPage({ name: 'Other' }),
      [pagePath('10')]: mainPage(),
    });
    await eventually(async () => strictEqual((await request('changes')).json.next, last));
    const pages: CatalogueChanges['changes'][] = [];
    for (let path = `changes?since=${start}&ids=9,8&limit=1`; ;) {
      const { json, headers } = await request(path);
      const { changes, more } = json as CatalogueChanges;
      pages.push(changes);
      if (!more) break;
      path = /\/api\/v2\/([^>]*)>/.exec(headers.get('link') ?? '')?.[1] ?? '';
    }
    const seen = pages.flat().map(({ what, bot }) => what + bot);
    deepStrictEqual(seen, ['removed8', 'changed9']);
    await eventually(() => strictEqual(events.events.length, 2));
    events.close();
    deepStrictEqual(
      events.events.map(({ name, data }) => name + (JSON.parse(data) as { bot: string }).bot),
      seen,
    );
    strictEqual((await request('bots?ids=8')).headers.get('x-unknown-ids'), '8');
  });
});

describe('a guess of a route', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage() });
  });

  const counts = /post counts to POST \S+\/7\/stats, read them there and at \/api\/v2\/bots\/7\/counts$/;
  for (const [method, path, status] of [
    ['PUT', '/api/v2/bots/7/stats', 405],
    ['POST', '/api/v2/bots/7/counts', 405],
    ['POST', '/api/v2/bot/7/stats', 404],
    ['PATCH', '/bots/7/guilds', 404],
    ['GET', '/api/v1/bots/7/stats', 404],
  ] as const)
    it(`to post counts to gets the route for them: ${method} ${path}`, async () => {
      const { status: actual, json } = await service.request(path, { method });
      strictEqual(actual, status);
      match(json.detail, counts);
    });

  for (const { input, expected } of readCases('route-guesses'))
    it(`gets a 404 that names the route: ${input}`, async () => {
      const { status, json } = await service.request(input);
      deepStrictEqual([status, json.detail], [404, expected[0]]);
    });
});

describe('an ETag', () => {
  it('has nothing but a digest and the coding', async () => {
    const { address } = await startTestService({ [pagePath('7')]: mainPage() });
    for (const path of [
      'counts',
      'counts.csv',
      'counts?ids=7',
      'counts/history.csv',
      'export.ndjson',
      'bots/7',
    ])
      await eventually(async () => {
        const { status, headers } = await fetch(`${address}/api/v2/${path}`);
        strictEqual(status, 200);
        match(headers.get('etag') ?? '', /^"[\w-]{27}(?:-gzip|-br)?"$/, path);
      });
  });
});
