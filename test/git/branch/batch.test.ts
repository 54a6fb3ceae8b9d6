import { strictEqual } from 'node:assert/strict';
import { readCurrentFile } from '../../../src/git/branch/batch.ts';

describe('a file that edits are planned on', () => {
  const id = 'a'.repeat(40);
  const tip = { id, mode: '100644' };
  const page = { id, content: Buffer.from('ä'), stat: undefined };
  // A file in conflict, or with edits that are not committed, is one of test/scenarios/commit-people.test.ts.
  const cases: [what: string, wanted: string, seen?: object, file?: typeof tip, failure?: string][] = [
    ['is read', 'ä', page],
    ['is refused while it is behind the branch', 'x is behind the branch', page, tip, 'is read-only'],
    ['is refused where it cannot be read', 'x cannot be read ', new Error('EIO')],
    ['is refused where it was not looked at', 'x cannot be read '],
    ['is refused as a link', 'x is no regular file', page, { id, mode: '120000' }],
    ['is refused where it is too large', 'x has more than 10 MiB', { ...page, content: undefined }],
    ['is refused where it is no text', 'x is not UTF-8', { ...page, content: Buffer.from([0xff]) }],
  ];
  for (const [what, wanted, seen, file = tip, failure] of cases)
    it(what, () => {
      const inspection = {
        index: new Map([['x', id]]),
        files: new Map(seen && [['x', seen as typeof page]]),
      };
      const { text, refusal } = readCurrentFile('x', file, inspection, failure);
      if (refusal !== undefined) strictEqual(refusal.code, 'unusable-page');
      strictEqual(refusal?.message.split(/[:(] ?/)[0] ?? text, wanted);
    });
});
