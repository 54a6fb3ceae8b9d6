import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import type { BotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { addExportRoute, createExportPlaces } from '../../../src/http/api/changes-routes.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { atTime } from '../../support/at-time.ts';
import { eventually } from '../../support/eventually.ts';
import { serveHandler } from '../../support/handler.ts';
import { openerOf } from '../../support/opened.ts';
import { repositoryIn, type TestRepository, testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';

interface Line {
  readonly id: string;
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

describe('GET /api/v2/export.ndjson', function () {
  let service: TestService;
  let root: string;
  const path = '/api/v2/export.ndjson';
  const french =
    '---\n{ "name": "Homère",  "description": "Des\\u0020beignets." }\n---\r\n\r\nÀ bientôt \t\n\n';
  const files = {
    [pagePath('7')]: mainPage(),
    [pagePath('7', 'fr')]: french,
    [pagePath('10')]: mainPage({ name: 'Lisa' }),
  };
  const read = async (): Promise<Response & { lines: Line[] }> => {
    const response = await fetch(service.address + path);
    const lines = (await response.text()).split('\n');
    strictEqual(lines.pop(), '');
    return Object.assign(response, { lines: lines.map((line) => JSON.parse(line) as Line) });
  };
  const tip = (): string => repositoryIn(root).git('rev-parse', 'HEAD').trim();

  before(async () => {
    root = testRepository(files).folder;
    service = await startTestService({}, { root });
  });

  it('has the record of each bot, by id, with its files byte for byte', async () => {
    const { lines, headers } = await read();
    for (const { files: _files, ...record } of lines)
      deepStrictEqual(record, (await service.request(`/api/v2/bots/${record.id}`)).json);
    deepStrictEqual(
      lines.map((line) => line.files.map((file) => [file.path, file.text])),
      [
        [pagePath('7'), pagePath('7', 'fr')].map((at) => [at, readFileSync(join(root, at), 'utf8')]),
        [[pagePath('10'), files[pagePath('10')]]],
      ],
    );
    strictEqual(headers.get('content-type'), 'application/x-ndjson');
    strictEqual(headers.get('x-cursor'), tip());
    match(headers.get('access-control-expose-headers') ?? '', /X-Cursor/);
  });

  it('is a gzip file under its other name', async () => {
    const response = await fetch(`${service.address}${path}.gz`);
    strictEqual(response.headers.get('content-type'), 'application/gzip');
    strictEqual(response.headers.get('content-encoding'), null);
    const plain = await (await fetch(service.address + path)).text();
    strictEqual(gunzipSync(await response.arrayBuffer()).toString(), plain);
  });

  it('has another ETag and cursor after a commit @slow', async () => {
    const { headers } = await read();
    const condition = { headers: { 'If-None-Match': headers.get('etag') ?? '' } };
    strictEqual((await fetch(service.address + path, condition)).status, 304);
    writeFileSync(join(root, pagePath('10')), mainPage({ name: 'Bart' }));
    repositoryIn(root).git('commit', '-qam', 'Rename');
    await eventually(async () => {
      const later = await read();
      strictEqual(later.headers.get('x-cursor'), tip());
      notStrictEqual(later.headers.get('etag'), headers.get('etag'));
      match(later.lines[1]?.files[0]?.text ?? '', /Bart/);
    });
  });

  it('has the last valid version of a faulty file', async () => {
    const text = readFileSync(join(root, pagePath('10')), 'utf8');
    service.expectLog(/a file breaks a rule/);
    writeFileSync(join(root, pagePath('10')), 'half a page');
    await eventually(() => match(service.log(), /a file breaks a rule/));
    strictEqual((await read()).lines[1]?.files[0]?.text, text);
  });

  it('is sent to at most eight at once, two of one client, also where they do not read; others are told to come back, and take the place of one that is slow @slow', async () => {
    const text = `${'Ⓓ'.repeat(99)}\n`.repeat(190);
    // More than sockets hold.
    const large = Array.from({ length: 120 }, (_, i) => [
      pagePath(String(i)),
      mainPage({ name: `Bot ${i}` }, text),
    ]);
    const files = Object.fromEntries(large) as Record<string, string>;
    const { address } = await startTestService(files, { env: { BOTSHELF_TRUST_PROXY: 'on' } });
    const from = (client: string, many: number): Socket[] =>
      Array.from({ length: many }, () => stalledReader(new URL(address), client));
    const sockets = from('192.0.2.1', 2);
    const readable = async (): Promise<unknown> =>
      await Promise.all(sockets.map(async (socket) => socket.readable || (await once(socket, 'readable'))));
    try {
      await readable();
      const third = await fetch(address + path, { headers: { 'X-Forwarded-For': '192.0.2.1' } });
      deepStrictEqual([third.status, third.headers.get('retry-after')], [429, '60']);
      match(await third.text(), /2 exports to your network are being sent/);
      for (const client of ['192.0.2.2', '192.0.2.3', '192.0.2.4']) sockets.push(...from(client, 2));
      await readable();
      const response = await fetch(address + path);
      deepStrictEqual([response.status, response.headers.get('retry-after')], [503, '60']);
      match(await response.text(), /8 exports are being sent/);
      const inAnHour = async (): Promise<Response> => await fetch(address + path);
      strictEqual((await atTime(Date.now() + 3_600_000, inAnHour)).status, 200);
    } finally {
      for (const socket of sockets) socket.destroy();
    }
    await eventually(async () => strictEqual((await fetch(address + path)).status, 200));
  });
});

describe('GET /api/v2/export.ndjson before the last commit is known', () => {
  const cases = [
    ['is 503 as the changes are, and then 200 with the cursor', testRepository, 503, 'a'],
    ['has no cursor in a repository without a commit', unborn, 200, undefined],
    ['has no cursor without a repository', () => ({ folder: tempFolder() }), 200, undefined],
  ] as const;
  for (const [title, make, first, cursor] of cases)
    it(title, async () => {
      const { folder } = make();
      const bots = { sorted: async () => [] } as unknown as BotIndex;
      const feed: { tip: string | undefined } = { tip: undefined };
      const router = new Router();
      const [places, cache] = [createExportPlaces(), new CurrentCache()];
      const repositoryOpener = openerOf(folder);
      const settings = () => ({ license: null });
      const parts = { bots, catalogue: { root: folder }, repositoryOpener, feed, places, cache, settings };
      addExportRoute(router, parts);
      const { send } = await serveHandler(router.routes() as Middleware);
      const read = async (): Promise<unknown[]> => {
        const { status, headers } = await send('GET', '/api/v2/export.ndjson');
        return [status, headers['x-cursor']];
      };
      deepStrictEqual(await read(), [first, undefined]);
      feed.tip = cursor;
      deepStrictEqual(await read(), [200, cursor]);
    });
});

function unborn(): TestRepository {
  const repository = testRepository();
  repository.git('update-ref', '-d', 'HEAD');
  return repository;
}

/** Requests the export and reads only its beginning. */
function stalledReader({ hostname, port }: URL, client: string): Socket {
  const socket = connect(Number(port), hostname);
  const headers = `Host: ${hostname}\r\nX-Forwarded-For: ${client}`;
  socket.write(`GET /api/v2/export.ndjson HTTP/1.1\r\n${headers}\r\n\r\n`);
  return socket;
}
