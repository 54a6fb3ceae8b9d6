import { deepStrictEqual } from 'node:assert/strict';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { findRelated } from '../../../src/desk/review/reviews.ts';
import { accountId, botId } from '../../support/sample.ts';
import { sampleBot } from '../../support/sample-bot.ts';

const invite = (id: number): string => `https://discord.com/oauth2/authorize?client_id=${id}&scope=bot`;
const proposal = { subject: botId('1'), proposer: { id: accountId('42'), name: 'Ned' } };

describe('the bots that a reviewer compares a proposal with', () => {
  const bots = new MutableBotIndex();
  bots.set(sampleBot('1', { en: ['Homer', 'Itself.'] }, { invite: invite(1), authors: ['42'] }));
  bots.set(sampleBot('2', { en: ['Hömer ', 'Of the same name.'] }, { invite: invite(2) }));
  bots.set(sampleBot('3', { en: ['Bart', 'Of the same invite.'] }, { invite: `${invite(1)}&permissions=8` }));
  bots.set(sampleBot('4', { en: ['Lisa', 'Of the same account.'] }, { invite: invite(11), authors: ['42'] }));

  for (const [what, name, address, expected] of [
    ['its name, its invite or its account', 'homer', invite(1), ['2', '3', 'account 4']],
    ['another name with the same address', 'Bart!', 'x', ['3', 'account 4']],
    ['its name where its invite is no address', 'Bart', 'no address', ['3', 'account 4']],
  ] as const)
    it(`have ${what}`, async () => {
      const { similar, ofProposer } = await findRelated(bots, proposal, name, address);
      const found = [...similar.map(({ id }) => id), ...ofProposer.map(({ id }) => `account ${id}`)];
      deepStrictEqual(found, expected);
    });

  it('are ten at most', async () => {
    for (let id = 100; id < 120; id++) bots.set(sampleBot(String(id), { en: ['Many', 'Of them.'] }));
    const { similar } = await findRelated(bots, proposal, 'many', 'x');
    deepStrictEqual(similar.length, 10);
  });
});
