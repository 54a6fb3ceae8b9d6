import { strictEqual } from 'node:assert/strict';
import { Router } from '@koa/router';
import { withoutBasePath } from '../../src/http/middleware.ts';

describe('the path of the public address', () => {
  const router = new Router();
  for (const path of ['/', '/docs', '/bots/:id', '/bots/:id/token', '/robots.txt'])
    router.get(path, () => {});
  const api = new Router();
  api.get(['/api/v1/bots/:id', '/api/v2/bots/:id'], () => {});
  const holds = (basePath: string, cases: readonly (readonly [url: string, rewritten: string])[]): void => {
    const rewrite = withoutBasePath(basePath, [api, router]);
    for (const [url, rewritten] of cases) strictEqual(rewrite(url), rewritten, url);
  };

  it('is removed where the proxy has not removed it', () => {
    holds('/shelf', [
      ['/shelf/', '/'],
      ['/shelf', '/'],
      ['/shelf?q=music', '/?q=music'],
      ['/shelf/?q=music', '/?q=music'],
      ['/shelf/docs?locale=de', '/docs?locale=de'],
      ['/shelf/api/v2/bots/7', '/api/v2/bots/7'],
      ['/shelf/robots.txt', '/robots.txt'],
    ]);
    holds('/a/b', [
      ['/a/b/bots/7', '/bots/7'],
      ['/a/bots/7', '/a/bots/7'],
    ]);
  });

  it('is left alone in a path that only looks like it', () => {
    for (const url of ['/shelfs/docs', '/docs', '/bots/7?to=/shelf/', '/', '/shelf/nothing', '/shelf-docs'])
      holds('/shelf', [[url, url]]);
  });

  it('may be the name of a folder of the site, behind both kinds of proxies', () => {
    holds('/bots', [
      ['/bots/bots/7/token', '/bots/7/token'],
      ['/bots/7/token', '/bots/7/token'],
      ['/bots/', '/'],
      ['/bots/docs', '/docs'],
      ['/docs', '/docs'],
      ['/bots/api/v2/bots/7', '/api/v2/bots/7'],
    ]);
    holds('/docs', [
      ['/docs', '/docs'],
      ['/docs/docs', '/docs'],
    ]);
  });
});
