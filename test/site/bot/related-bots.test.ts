import { deepStrictEqual } from 'node:assert/strict';
import type { BotRecord } from '../../../schemas/types.ts';
import type { Locale } from '../../../src/bot/locale.ts';
import { AuthorIndex } from '../../../src/catalogue/lists/authors.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { listBotsOfSameAuthor, findSimilarBots } from '../../../src/site/bot/related-bots.ts';
import { noCounts } from '../../support/counts.ts';
import { listsOf } from '../../support/lists.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { botId } from '../../support/sample.ts';

describe('the bots that a page leads to', () => {
  const bots = new MutableBotIndex();
  const counts = { ...noCounts, count: (id: string) => Number(id) };
  const cache = new CurrentCache();
  const parts = { lists: listsOf(bots, counts), cache };
  const add = (id: string, description: string, more: Partial<BotRecord> = {}, locale = 'en'): void =>
    bots.set(
      sampleBot(id, { [locale]: [`Bot ${id}`, description] }, { category: 'music', authors: [id], ...more }),
    );
  const recordOf = (id: string): BotRecord => JSON.parse(String(bots.get(botId(id))?.record)) as BotRecord;

  before(() => {
    add('1', 'Plays songs from the radio.', { authors: ['77', '78'] });
    for (let id = 100; id < 400; id++) add(String(id), 'Something else.');
    add('395', 'Hears the radio, plays songs.');
    add('396', 'Plays chess.');
    add('2', 'Plays songs from the radio.', { category: 'fun', authors: ['77'] });
    add('397', 'Plays songs from the radio.', {}, 'fr');
    add('398', 'Plays songs from the radio.', { nsfw: true, authors: ['78'] });
  });

  it('are three of its category that share most words with it, in the first languages that have some', async () => {
    const find = async (...languages: string[]): Promise<string[][]> =>
      [...(await findSimilarBots(parts, recordOf('1'), languages as Locale[]))].map(([bot, locale]) => [
        bot.id,
        locale,
      ]);
    const inEnglish = ['395', '396', '399'].map((id) => [id, 'en']);
    deepStrictEqual(await find('en', 'fr'), inEnglish);
    deepStrictEqual(await find('fr', 'ja', 'en'), [['397', 'fr'], ...inEnglish.slice(0, 2)]);
  });

  it('are the others of its authors, without those for adults', async () => {
    const authors = new AuthorIndex(bots, { files: new Map() }, cache);
    const others = async (id: string): Promise<string[]> => {
      const bot = recordOf(id);
      const found = await Promise.all(bot.authors.map(async (author) => await authors.find(author)));
      return listBotsOfSameAuthor(found, bot).map((other) => other.id);
    };
    deepStrictEqual(await others('1'), ['2']);
    deepStrictEqual(await others('398'), ['1']);
    deepStrictEqual(await others('100'), []);
  });
});
