import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { BotshelfError } from '../../../src/lib/errors.ts';
import { type CurrentFile, planBatch, readCurrentFile } from '../../../src/git/branch/batch.ts';
import { unmerged } from '../../../src/git/branch/git-index.ts';
import { keyEditor, setKey } from '../../support/keys.ts';

const file = { file: { id: 'a'.repeat(40), mode: '100755' }, text: 'a: 1\n' };
const place = { prefix: 'shelf/', hash: 'sha1' } as const;

describe('the plan of a batch', () => {
  it('applies the edits of a file one after the other, and replaces it once', () => {
    const edits = [setKey('x', 'a', 2), setKey('x', 'b', 3), setKey('x', 'a', 4)];
    const { changes, contents, outcomes } = planBatch(edits, new Map([['shelf/x', file]]), place, keyEditor);
    strictEqual(changes.length, 1);
    strictEqual(contents.get('shelf/x')?.toString(), 'a: 4\nb: 3\n');
    strictEqual(changes[0]?.after?.mode, '100755');
    deepStrictEqual(
      outcomes.map(({ kind }) => kind),
      ['written', 'written', 'written'],
    );
  });

  it('replaces nothing where the changes end where they began', () => {
    const edits = [setKey('x', 'a', 2), setKey('x', 'a', 1)];
    strictEqual(planBatch(edits, new Map([['shelf/x', file]]), place, keyEditor).changes.length, 0);
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
  const content = Buffer.from('ä');
  const tip = { id, mode: '100644' };
  const read = (
    file: typeof tip | null,
    entry: string | null | typeof unmerged,
    seen: { id: string | null; content: Buffer | undefined } | Error | undefined,
    failure?: string,
  ): string => {
    const found = seen instanceof Error || seen === undefined ? seen : { ...seen, stat: undefined };
    const files = new Map(found && [['x', found]]);
    const { text, refusal } = readCurrentFile('x', file, { index: new Map([['x', entry]]), files }, failure);
    return refusal === undefined ? String(text) : `${refusal.code}: ${refusal.message.split(/[:(] ?/)[0]}`;
  };

  const uncommitted = "edit-conflict: x has uncommitted edits in the service's clone";
  const unavailable = 'unusable-page: x';
  const cases: [what: string, args: Parameters<typeof read>, wanted: string][] = [
    ['is read', [tip, id, { id, content }], 'ä'],
    ['may be missing', [null, null, { id: null, content: undefined }], 'null'],
    [
      'is refused while it is behind the branch',
      [tip, id, { id, content }, 'is read-only'],
      `${unavailable} is behind the branch`,
    ],
    ['is refused where it cannot be read', [tip, id, new Error('EIO')], `${unavailable} cannot be read `],
    ['is refused where it was not looked at', [tip, id, undefined], `${unavailable} cannot be read `],
    [
      'is refused in a conflict',
      [tip, unmerged, { id, content }],
      "edit-conflict: x is in conflict in a merge in the service's clone",
    ],
    ['is refused with other bytes in the index', [tip, 'b', { id, content }], uncommitted],
    ['is refused with other bytes in the work tree', [tip, id, { id: 'b', content }], uncommitted],
    ['is refused where a person adds it', [null, null, { id, content }], uncommitted],
    [
      'is refused as a link',
      [{ id, mode: '120000' }, id, { id, content }],
      `${unavailable} is no regular file`,
    ],
    [
      'is refused where it is too large',
      [tip, id, { id, content: undefined }],
      `${unavailable} has more than 10 MiB`,
    ],
    [
      'is refused where it is no text',
      [tip, id, { id, content: Buffer.from([0xff]) }],
      `${unavailable} is not UTF-8`,
    ],
  ];
  for (const [what, args, wanted] of cases) it(what, () => strictEqual(read(...args), wanted));
});
