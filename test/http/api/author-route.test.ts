import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { mainPage, pagePath, writeFiles } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { profile } from '../../support/side-files.ts';

describe('GET /api/v2/authors/:id', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({
      [pagePath('10')]: mainPage({ authors: ['5', '6'], created: 2000 }),
      [pagePath('9')]: mainPage({ authors: ['5'], created: 1000, nsfw: true }),
      'people/5.json': profile({ website: 'https://ada.example.org/', description: { en: 'Makes bots.' } }),
      'people/7.json': profile({ name: 'Bob' }),
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
