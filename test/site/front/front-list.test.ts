import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { AuthorIndex } from '../../../src/catalogue/lists/authors.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-index.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { FrontLists } from '../../../src/site/front/front-list.ts';
import { noQuery } from '../../../src/site/front/front-query.ts';
import { idsOf, listsOf } from '../../support/lists.ts';
import { noCounts } from '../../support/counts.ts';
import { agePages } from '../../support/age-pages.ts';
import { eventually } from '../../support/eventually.ts';
import { sampleBot } from '../../support/sample-bot.ts';

describe('the pages of a list', () => {
  it('have 24 bots each in the order of the list, and what changed since the last one', async () => {
    const bots = new MutableBotIndex();
    const put = (number: number): void => {
      bots.set(sampleBot(String(number), undefined, { created: number }));
    };
    for (let number = 1; number <= 50; number++) put(number);
    const lists = frontListsOf(bots);
    const read = async (page: number): Promise<string[]> => {
      return idsOf((await lists.get({ ...noQuery, sort: 'newest', page }, '')).bots);
    };
    deepStrictEqual([(await read(1)).length, (await read(2))[0], await read(3)], [24, '26', ['2', '1']]);
    put(51);
    await eventually(async () => (await read(2))[0] === '27');
  });
});

describe('the front page', () => {
  it('does not wait long for examples of searches, has them once they are chosen, and until others are', async () => {
    let build = (): void => {};
    let built = new Promise<void>((resolve) => (build = resolve));
    const bots = new MutableBotIndex();
    bots.set(sampleBot('1', { en: ['Homer', 'Answers.'] }));
    const sorted = bots.sorted.bind(bots);
    bots.sorted = async () => await built.then(sorted);
    const lists = frontListsOf(bots);
    deepStrictEqual((await lists.examples(['answers'])).queries, []);
    build();
    await eventually(async () => (await lists.examples(['answers'])).queries.length === 1);
    built = new Promise((resolve) => (build = resolve));
    bots.set(sampleBot('2'));
    agePages();
    strictEqual((await lists.examples(['answers'])).queries.length, 1);
    build();
  });
});

function frontListsOf(bots: MutableBotIndex): FrontLists {
  const cache = new CurrentCache();
  const authors = new AuthorIndex(bots, { files: new Map() }, cache);
  return new FrontLists({ cache, lists: listsOf(bots), authors, counts: noCounts });
}
