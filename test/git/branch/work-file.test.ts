import { doesNotThrow, strictEqual, throws } from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isSafePath, linkGuard } from '../../../src/git/branch/checkout.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const id = 'a'.repeat(40);

describe('the path of a change', () => {
  for (const { input: path, expected } of readCases('paths-in-trees'))
    it(`is ${expected[0]}: ${path}`, () => {
      const isSafe = (mode: string): boolean => isSafePath({ path, after: { mode, id } });
      if (expected[0]?.endsWith('as a link')) strictEqual(isSafe('120000'), false);
      if (!expected[0]?.startsWith('not safe as')) strictEqual(isSafe('100644'), expected[0] !== 'not safe');
    });

  it('is refused below a symbolic link, at any depth', () => {
    const top = tempFolder();
    mkdirSync(join(top, 'plain/folder'), { recursive: true });
    symlinkSync('folder', join(top, 'plain/link'));
    const throwAtLinks = linkGuard(top);
    doesNotThrow(() => throwAtLinks('plain/folder/x'));
    doesNotThrow(() => throwAtLinks('plain/link'));
    doesNotThrow(() => throwAtLinks('missing/folder/x'));
    throws(() => throwAtLinks('plain/link/a/b'), /plain\/link is a symbolic link, make it a folder/);
  });
});
