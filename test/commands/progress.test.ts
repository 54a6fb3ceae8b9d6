import { match, strictEqual } from 'node:assert/strict';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { progressOn } from '../../src/commands/progress.ts';

async function written(isTTY: boolean): Promise<string> {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const progress = progressOn(stream);
  for (let i = 1; i <= 1000; i += 1) progress.show(`${i} files checked`);
  progress.end();
  stream.end();
  return await text(stream);
}

describe('the progress line', () => {
  it('is rewritten on a terminal, now and then, and gone in the end', async () => {
    const line = await written(true);
    match(line.replaceAll('\u001b[K', '|'), /^\r1 files checked\|(?:\r\d+ files checked\|)*\r\|$/);
    strictEqual(line.includes('\n'), false);
  });

  it('is not written elsewhere', async () => {
    strictEqual(await written(false), '');
  });
});
