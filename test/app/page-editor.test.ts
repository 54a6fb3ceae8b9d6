import { match, strictEqual } from 'node:assert/strict';
import { maxLeadMs } from '../../src/bot/clock.ts';
import { withValues } from '../../src/catalogue/page/page.ts';
import { mainPage, pagePath } from '../support/sample.ts';

const path = pagePath('7');

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

  it('is later than the one before, though the clock stepped back a little', () => {
    const text = mainPage({ edited: 1_700_000_000_000 });
    for (const clock of [1_700_000_000_000, 1_700_000_000_000 - maxLeadMs])
      match(withValues(path, text, { nsfw: true }, clock), /"edited": 1700000000001,/);
  });

  it('has the time of the clock after one whose clock was ahead, and never one before the bot was created', () => {
    const text = mainPage({ created: 1_600_000_000_000, edited: 1_700_000_000_000 });
    match(withValues(path, text, { nsfw: true }, 1_650_000_000_000), /"edited": 1650000000000,/);
    match(withValues(path, text, { nsfw: true }, 1_500_000_000_000), /"edited": 1600000000000,/);
    const unedited = mainPage({ created: 1_600_000_000_000 });
    match(withValues(path, unedited, { nsfw: true }, 1_500_000_000_000), /"edited": 1600000000001\n/);
  });
});
