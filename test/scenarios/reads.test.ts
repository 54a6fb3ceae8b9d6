import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { eventually } from '../support/eventually.ts';
import { openSocket, type RawResponse, sendRaw, statusAfter } from '../support/raw-request.ts';
import { repositoryIn } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';

const homer = '190519304972663312';

const files = {
  [pagePath('7')]: mainPage({ name: 'seven', category: 'music', nsfw: true, created: 7000, edited: 9000 }),
  [pagePath('30')]: mainPage({
    name: 'Thirty',
    category: 'games',
    verified: true,
    created: 3000,
    authors: ['42', '43'],
  }),
  [pagePath('200', 'fr')]: mainPage(
    { name: 'Écrivain', description: 'Écrit des lettres.', created: 2000 },
    'long page '.repeat(200),
  ),
  [pagePath('200', 'en')]: translation('Writer', 'Writes letters.', 'A page.'),
  [pagePath(homer)]: mainPage(),
};

describe('reads', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService(files);
  });
  const raw = async (path: string, options: Parameters<typeof sendRaw>[2] = {}): Promise<RawResponse> =>
    await sendRaw(service.address, path, options);
  const ids = async (query: string): Promise<string> => {
    const { status, json } = await service.request(`/api/v2/bots?${query}`);
    strictEqual(status, 200, JSON.stringify(json));
    return (json as { id: string }[]).map(({ id }) => id).join(' ');
  };

  describe('GET /api/v2/bots', () => {
    it('without parameters responds with an array of all bots in numeric order of their ids', async () => {
      const { json, headers } = await service.request('/api/v2/bots');
      deepStrictEqual(
        json.map((bot: { id: string }) => bot.id),
        ['7', '30', '200', homer],
      );
      strictEqual(headers.get('x-total-count'), '4');
      strictEqual(headers.get('link'), null);
      deepStrictEqual(json[2].contents, {
        fr: { description: 'Écrit des lettres.', name: 'Écrivain' },
        en: { description: 'Writes letters.', name: 'Writer' },
      });
    });

    it('filters and sorts, and returns the requested fields, in the order of the record', async () => {
      strictEqual(await ids('category=music&category=games&sort=created'), '30 7');
      strictEqual(
        await ids('sort=random&category=fun&category=music'),
        (await ids('sort=-random&category=fun&category=music')).split(' ').toReversed().join(' '),
      );
      const { json } = await service.request('/api/v2/bots?fields=category,id&limit=1');
      strictEqual(JSON.stringify(json), '[{"id":"7","category":"music"}]');
    });

    for (const sort of ['', 'sort=-id', 'sort=name', 'sort=-created', 'sort=count', 'q=answers']) {
      it(`ordered by "${sort}" leads through all pages by Link`, async () => {
        const whole = (await ids(sort)).split(' ');
        const seen: string[] = [];
        let path: string | undefined = `/api/v2/bots?limit=1&${sort}`;
        while (path !== undefined) {
          const { json, headers } = await service.request(path);
          strictEqual(headers.get('x-total-count'), String(whole.length));
          seen.push(...json.map((bot: { id: string }) => bot.id));
          const link = /^<https:\/\/bots\.example\.org([^>]+)>; rel="next"$/.exec(headers.get('link') ?? '');
          path = link?.[1];
        }
        deepStrictEqual(seen, whole);
      });
    }
  });

  describe('GET /api/v2/bots/:id', () => {
    it('returns the bare record, its keys in the promised order, the default locale first', async () => {
      const { json } = await service.request('/api/v2/bots/200');
      strictEqual(
        Object.keys(json).join(' '),
        'id authors cachedImages category contents created edited codehost images invite legacy nsfw oauth random support trigger verified website',
      );
      deepStrictEqual(Object.keys(json.contents), ['fr', 'en']);
      strictEqual(json.contents.en.page, 'A page.');
      strictEqual(json.edited, 2000);
    });

    for (const paths of [
      ['/api/v2/bots', '/api/v2/bots/'],
      ['/api/v2/bots/7', '/api/v2/bots/7/', '/api/v1/bots/7', '/api/v1/bots/7/'],
    ])
      it(`responds with the same bytes at ${paths.join(' ')}`, async () => {
        const answers = await Promise.all(paths.map(async (path) => await service.request(path)));
        strictEqual(new Set(answers.map(({ text, headers }) => text + headers.get('etag'))).size, 1);
      });

    const noIds = '8 07 abc 123456789012345678901 .. %00 %zz %2e%2e%2f'.split(' ');
    for (const id of [...noIds, 'x'.repeat(8000)]) {
      it(`responds 404 with a problem for ${id.slice(0, 30)}`, async () => {
        const { status, body } = await raw(`/api/v2/bots/${id}`);
        strictEqual(status, 404);
        match(JSON.parse(String(body)).detail, /: /);
      });
    }
  });

  describe('GET /api/v1/bots', () => {
    it('lists every markdown file in path order, with its Git object id, and takes no parameter', async () => {
      const { json, headers } = await service.request('/api/v1/bots/');
      deepStrictEqual(
        json.map(({ path }: { path: string }) => path),
        Object.keys(files).toSorted(),
      );
      strictEqual(headers.get('x-total-count'), '5');
      const { name, main, size, sha } = json.find(({ locale }: { locale: string }) => locale === 'fr');
      deepStrictEqual(
        [name, main, size],
        ['Écrivain', true, Buffer.byteLength(files[pagePath('200', 'fr')] ?? '')],
      );
      match(sha, /^[0-9a-f]{40}$/);
      const refused = await service.request('/api/v1/bots?limit=5');
      deepStrictEqual([refused.status, refused.json.errors[0].pointer], [400, '?limit']);
    });
  });

  describe('HTTP', () => {
    const paths = ['/api/v1/bots', '/api/v2/bots', '/api/v2/bots?sort=-id', '/api/v2/bots/200'];

    for (const path of paths) {
      it(`GET ${path} twice responds with the same bytes, and 304 to its ETag in every coding`, async () => {
        for (const coding of ['identity', 'gzip', 'br']) {
          const get = async (headers: Record<string, string> = {}): Promise<RawResponse> =>
            await raw(path, { headers: { 'accept-encoding': coding, ...headers } });
          const [first, second] = [await get(), await get()];
          deepStrictEqual({ ...second, headers: undate(second) }, { ...first, headers: undate(first) });
          const etag = first.headers['etag'] ?? '';
          match(etag, /^"[\w-]+"$/, 'the ETag is strong');
          const several = `"other", ${etag}`;
          for (const condition of [etag, several, `W/${etag}`, '*']) {
            const again = await get({ 'if-none-match': condition });
            strictEqual(again.status, 304, condition);
            strictEqual(again.body.length, 0);
            strictEqual(again.headers['etag'], etag);
            strictEqual(again.headers['vary'], 'Accept-Encoding');
          }
          // The headers that `fetch` in Node sends.
          const fetched = { 'if-none-match': several, 'cache-control': 'no-cache', pragma: 'no-cache' };
          strictEqual((await get(fetched)).status, 304);
          strictEqual((await get({ 'if-none-match': '"other"' })).status, 200);
        }
      });

      it(`HEAD ${path} responds with the headers of GET and no body`, async () => {
        for (const _ of ['from the application', 'from the cache']) {
          const [get, head] = [await raw(path), await raw(path, { method: 'HEAD' })];
          deepStrictEqual(undate(head), undate(get));
          strictEqual(head.body.length, 0);
        }
      });
    }

    it('responses may be read by pages of other sites, and a preflight for reading responds 204', async () => {
      for (const path of ['/api/v2/bots', '/api/v2/bots?limit=0']) {
        const { headers } = await service.request(path);
        strictEqual(headers.get('access-control-allow-origin'), '*');
        match(
          headers.get('access-control-expose-headers') ?? '',
          /Link, RateLimit, .*Retry-After, .*X-Total-Count/,
        );
      }
      const preflight = await service.request('/api/v2/bots', { method: 'OPTIONS' });
      strictEqual(preflight.status, 204);
      strictEqual(preflight.headers.get('access-control-allow-methods'), 'GET, HEAD, OPTIONS');
      match(preflight.headers.get('allow') ?? '', /GET, HEAD, OPTIONS/);
      strictEqual(preflight.headers.get('access-control-allow-headers'), '*, Authorization');
    });

    it('two Host headers respond 400, also where the response is stored', async () => {
      for (const host of ['Host: x\r\n', 'Host: x\r\nhost: y\r\n']) {
        const socket = await openSocket(service.address);
        const status = await statusAfter(socket, `GET /api/v2/bots HTTP/1.1\r\n${host}\r\n`);
        socket.destroy();
        strictEqual(status, host.includes('y') ? 400 : 200);
      }
    });

    it('another method responds 405 with Allow, an unknown path 404, and 406 where no coding is acceptable', async () => {
      for (const [method, path, allow] of [
        ['DELETE', '/api/v2/bots', 'GET, HEAD, OPTIONS'],
        ['POST', '/healthz', 'GET, HEAD, OPTIONS'],
        ['GET', '/bots/7/token/revoke', 'OPTIONS, POST'],
      ] as const) {
        const { status, headers } = await service.request(path, { method });
        deepStrictEqual([status, headers.get('allow')], [405, allow]);
      }
      for (const method of ['GET', 'POST', 'OPTIONS']) {
        const { status, json } = await service.request('/api/v3/bots', { method });
        strictEqual(status, 404);
        match(json.detail, /^there is nothing at "\/api\/v3\/bots": /);
      }
      strictEqual(
        (await raw('/api/v2/bots', { headers: { 'accept-encoding': 'identity;q=0' } })).status,
        406,
      );
    });

    it('a resource of one type is sent whatever Accept names', async () => {
      for (const path of ['/api/v1/bots/', '/api/v2/bots', '/api/v2/bots/7', '/api/v2/export.ndjson', '/'])
        for (const accept of ['application/json; charset=utf-8', 'application/json;version=1', 'image/png'])
          strictEqual((await raw(path, { headers: { accept } })).status, 200, `${path} ${accept}`);
      const events = { headers: { accept: 'text/event-stream; charset=utf-8' } };
      const stream = await fetch(`${service.address}/api/v2/changes`, events);
      strictEqual(stream.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      await stream.body?.cancel();
      const missing = { headers: { accept: 'text/html; charset=utf-8' } };
      const page = await fetch(`${service.address}/nothing`, missing);
      match(page.headers.get('content-type') ?? '', /^text\/html/);
    });

    it('the parameter _ is left out of reads, before a stored response is looked for', async () => {
      const first = await raw('/api/v2/bots?limit=1');
      for (const query of ['limit=1&_=1', '_=2&limit=1', '_=&limit=1&_=3&_=4', '_&limit=1&_'])
        deepStrictEqual(undate(await raw(`/api/v2/bots?${query}`)), undate(first), query);
      strictEqual((await service.request('/api/v2/bots/7?_=5')).status, 200);
      strictEqual((await service.request('/api/v2/bots?a_=5')).status, 400);
    });
  });
});

function undate({ headers }: RawResponse): object {
  return { ...headers, date: undefined };
}

describe('the catalogue of a SHA-256 repository', () => {
  it('lists a file with the id that Git has for it, when it starts and when the file has changed', async () => {
    const root = tempFolder();
    execFileSync('git', ['init', '-q', '-b', 'main', '--object-format=sha256', root]);
    const clone = repositoryIn(root);
    const path = pagePath('7');
    clone.commit({ '.gitignore': '/var/\n', [path]: mainPage() });
    const service = await startTestService({}, { root });
    const sha = async (): Promise<string> => (await service.request('/api/v1/bots')).json[0].sha;
    const first = clone.git('rev-parse', `HEAD:${path}`);
    strictEqual(first.length, 64);
    strictEqual(await sha(), first);
    clone.commit({ [path]: mainPage({ category: 'music' }) });
    await eventually(async () => strictEqual(await sha(), clone.git('rev-parse', `HEAD:${path}`)));
  });
});
