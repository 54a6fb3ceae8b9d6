import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { diffLines } from '../../../src/site/add/file-diff.tsx';

describe('the changes of a file', () => {
  it('are the lines that go and come, with three lines around them', () =>
    deepStrictEqual(diffLines('1\n2\n3\n4\n5\n6\n', '1\n2\n3\n4\nfive\n6\n'), [
      {
        oldStart: 2,
        lines: [' 2', ' 3', ' 4', '-5', '+five', ' 6'],
      },
    ]));

  it('have parts where they are far from each other', () => {
    const lines = Array.from({ length: 30 }, (_, i) => `${i}`);
    const changed = lines.with(3, 'a').with(25, 'b');
    strictEqual(diffLines(lines.join('\n'), changed.join('\n'))?.length, 2);
  });

  it('are not compared for longer than a moment', () => {
    const text = (of: number): string => Array.from({ length: 20_000 }, (_, i) => (i * of) % 9973).join('\n');
    const start = performance.now();
    strictEqual(diffLines(text(7), text(11)), null);
    ok(performance.now() - start < 2000);
  });
});
