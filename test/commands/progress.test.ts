import { match, strictEqual } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { progressOn } from '../../src/commands/progress.ts';

function written(isTTY: boolean): string {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const progress = progressOn(stream);
  for (let i = 1; i <= 1000; i += 1) progress.show(`${i} files checked`);
  progress.end();
  return String(stream.read() ?? '');
}

describe('the progress line', () => {
  it('is rewritten on a terminal, now and then, and gone in the end', () => {
    const text = written(true);
    match(text.replaceAll('\u001b[K', '|'), /^\r1 files checked\|(?:\r\d+ files checked\|)*\r\|$/);
    strictEqual(text.includes('\n'), false);
  });

  it('is not written elsewhere', () => {
    strictEqual(written(false), '');
  });
});
