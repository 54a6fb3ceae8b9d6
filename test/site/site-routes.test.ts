import { strictEqual } from 'node:assert/strict';
import { Router } from '@koa/router';
import Koa from 'koa';
import { MutableBotIndex } from '../../src/catalogue/index/bot-index.ts';
import { SortedIndexes } from '../../src/catalogue/index/sorted-indexes.ts';
import { TextSearch } from '../../src/catalogue/index/search.ts';
import { BotLists } from '../../src/catalogue/index/bot-lists.ts';
import { type ListeningServer, listen } from '../../src/http/server.ts';
import { silentLog } from '../../src/log.ts';
import { Markdown } from '../../src/site/markdown/markdown.ts';
import { addSiteRoutes } from '../../src/site/site-routes.tsx';
import { sampleBot } from '../support/sample-bot.ts';

describe('a list of bots as a page', () => {
  const bots = new MutableBotIndex();
  bots.set(sampleBot('7', { en: ['Seven', 'Answers.'], fr: ['Sept', 'Répond.'] }));
  const markdown = new Markdown();
  /** How often the page was made: its only card asks for the count. */
  let made = 0;
  let server: ListeningServer;

  before(async () => {
    const router = new Router();
    const counts = { version: 0, count: () => void made++ };
    addSiteRoutes(router, {
      site: { login: false, repository: null, contact: null, live: false },
      bots,
      lists: new BotLists(
        bots,
        new TextSearch(bots),
        new SortedIndexes(bots, { version: 0, count: () => undefined }),
      ),
      counts,
      markdown,
      baseUrl: 'https://bots.example.org',
      viewerOf: async () => null,
      faultsOf: () => [],
    });
    const app = new Koa();
    app.use(router.routes());
    server = await listen(app, { host: '127.0.0.1', port: 0, maxConnections: 100, log: silentLog });
  });
  after(async () => {
    await server.close();
    await markdown.close();
  });

  const title = async (language: string): Promise<string | undefined> => {
    const headers = { 'Accept-Language': language };
    const response = await fetch(`http://127.0.0.1:${server.port}/`, { headers });
    return /Seven|Sept/.exec(await response.text())?.[0];
  };

  it('is made once for each language that its bots are shown in, however browsers ask for it', async () => {
    const french = ['fr', 'fr-CA', 'xx, fr;q=0.5', 'de, fr-FR;q=0.9, en;q=0.8', 'fr;q=0.1, *;q=0.01'];
    for (const language of french) strictEqual(await title(language), 'Sept');
    strictEqual(made, 1);
    const english = ['en', 'en-GB, fr;q=0.5', 'xx', '*', `de-x-${'a'.repeat(8)}`];
    for (const language of english) strictEqual(await title(language), 'Seven');
    strictEqual(made, 2);
  });
});
