import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { readCases } from '../../support/fixture-lines.ts';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type LocalService } from '../../support/service.ts';
import { commitCounts } from '../../support/counts.ts';
import { issueTestToken } from '../../support/token.ts';

const homer = '190519304972663312';
const marge = '190519304972663313';
const bart = '190519304972663314';
const day = 24 * 60 * 60;

describe('GET /api/v2/bots/:id/counts', () => {
  let service: LocalService;
  let root: string;
  /** Midnight UTC. */
  let today: number;
  const dayBefore = (days: number): string =>
    new Date((today - days * day) * 1000).toISOString().slice(0, 10);

  before(async () => {
    root = testRepository({
      [pagePath(homer)]: mainPage(),
      [pagePath(marge)]: mainPage({ name: 'Marge' }),
      [pagePath(bart)]: mainPage({ name: 'Bart' }),
    }).folder;
    today = Math.floor(Date.now() / 1000 / day) * day;
    commitCounts(root, [
      { time: today - 40 * day, counts: { [homer]: 1000 } },
      { time: today - 3 * day + 5 * 3600, counts: { [homer]: 1200 } },
      { time: today - 2 * day, counts: { [homer]: 900, 777: 4 } },
    ]);
    service = await startTestService({}, { root, env: { BOTSHELF_STATE_SECONDS: '1' } });
    await eventually(async () =>
      strictEqual((await service.request(`/api/v2/bots/${homer}/counts`)).status, 200),
    );
  });

  it('returns the last count of each day since the first, as JSON', async () => {
    const { json, headers } = await service.request(`/api/v2/bots/${homer}/counts`);
    strictEqual(json.length, 41);
    deepStrictEqual(json[0], { at: dayBefore(40), count: 1000 });
    deepStrictEqual(json.slice(-4), [
      { at: dayBefore(3), count: 1200 },
      { at: dayBefore(2), count: 900 },
      { at: dayBefore(1), count: 900 },
      { at: dayBefore(0), count: 900 },
    ]);
    strictEqual(headers.get('access-control-allow-origin'), '*');
  });

  it('returns a part of them, times rounded down to their day', async () => {
    const range = `from=${dayBefore(3)}T23:59Z&to=${dayBefore(2)}`;
    const days = await service.request(`/api/v2/bots/${homer}/counts?${range}`);
    deepStrictEqual(days.json, [
      { at: dayBefore(3), count: 1200 },
      { at: dayBefore(2), count: 900 },
    ]);
    // As Python writes it, encoded and not.
    for (const utc of ['%2B00:00', '+00:00']) {
      const query = `from=${dayBefore(3)}T23:59:58.123456${utc}&to=${dayBefore(2)}T00:00${utc}`;
      deepStrictEqual((await service.request(`/api/v2/bots/${homer}/counts?${query}`)).json, days.json);
    }
    for (const query of ['from=2100-01-01&to=2100-02-01', 'from=2100-01-01'])
      deepStrictEqual((await service.request(`/api/v2/bots/${homer}/counts?${query}`)).json, []);
  });

  it('returns CSV to clients that prefer it', async () => {
    const path = `/api/v2/bots/${homer}/counts?from=${dayBefore(3)}&to=${dayBefore(2)}`;
    const response = await fetch(service.address + path, { headers: { Accept: 'text/csv' } });
    strictEqual(response.headers.get('content-type'), 'text/csv; charset=utf-8');
    match(response.headers.get('vary') ?? '', /Accept, Accept-Encoding/);
    strictEqual(await response.text(), `at,count\r\n${dayBefore(3)},1200\r\n${dayBefore(2)},900\r\n`);
    for (const { input, expected } of readCases('count-types')) {
      const { headers } = await fetch(service.address + path, { headers: { Accept: input } });
      strictEqual(headers.get('content-type'), expected[0], input);
    }
  });

  it('says by its ETag whether anything has changed', async () => {
    const path = `/api/v2/bots/${homer}/counts?from=${dayBefore(3)}&to=${dayBefore(2)}`;
    const { headers } = await service.request(path);
    const again = await service.request(path, { headers: { 'If-None-Match': headers.get('etag') ?? '' } });
    strictEqual(again.status, 304);
    strictEqual(again.text, '');
    strictEqual((await service.request(path, { method: 'HEAD' })).status, 200);
  });

  it('ends in the count that was posted last', async () => {
    deepStrictEqual((await service.request(`/api/v2/bots/${marge}/counts`)).json, []);
    const token = await issueTestToken(root, marge);
    const post = async (count: number): Promise<void> => {
      strictEqual((await service.post(marge, token, { count })).status, 200);
    };
    await post(5);
    const latest = async (): Promise<unknown> =>
      (await service.request(`/api/v2/bots/${marge}/counts`)).json.at(-1)?.count;
    strictEqual(await latest(), 5);
    await post(3);
    strictEqual(await latest(), 3);
  });

  it('sorts the list by growth, and tells which bots are active', async () => {
    const ids = async (query: string): Promise<string[]> =>
      (await service.request(`/api/v2/bots?${query}`)).json.map(({ id }: { id: string }) => id);
    // Homer has gone from 1,000 to 900 since the day 30 days ago; the others had no count then, Bart has none at all.
    deepStrictEqual(await ids('sort=growth'), [marge, bart, homer]);
    deepStrictEqual(await ids('sort=-growth'), [homer, bart, marge]);
    deepStrictEqual(await ids('active=30d'), [homer, marge]);
    deepStrictEqual(await ids('active=30d&q=lisa'), []);
    const { status, json } = await service.request('/api/v2/bots?active=8d');
    strictEqual(status, 400);
    match(json.detail, /send 7d or 30d,/);
  });

  it('returns those of all listed bots, of the days on which they posted, as NDJSON and CSV', async () => {
    const path = '/api/v2/counts/history';
    const read = async (kind: string): Promise<Response> => await fetch(`${service.address}${path}.${kind}`);
    const days = [
      [dayBefore(3), 1200],
      [dayBefore(2), 900],
    ];
    const response = await read('ndjson');
    strictEqual(response.headers.get('content-type'), 'application/x-ndjson');
    const lines = days.map(([at, count]) => `{"at":"${at}","id":"${homer}","count":${count}}\n`);
    strictEqual(await response.text(), lines.join(''));
    const csv = days.map(([at, count]) => `${at},${homer},${count}\r\n`);
    strictEqual(await (await read('csv')).text(), `at,id,count\r\n${csv.join('')}`);
    const part = `?from=${dayBefore(41)}&to=${dayBefore(3)}`;
    strictEqual(
      await (await read(`csv${part}`)).text(),
      `at,id,count\r\n${dayBefore(40)},${homer},1000\r\n${csv[0]}`,
    );
    const headers = { 'If-None-Match': response.headers.get('etag') ?? '' };
    strictEqual((await service.request(`${path}.ndjson`, { headers })).status, 304);
    strictEqual((await fetch(`${service.address}${path}.ndjson${part}`, { headers })).status, 200);
    const { status, json } = await service.request(`${path}.csv?from=2025-01-01&to=2026-01-02`);
    strictEqual(status, 400);
    match(json.detail, /there are 367 days until the last: request at most 366 together/);
  });

  it('refuses what it does not understand, everything at once, and says what to do', async () => {
    for (const { input, expected } of readCases('count-query-faults')) {
      const { status, json } = await service.request(`/api/v2/bots/${homer}/counts?${input}`);
      const errors = json.errors as Readonly<Record<'pointer' | 'detail', string>>[];
      const told = errors.map(({ pointer, detail }) => `${pointer} ${detail}`);
      deepStrictEqual([status, ...told], [400, ...expected], input);
    }
    strictEqual((await service.request(`/api/v2/bots/${homer}/counts?from=2000-01-01`)).status, 400);
  });

  it('knows no counts of a bot that is not listed, though the state has some', async () => {
    strictEqual((await service.request('/api/v2/bots/777/counts')).status, 404);
    strictEqual((await service.request('/api/v2/bots/homer/counts')).status, 404);
    strictEqual((await service.request(`/api/v2/bots/${homer}/counts`, { method: 'POST' })).status, 405);
  });
});
