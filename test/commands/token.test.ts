import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { botshelf } from '../support/command-line.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('botshelf token', () => {
  it('says in a folder without bots/ what to set', async () => {
    const root = tempFolder();
    const { code, stdout, stderr } = await botshelf(root, ['token', '7']);
    deepStrictEqual([code, stdout], [2, '']);
    strictEqual(stderr, `there is no bot 7 in ${root}: add its page first, or set BOTSHELF_CATALOGUE\n`);
  });
});
