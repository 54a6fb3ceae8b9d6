import { match, strictEqual } from 'node:assert/strict';
import { formatCommitMessage, withValues } from '../../src/app/page-editor.ts';
import { mainPage, pagePath } from '../support/sample.ts';

const path = pagePath('7');
const homer = { name: 'Homer', id: '1', keys: ['category'] };

describe('an update of a page', () => {
  it('changes nothing where an object or a list is as it was, in whatever order its keys are', () => {
    const text = mainPage({ codehost: { owner: 'o', repo: 'r' }, authors: ['1', '2'] });
    const values = { codehost: { repo: 'r', owner: 'o' }, authors: ['1', '2'] };
    strictEqual(withValues(path, text, values, 1_800_000_000_000), text);
  });

  it('changes nothing where a value is the default of a key that is left out', () => {
    const text = mainPage();
    const values = { support: null, nsfw: false, codehost: { owner: null, repo: null } };
    strictEqual(withValues(path, text, values, 1_800_000_000_000), text);
  });

  it('sets what differs, and the time', () => {
    const text = mainPage({ codehost: { owner: 'o', repo: 'r' } });
    const changed = withValues(path, text, { codehost: { owner: 'o', repo: 'other' } }, 1_800_000_000_000);
    match(changed, /"other"/);
    match(changed, /"edited": 1800000000000/);
  });

  it('is later than the one before, though the clock stepped back, and never before the bot was created', () => {
    const text = mainPage({ created: 1_600_000_000_000, edited: 1_700_000_000_000 });
    for (const clock of [1_700_000_000_000, 1_650_000_000_000, 1_500_000_000_000])
      match(withValues(path, text, { nsfw: true }, clock), /"edited": 1700000000001,/);
    const unedited = mainPage({ created: 1_600_000_000_000 });
    match(withValues(path, unedited, { nsfw: true }, 1_500_000_000_000), /"edited": 1600000000001\n/);
  });
});

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
});
