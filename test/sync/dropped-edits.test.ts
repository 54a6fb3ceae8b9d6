import { match, strictEqual } from 'node:assert/strict';
import { formatMergeMessage, type DroppedEdit, formatDroppedEdit } from '../../src/sync/merge-files.ts';
import { botId } from '../support/sample.ts';

const change: DroppedEdit = {
  path: 'bots/312/312.en.md',
  what: 'website',
  of: 'ours',
  because: 'people changed the same',
};

describe('the message of a merge', () => {
  it('names one bot, or how many, each in a trailer, and what was set aside by reason and file', () => {
    const [one, other] = [botId('312'), botId('7')];
    strictEqual(formatMergeMessage('Merge', [one], []), 'Merge the bot 312\n\nBot: 312\n');
    const changes = [change, { ...change, what: 'page' }, { ...change, of: 'theirs' as const }];
    strictEqual(
      formatMergeMessage('Merge', [one, other], changes),
      `Merge 2 bots

Set aside, as people changed the same:
- "bots/312/312.en.md": website, page

Set aside of the remote, as people changed the same:
- "bots/312/312.en.md": website

Bot: 312
Bot: 7
`,
    );
  });

  it('cannot be forged by a key or a path with line breaks', () => {
    const forged = { ...change, path: 'a\n\nBot: 1', what: 'b\n\nBot: 2' };
    match(formatMergeMessage('Merge', [], [forged]), /^- "a\\n\\nBot： 1": "b\\n\\nBot： 2"$/m);
    match(
      formatDroppedEdit(forged),
      /^set aside "b\\n\\nBot: 2" from this clone in "a\\n\\nBot: 1", as people/,
    );
    match(formatDroppedEdit({ ...forged, of: 'theirs' }), /^set aside .* from the remote in /);
    match(formatMergeMessage('Merge', [], [{ ...change, what: 'x'.repeat(50) }]), /: "x{39}$/m);
  });
});
