import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { BotSearch } from '../../src/catalogue/search/bot-search.ts';
import { eventually } from '../support/eventually.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('searches that cannot keep up', () => {
  const { update } = BotSearch.prototype;
  let release = (): void => {};
  let service: TestService;
  /** The responses so far: the client, the status and Retry-After. */
  const responses: string[] = [];

  before(async () => {
    const env = { BOTSHELF_TRUST_PROXY: 'on', BOTSHELF_BASE_URL: 'https://bots.example' };
    service = await startTestService({ [pagePath('42')]: mainPage({ name: 'Duffman' }) }, { env });
    const released = new Promise<void>((resolve) => (release = resolve));
    BotSearch.prototype.update = async function () {
      await released;
      await update.apply(this);
    };
  });
  after(() => {
    release();
    BotSearch.prototype.update = update;
  });

  const send = async (client: string, path: string): Promise<void> => {
    const response = await fetch(service.address + path, { headers: { 'X-Forwarded-For': client } });
    await response.text();
    responses.push(`${client} ${response.status} ${response.headers.get('Retry-After')}`);
  };
  /** Sends searches to the API and the site in turns. */
  const sendSearches = (client: string, many: number): Promise<void>[] =>
    Array.from(
      { length: many },
      async (_, i) =>
        await send(client, i % 2 === 0 ? `/api/v2/bots?q=duff+${client}+${i}` : `/?q=duff+${client}+${i}`),
    );

  it('are refused with 429 for the client that sends them, and with 503 beyond; other requests are answered', async () => {
    const sent = sendSearches('192.0.2.1', 40);
    await eventually(() => responses.length === 31);
    deepStrictEqual(new Set(responses.splice(0)), new Set(['192.0.2.1 429 2']));
    await send('192.0.2.1', '/api/v2/bots/42');
    deepStrictEqual(responses.splice(0), ['192.0.2.1 200 null']);
    for (const other of ['192.0.2.2', '192.0.2.3', '192.0.2.4']) sent.push(...sendSearches(other, 9));
    await eventually(() => responses.length === 3);
    await send('192.0.2.5', '/api/v2/bots?q=duff');
    deepStrictEqual(responses.splice(0).toSorted(), [
      '192.0.2.2 429 2',
      '192.0.2.3 429 2',
      '192.0.2.4 429 2',
      '192.0.2.5 503 2',
    ]);
    release();
    await Promise.all(sent);
    strictEqual(responses.length, 9 + 3 * 8);
    strictEqual(responses.filter((response) => !response.endsWith(' 200 null')).join(), '');
  });
});
