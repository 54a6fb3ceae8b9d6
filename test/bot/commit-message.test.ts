import { strictEqual } from 'node:assert/strict';
import { formatCommitMessage } from '../../src/bot/commit-message.ts';

const homer = { name: 'Homer', id: '1', keys: ['category'] };

describe('the message of a commit', () => {
  it('names the bot and its keys, once each', () => {
    strictEqual(
      formatCommitMessage([homer, { ...homer, keys: ['nsfw', 'category'] }]),
      'Update Homer (1): category, nsfw\n\nBot: 1\n',
    );
  });

  it('counts several bots, and has a line and a trailer for each', () => {
    strictEqual(
      formatCommitMessage([homer, { name: 'Marge', id: '2', keys: ['invite', 'oauth'] }]),
      'Update 2 bots\n\n- Homer (1): category\n- Marge (2): invite, oauth\n\nBot: 1\nBot: 2\n',
    );
  });

  it('lets no name forge a line, a trailer or the direction of the text, or run on', () => {
    const name = `A\r\nBot: 9\u2028\u202Eb${'x'.repeat(100)}`;
    strictEqual(
      formatCommitMessage([{ ...homer, name }]),
      `Update A Bot: 9 b${'x'.repeat(53)}… (1): category\n\nBot: 1\n`,
    );
  });

  it('says that a bot is new, and ends with more trailers', () => {
    strictEqual(
      formatCommitMessage([{ ...homer, keys: [] }], ['Proposed-by: 7']),
      'Add Homer (1)\n\nBot: 1\nProposed-by: 7\n',
    );
  });
});
