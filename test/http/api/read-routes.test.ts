import { strictEqual } from 'node:assert/strict';
import { Router, type RouterContext } from '@koa/router';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { BotLists } from '../../../src/catalogue/lists/bot-lists.ts';
import { SortedIndexes } from '../../../src/catalogue/lists/sorted-indexes.ts';
import { BotSearch } from '../../../src/catalogue/search/bot-search.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { addReadRoutes } from '../../../src/http/api/read-routes.ts';
import { defaultWords } from '../../support/category-words.ts';
import { noCounts } from '../../support/counts.ts';
import { serveHandler } from '../../support/handler.ts';
import { sampleBot } from '../../support/sample-bot.ts';

describe('a record that was served before', () => {
  it('is served with each change of its bot, and as it is while other bots change', async () => {
    const bots = new MutableBotIndex();
    const search = new BotSearch(bots, () => {}, defaultWords);
    const lists = new BotLists(bots, search, new SortedIndexes(bots, noCounts));
    const router = new Router();
    addReadRoutes(router, bots, lists, 'http://localhost', () => toSettings());
    const routes = router.routes();
    const server = await serveHandler((ctx, next) => routes(ctx as RouterContext, next));
    const name = async (): Promise<string> => {
      const { body } = await server.send('GET', '/api/v2/bots/7');
      return (JSON.parse(body.toString()) as { contents: { en: { name: string } } }).contents.en.name;
    };

    for (const [id, changed, expected] of [
      ['7', 'One', 'One'],
      ['8', 'Other', 'One'],
      ['7', 'Two', 'Two'],
      ['8', 'Another', 'Two'],
      ['7', 'Three', 'Three'],
    ] as const) {
      bots.set(sampleBot(id, { en: [changed, 'x'] }));
      strictEqual(await name(), expected);
      strictEqual(await name(), expected);
    }
    await server.close();
  });
});
