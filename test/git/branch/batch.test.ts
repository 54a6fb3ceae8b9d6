import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { BotshelfError } from '../../../src/lib/errors.ts';
import { type CurrentFile, planBatch, readCurrentFile } from '../../../src/git/branch/batch.ts';
import { keyEditor, setKey } from '../../support/keys.ts';

const file = { file: { id: 'a'.repeat(40), mode: '100755' }, text: 'a: 1\n' };
const place = { prefix: 'shelf/', hash: 'sha1' } as const;

describe('the plan of a batch', () => {
  it('applies the edits of a file one after the other, and replaces it once, or not where they end where they began', () => {
    const edits = [setKey('x', 'a', 2), setKey('x', 'b', 3), setKey('x', 'a', 4)];
    const files = new Map([['shelf/x', file]]);
    const { changes, contents } = planBatch(edits, files, place, keyEditor);
    deepStrictEqual([changes.length, changes[0]?.after?.mode], [1, '100755']);
    strictEqual(contents.get('shelf/x')?.toString(), 'a: 4\nb: 3\n');
    const back = [setKey('x', 'a', 2), setKey('x', 'a', 1)];
    strictEqual(planBatch(back, files, place, keyEditor).changes.length, 0);
  });

  it('refuses an edit of a file that cannot be edited, or that the editor refuses, and makes the others', () => {
    const refusal = new BotshelfError('edit-conflict', 'in conflict');
    const current = new Map<string, CurrentFile>([
      ['shelf/x', file],
      ['shelf/y', { file: null, text: null }],
      ['shelf/z', { ...file, refusal }],
    ]);
    const edits = [
      setKey('x', 'a', 1),
      setKey('y', 'a', 1),
      setKey('z', 'a', 2),
      { ...setKey('y', 'a', 3), creates: true },
    ];
    const { changes, files, message, outcomes } = planBatch(edits, current, place, keyEditor);
    deepStrictEqual(outcomes, [
      { kind: 'unchanged' },
      { kind: 'refused', error: new Error('there is no such file') },
      { kind: 'refused', error: refusal },
      { kind: 'written' },
    ]);
    strictEqual(message, 'Set a\n');
    deepStrictEqual(files, new Map([['shelf/y', { mode: '100644', content: Buffer.from('a: 3\n') }]]));
    // As `git hash-object` has it.
    const after = { mode: '100644', id: 'c648d9591507436bdafcc658718c90c2dec89a0e' };
    deepStrictEqual(changes, [{ path: 'shelf/y', before: null, after }]);
  });
});

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
