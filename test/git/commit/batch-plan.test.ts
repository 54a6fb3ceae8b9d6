import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { planBatch } from '../../../src/git/commit/batch-plan.ts';
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
});
