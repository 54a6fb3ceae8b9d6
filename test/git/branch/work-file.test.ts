import { doesNotThrow, strictEqual, throws } from 'node:assert/strict';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isSafePath, linkGuard } from '../../../src/git/branch/checkout.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const file = { mode: '100644', id: 'a'.repeat(40) };
const link = { ...file, mode: '120000' };

describe('the path of a change', () => {
  for (const path of ['a', 'bots/312/312.en.md', '.gitignore', '.github/x', 'a..b', 'git', '.gitmodules'])
    it(`is safe: ${path}`, () => strictEqual(isSafePath({ path, after: file }), true));

  for (const path of [
    '.git/hooks/x',
    'a/.GIT/x',
    '.git. /x',
    'GIT~1/x',
    '.git::$INDEX_ALLOCATION/x',
    '../x',
    'a/./b',
    'a//b',
    String.raw`a\..\b`,
  ])
    it(`is not safe: ${path}`, () => strictEqual(isSafePath({ path, after: file }), false));

  for (const path of ['.gitmodules', 'GITMOD~1', 'gi7eba~1'])
    it(`is not safe for a symbolic link: ${path}`, () =>
      strictEqual(isSafePath({ path, after: link }), false));

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
