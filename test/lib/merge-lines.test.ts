import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { mergeLines } from '../../src/lib/merge-lines.ts';

const lines = (...all: string[]): string => all.map((line) => `${line}\n`).join('');
const base = lines('a', 'b', 'c', 'd', 'e');

describe('the merge of a text by line', () => {
  it('has what each side changed, added and removed', () => {
    const ours = lines('A', 'b', 'c', 'd', 'e', 'f');
    deepStrictEqual(mergeLines(base, ours, lines('a', 'b', 'd', 'e')), {
      text: lines('A', 'b', 'd', 'e', 'f'),
      isDropped: false,
    });
  });

  it('has theirs of lines that both changed, or next to each other, and all else of ours', () => {
    const ours = lines('a', 'B', 'c', 'd', 'E');
    for (const theirs of [lines('a', 'X', 'c', 'd', 'e'), lines('X', 'b', 'c', 'd', 'e')])
      deepStrictEqual(mergeLines(base, ours, theirs), {
        text: theirs.replace('e\n', 'E\n'),
        isDropped: true,
      });
    deepStrictEqual(mergeLines('', 'ours', 'theirs'), { text: 'theirs', isDropped: true });
  });

  it('has once what both changed in the same way', () => {
    const same = lines('a', 'B', 'c', 'd', 'e');
    deepStrictEqual(mergeLines(base, same, same.replace('e', 'E')), {
      text: same.replace('e', 'E'),
      isDropped: false,
    });
  });

  it('has theirs where more than 800 lines differ', () => {
    const many = Array.from({ length: 801 }, (_, i) => String(i));
    const [first, ...others] = many;
    strictEqual(mergeLines('', lines(...others), '').isDropped, false);
    strictEqual(mergeLines('', lines(String(first), ...others), '').isDropped, true);
  });

  it('takes the side that changed, and loses no line of theirs, whatever the texts are', () => {
    const text = fc.array(fc.constantFrom('a', 'b', 'c', ''), { maxLength: 8 }).map((all) => all.join('\n'));
    fc.assert(
      fc.property(text, text, text, (was, ours, theirs) => {
        deepStrictEqual(mergeLines(was, ours, was), { text: ours, isDropped: false });
        deepStrictEqual(mergeLines(was, was, theirs), { text: theirs, isDropped: false });
        strictEqual(mergeLines(was, ours, ours).text, ours);
        const { text: merged, isDropped } = mergeLines(was, ours, theirs);
        ok(isDropped || mergeLines(was, theirs, ours).text === merged);
      }),
    );
  });
});
