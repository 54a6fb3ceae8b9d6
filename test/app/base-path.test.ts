import { strictEqual } from 'node:assert/strict';
import { Router } from '@koa/router';
import { withoutBasePath } from '../../src/app/app.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('the path of the public address', () => {
  const router = new Router();
  for (const path of ['/', '/docs', '/bots/:id', '/bots/:id/token', '/robots.txt'])
    router.get(path, () => {});
  const api = new Router();
  api.get(['/api/v1/bots/:id', '/api/v2/bots/:id'], () => {});

  for (const { title, input, expected } of readCases('base-paths'))
    it(title, () => {
      for (const line of expected) {
        const [url = '', rewritten = url] = line.split(' → ');
        strictEqual(withoutBasePath(input, [api, router])(url), rewritten, url);
      }
    });
});
