import { match, ok, strictEqual } from 'node:assert/strict';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('the query of an address', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage() });
  });

  for (const path of ['/', '/bots/7', '/categories/fun', '/api/v2/bots', '/api/v2/bots/7', '/api/v1/bots']) {
    it(`is refused unread on ${path} where it has thousands of parameters, which took most of a second`, async () => {
      const { status, json, text } = await service.request(`${path}?${'a&'.repeat(7000)}`);
      strictEqual(status, 400);
      match(json.detail, /more than 100 parameters: /);
      ok(text.length < 1000, `${text.length} bytes`);
    });
  }

  it('is read up to its hundredth parameter', async () => {
    const categories = (count: number): string =>
      Array.from({ length: count }, () => 'category=fun').join('&');
    strictEqual((await service.request(`/api/v2/bots?${categories(100)}`)).status, 200);
    strictEqual((await service.request(`/api/v2/bots?${categories(101)}`)).status, 400);
  });

  it('is answered with twenty errors however many it has, where it was with a megabyte', async () => {
    const names = Array.from({ length: 90 }, (_, i) => `name${i}`);
    const { status, json, text } = await service.request(`/api/v2/bots?${names.join('&')}`);
    strictEqual(status, 400);
    strictEqual(json.errors.length, 20);
    match(json.detail, /; and 70 more$/);
    ok(text.length < 10_000, `${text.length} bytes`);
  });

  it('is refused as a form too', async () => {
    const body = 'name=x&'.repeat(20_000);
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' };
    const { status, json } = await service.request('/add', { method: 'POST', body, headers });
    strictEqual(status, 400);
    match(json.detail, /more than 100 parameters: /);
  });
});
