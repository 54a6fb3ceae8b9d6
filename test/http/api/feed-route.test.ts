import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { rmSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { Router } from '@koa/router';
import Koa from 'koa';
import type { ChangeFeed } from '../../../src/catalogue/changes/change-feed.ts';
import { addFeedRoute } from '../../../src/http/api/changes-routes.ts';
import { listen } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { eventually } from '../../support/eventually.ts';
import { EventReader } from '../../support/event-reader.ts';
import { repositoryIn, type TestRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { issueTestToken } from '../../support/token.ts';

describe('the stream of GET /api/v2/changes', () => {
  it('ends for a reader that takes nothing, once its connection has had no traffic for a while @slow', async () => {
    // Any number of changes, as the system takes megabytes before it waits for the reader.
    const changes = [{ what: 'changed', cursor: 'a', json: 'x'.repeat(1_000_000) }];
    let pages = 0;
    const read = async (): Promise<object> => ({ changes, next: String(pages++), current: () => true });
    const feed = { tip: 'a', moves: new EventEmitter(), signal: new AbortController().signal, read };
    const router = new Router();
    addFeedRoute(router, feed as unknown as ChangeFeed, '');
    const app = new Koa();
    app.silent = true;
    let stream: Readable | undefined;
    app.use(async (ctx, next) => {
      await next();
      stream = ctx.body as Readable;
      // As the server does for every response, with two minutes.
      ctx.res.setTimeout(500);
    });
    app.use(router.routes());
    const options = { host: '127.0.0.1', port: 0, maxConnections: 10, log: silentLog };
    const server = await listen(app.callback(), options);
    const reader = connect(server.port, '127.0.0.1');
    reader.write('GET /api/v2/changes HTTP/1.1\r\nHost: x\r\nAccept: text/event-stream\r\n\r\n');
    await eventually(() => stream?.destroyed === true);
    ok(pages > 2);
    reader.destroy();
    await server.close();
  });
});

describe('GET /api/v2/changes', () => {
  let service: TestService;
  let person: TestRepository;
  let start: string;
  let token: string;
  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage(), [pagePath('8')]: mainPage() });
    person = repositoryIn(service.root);
    token = await issueTestToken(service.root, '7');
    start = person.git('rev-parse', 'HEAD');
  });

  const path = '/api/v2/changes';
  const post = async (website: string): Promise<string> => {
    const { json } = await service.post('7', token, { website });
    return (json as { commit: string }).commit;
  };
  const released = async (commit: string): Promise<void> =>
    await eventually(async () => strictEqual((await service.request(path)).json.next, commit));

  it('has no history without a cursor, and pages after one, each with a link to the next @slow', async () => {
    const present = await service.request(path);
    deepStrictEqual(present.json, { changes: [], next: start, more: false });
    const posted = await post('https://example.org/1');
    await released(posted);
    const pages = { [pagePath('8')]: mainPage({ name: 'Marge' }), [pagePath('9')]: mainPage() };
    await released(person.commit(pages));
    const words: string[] = [];
    let address = `${path}?since=${start}&limit=2`;
    for (let more = true; more;) {
      const { json, headers } = await service.request(address);
      for (const { what, bot, keys } of json.changes) words.push(`${what} ${bot} ${keys}`);
      ({ more } = json);
      const [, link = ''] =
        /^<https:\/\/bots\.example\.org(.*)>; rel="next"$/.exec(headers.get('link') ?? '') ?? [];
      strictEqual(link, `${path}?since=${json.next}&limit=2`);
      address = link;
    }
    deepStrictEqual(words, ['changed 7 edited,website', 'changed 8 name', 'added 9 ']);
  });

  it('has an ETag, which is current until the branch moves', async () => {
    const address = `${path}?since=${start}`;
    const etag = (await service.request(address)).headers.get('etag') ?? '';
    const again = async (): Promise<number> =>
      (await service.request(address, { headers: { 'If-None-Match': etag } })).status;
    strictEqual(await again(), 304);
    strictEqual(await again(), 304);
    await post('https://example.org/2');
    await eventually(async () => strictEqual(await again(), 200));
  });

  it('refuses what is no cursor, and a cursor of another history', async () => {
    const bad = await service.request(`${path}?since=main&limit=0`);
    strictEqual(bad.status, 400);
    deepStrictEqual(
      bad.json.errors.map(({ pointer }: { pointer: string }) => pointer),
      ['?since', '?limit'],
    );
    for (const accept of ['application/json', 'text/event-stream']) {
      const gone = await service.request(`${path}?since=${'0'.repeat(40)}`, { headers: { Accept: accept } });
      strictEqual(gone.status, 410);
      strictEqual(gone.json.type, 'urn:botshelf:problem:unknown-cursor');
      match(gone.json.detail, /\/api\/v2\/export\.ndjson/);
    }
  });

  it('is a stream of events, which goes on where a reader was @slow', async () => {
    const first = new EventReader(`${service.address}${path}`);
    await eventually(() => first.lastId !== '');
    const posted = await post('https://example.org/3');
    await eventually(() => strictEqual(first.events.length, 1));
    const [event] = first.events;
    strictEqual(event?.name, 'changed');
    // Both are cursors.
    match(event.id, new RegExp(`^[0-9a-f]{40}\\.${posted}\\.7$`));
    await eventually(() => strictEqual(first.lastId, posted));
    strictEqual(JSON.parse(event.data).bot, '7');
    first.close();
    await post('https://example.org/4');
    const edited = person.commit({
      [pagePath('8')]: mainPage({ name: 'Lisa' }),
      [pagePath('9')]: mainPage({}, 'x'),
    });
    const second = new EventReader(`${service.address}${path}?since=${start}`, first.lastId);
    await eventually(() => strictEqual(second.events.length, 3));
    strictEqual(second.events.map(({ data }) => JSON.parse(data).bot).join(' '), '7 8 9');
    await eventually(() => strictEqual(second.lastId, edited));
    second.close();
  });

  it('ends its streams when the service stops, and says what to do without a Git repository', async () => {
    const other = await startTestService({ [pagePath('7')]: mainPage() });
    const reader = new EventReader(`${other.address}${path}`);
    await eventually(() => reader.lastId !== '');
    await other.stop();
    ok(await reader.ended, 'it was cut off');
    rmSync(join(other.root, '.git'), { recursive: true });
    const without = await startTestService({}, { root: other.root });
    without.allowLog(/Git repository/);
    const { status, headers, json } = await without.request(path);
    deepStrictEqual([status, headers.get('retry-after')], [503, '60']);
    match(json.detail, /Git repository/);
  });
});
