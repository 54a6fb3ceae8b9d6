import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { holdsToken, maskTokens, searchOnDisk, TokenSearch } from '../../src/check/token-search.ts';
import { token } from '../support/pull-request.ts';
import { writeFiles } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

function search(text: string, pieceLength: number): unknown {
  const bytes = Buffer.from(text);
  const tokens = new TokenSearch();
  for (let at = 0; at < bytes.length; at += pieceLength) tokens.push(bytes.subarray(at, at + pieceLength));
  return tokens.end();
}

describe('a token in bytes that come piece by piece', () => {
  it('is found where it stands, however the pieces are cut', () => {
    const text = `${'line\n'.repeat(30)}  x ${token}, and ${token}\n`;
    for (let length = 1; length < text.length + 1; length += 7)
      deepStrictEqual(search(text, length), { line: 31, column: 5 });
  });

  it('is found at the very end, and not where more letters follow', () => {
    deepStrictEqual(search(token, 10), { line: 1, column: 1 });
    strictEqual(search(`${token}x`, 10), undefined);
    strictEqual(search('bsh_', 1), undefined);
    strictEqual(search('', 1), undefined);
  });
});

describe('a token in a file', () => {
  it('is found in a regular file that is not too large, and looked for in nothing else', () => {
    const root = tempFolder();
    writeFiles(root, { 'a/leak': `x\n ${token}`, none: 'text' });
    symlinkSync('a/leak', join(root, 'link'));
    const size = token.length + 3;
    deepStrictEqual(searchOnDisk(root, 'a/leak', size), { line: 2, column: 2 });
    strictEqual(searchOnDisk(root, 'a/leak', size - 1), 'too large');
    for (const path of ['none', 'link', 'a', 'gone', 'none/x'])
      strictEqual(searchOnDisk(root, path, size), undefined, path);
  });

  it('is masked where it is shown, each one', () => {
    strictEqual(maskTokens(`a ${token} b ${token}`), 'a bsh_… b bsh_…');
    strictEqual(holdsToken(`a${token}`), true);
    strictEqual(holdsToken(token.slice(0, -1)), false);
  });
});
