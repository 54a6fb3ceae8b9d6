import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { mainPage, pagePath, translation } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { Visitor } from '../../support/visitor.ts';

const invite = 'https://discord.com/oauth2/authorize?client_id=1&scope=bot&permissions=';
const files = {
  [pagePath('1')]: mainPage({ name: 'Powerful', category: 'fun', invite: `${invite}8` }),
  [pagePath('2')]: mainPage({ name: 'Modest', category: 'fun', invite: `${invite}2048` }),
  [pagePath('2', 'fr')]: translation('Modeste', 'Modeste.', ''),
};

/** Returns the ids of the bots that a page lists. */
const idsIn = (html: string): string[] =>
  [...html.matchAll(/href="\/bots\/(\d+)"/g)].map(([, id = '']) => id);

describe('the filters that a browser remembers', function () {
  this.timeout(30_000);
  let service: TestService;
  before(async () => {
    service = await startTestService(files);
  });

  const get = async (path: string, cookie?: string): Promise<Response> =>
    await fetch(service.address + path, {
      redirect: 'manual',
      headers: { Accept: 'text/html', ...(cookie !== undefined && { Cookie: cookie }) },
    });
  /** Returns where a link with this text leads to. */
  const linkTo = (html: string, text: string): string => {
    const [, path] = new RegExp(`<a [^>]*href="([^"]*)"[^>]*>${text}</a>`).exec(html) ?? [];
    ok(path, text);
    return service.address + path.replaceAll('&amp;', '&');
  };

  it('are in every list from when they are chosen until a link ends it', async () => {
    const visitor = new Visitor();
    const all = await visitor.go(`${service.address}/?sort=popular`);
    const modest = await visitor.go(linkTo(all.text, 'Without Administrator'));
    strictEqual(modest.url.search, '?administrator=false');
    deepStrictEqual(idsIn(modest.text), ['2']);
    match(modest.text, /is remembered in a cookie on this device\./);
    const [[name = '', value] = []] = visitor.cookies.get(modest.url.host) ?? [];
    strictEqual(`${name}=${value}`, '__Host-botshelf-filters=administrator=false');

    const search = await visitor.go(`${service.address}/?q=powerful&locale=en`);
    strictEqual(search.url.search, '?q=powerful&locale=en&administrator=false');
    const fun = await visitor.go(`${service.address}/categories/fun?page=1`);
    deepStrictEqual(idsIn(fun.text), ['2']);
    strictEqual((await visitor.go(`${service.address}/`)).url.search, '');

    const french = await visitor.go(linkTo(fun.text, 'French'));
    strictEqual(french.url.search, '?language=fr&administrator=false');
    match(french.text, /<h1>Fun bots, without Administrator, in French</);
    const forgotten = await visitor.go(linkTo(french.text, 'Forget it'));
    deepStrictEqual(idsIn(forgotten.text).toSorted(), ['1', '2']);
    strictEqual(visitor.cookies.get(modest.url.host)?.size, 0);
    ok(!forgotten.text.includes('remembered in a cookie'));
  });

  it('are ended by a search that they leave nothing of', async () => {
    const visitor = new Visitor();
    await visitor.go(`${service.address}/?administrator=false&remember=yes`);
    const nothing = await visitor.go(`${service.address}/?q=powerful`);
    match(nothing.text, /No bots match/);
    const [, path = ''] = /<a class="button quiet" [^>]*href="([^"]*remember=yes)"/.exec(nothing.text) ?? [];
    const found = await visitor.go(service.address + path.replaceAll('&amp;', '&'));
    deepStrictEqual(idsIn(found.text), ['1']);
  });

  it('give way to what an address names', async () => {
    const cookie = '__Host-botshelf-filters=administrator=false&language=fr';
    strictEqual(
      (await get('/?q=bot', cookie)).headers.get('location'),
      '/?q=bot&administrator=false&language=fr',
    );
    strictEqual((await get('/?language=en&administrator=any', cookie)).status, 200);
    strictEqual(
      (await get('/?language=en', cookie)).headers.get('location'),
      '/?language=en&administrator=false',
    );
    const damaged = '__Host-botshelf-filters=administrator=x&q=y&';
    const path = (await get('/?sort=newest', damaged)).headers.get('location') ?? '';
    strictEqual(path, '/?sort=newest&administrator=x');
    strictEqual((await get(path, damaged)).status, 200);
  });

  it('never reach another visitor through a cache', async () => {
    const cookie = '__Host-botshelf-filters=administrator=false';
    for (const path of ['/?sort=popular', '/categories/fun', '/?q=powerful']) {
      const plain = await get(path);
      const etag = plain.headers.get('etag') ?? '';
      match(plain.headers.get('vary') ?? '', /Cookie/);
      strictEqual(plain.headers.get('cache-control'), 'no-cache');
      // A cache in front asks with its ETag whether what it has is for this visitor, too.
      const response = await fetch(service.address + path, {
        redirect: 'manual',
        headers: { Accept: 'text/html', Cookie: cookie, 'If-None-Match': etag },
      });
      strictEqual(response.status, 303);
      strictEqual(response.headers.get('cache-control'), 'no-store');
      const again = await get(path);
      strictEqual(again.headers.get('etag'), etag);
      strictEqual(again.headers.get('set-cookie'), null);
    }
    const remembered = await get('/?administrator=false', cookie);
    const linked = await get('/?administrator=false');
    ok((await remembered.text()).includes('remembered in a cookie'));
    ok(!(await linked.text()).includes('remembered in a cookie'));
    ok(remembered.headers.get('etag') !== linked.headers.get('etag'));
    strictEqual((await get('/?administrator=false&remember=yes')).headers.get('cache-control'), 'no-store');
  });

  it('are nothing to the API', async () => {
    const headers = { Cookie: '__Host-botshelf-filters=administrator=false' };
    strictEqual((await service.request('/api/v2/bots', { headers })).json.length, 2);
    const { json } = await service.request('/api/v2/bots?administrator=false&q=modest');
    deepStrictEqual(
      json.map(({ id }: { readonly id: string }) => id),
      ['2'],
    );
  });
});
