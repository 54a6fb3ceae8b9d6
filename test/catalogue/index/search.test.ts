import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { MutableBotIndex } from '../../../src/catalogue/index/bot-index.ts';
import { TextSearch } from '../../../src/catalogue/index/search.ts';
import { botId } from '../../support/sample.ts';
import { sampleBot } from '../../support/sample-bot.ts';

describe('a search', () => {
  const bots = new MutableBotIndex();
  const search = new TextSearch(bots);
  const found = async (text: string): Promise<string> => [...(await search.search(text)).keys()].join(' ');
  before(() => {
    bots.set(
      sampleBot('1', {
        en: ['Homer', 'Answers questions about doughnuts.'],
        fr: ['Homère', 'Répond aux questions.'],
      }),
    );
    bots.set(sampleBot('2', { en: ['Doughnut Shop', 'Sells them, in bulk.'] }));
    bots.set(
      sampleBot('3', { ja: ['天気', '明日の天気予報をお知らせします'], en: ['Weather', 'Ｆｕｌｌ width'] }),
    );
  });

  it('wants every word, in any language, as a whole or as a beginning', async () => {
    strictEqual(await found('questions doughnut'), '1');
    strictEqual(await found('répond homer'), '1');
    strictEqual(await found('dough'), '1 2');
    strictEqual(await found('doughnut weather'), '');
  });

  it('does not mind case, accents, width and punctuation', async () => {
    strictEqual(await found('HOMERE!'), '1');
    strictEqual(await found('repond'), '1');
    strictEqual(await found('full WIDTH'), '3');
    strictEqual(await found('them in'), '2');
  });

  it('does not find the middle of a word', async () => {
    strictEqual(await found('nuts'), '');
  });

  it('finds words of scripts that put no spaces between them', async () => {
    strictEqual(await found('天気予報'), '3');
    strictEqual(await found('天気'), '3');
    strictEqual(await found('予天'), '');
  });

  it('scores a name over a description, and a whole word over a beginning', async () => {
    const scores = await search.search('doughnut');
    deepStrictEqual([scores.get(botId('2')), scores.get(botId('1'))], [8, 1]);
  });

  it('finds nothing where there are no words to look for', async () => {
    strictEqual(await found('!?'), '');
  });

  it('knows a changed bot at once, and a removed one no more', async () => {
    bots.set(sampleBot('2', { en: ['Bakery', 'Sells bread.'] }));
    strictEqual(await found('bread'), '2');
    strictEqual(await found('bulk'), '');
    bots.delete(botId('2'));
    strictEqual(await found('bread'), '');
  });
});
