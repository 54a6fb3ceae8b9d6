import { deepStrictEqual } from 'node:assert/strict';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { findBotOfName } from '../../../src/site/bot/named-bots.ts';
import { sampleBot } from '../../support/sample-bot.ts';

describe('bots by name', () => {
  it('are found by a path that one of them has as its name', async () => {
    const bots = new MutableBotIndex();
    bots.set(sampleBot('50', { en: ["Rook's Gambit", 'Plays.'] }));
    bots.set(sampleBot('51', { en: ['Homer', 'Answers.'] }));
    bots.set(sampleBot('52', { en: ['homer!', 'Answers.'] }));
    bots.set(sampleBot('53', { en: ['2048', 'A game.'] }));
    const parts = { bots, cache: new CurrentCache() };
    const paths = ['rooks-gambit', 'Rook’s Gambit', 'homer', '2048', 'nobody'];
    const found = await Promise.all(paths.map(async (path) => await findBotOfName(path, parts)));
    deepStrictEqual(
      found.map((bot) => bot?.id ?? bot),
      ['50', '50', null, undefined, undefined],
    );
  });
});
