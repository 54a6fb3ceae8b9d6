import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { AuthorIndex } from '../../../src/catalogue/lists/authors.ts';
import type { Profile } from '../../../src/catalogue/page/side-file.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { eventually } from '../../support/eventually.ts';
import { sampleBot } from '../../support/sample-bot.ts';

const ada: Profile = { name: 'Ada', website: null, description: {} };

describe('the authors of the bots', () => {
  it('are found with their profile, their bots by id, and the time of the oldest', async () => {
    const bots = new MutableBotIndex();
    const authors = new AuthorIndex(bots, { files: new Map([['5.json', ada]]) }, new CurrentCache());
    for (const [id, created] of [
      ['10', 3000],
      ['9', 2000],
      ['8', 1000],
    ] as const)
      bots.set(sampleBot(id, undefined, { created, authors: id === '8' ? ['6', '5'] : ['5'] }));
    const find = async (account: string): Promise<unknown[]> => {
      const { profile, bots: own, since } = await authors.find(account);
      return [profile?.name, own.map(({ id }) => id), since];
    };
    deepStrictEqual(await find('5'), ['Ada', ['8', '9', '10'], 1000]);
    deepStrictEqual(await find('6'), [undefined, ['8'], 1000]);
    deepStrictEqual(await find('7'), [undefined, [], null]);
  });

  it('are what they were until their own profile or a bot changes @long', async () => {
    const bots = new MutableBotIndex();
    const files = new Map([['5.json', ada]]);
    const authors = new AuthorIndex(bots, { files }, new CurrentCache());
    bots.set(sampleBot('8', undefined, { authors: ['5'] }));
    const found = await authors.find('5');
    files.set('6.json', ada);
    strictEqual(found.current(), true);
    files.set('5.json', { ...ada, name: 'Ada L.' });
    strictEqual(found.current(), false);
    const renamed = await authors.find('5');
    bots.set(sampleBot('9', undefined, { authors: ['5'] }));
    await eventually(() => !renamed.current());
    strictEqual((await authors.find('5')).bots.length, 2);
  });
});
