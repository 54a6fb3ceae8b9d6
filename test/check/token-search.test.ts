import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { holdsToken, maskTokens, TokenSearch } from '../../src/bot/token.ts';
import { token } from '../support/pull-request.ts';

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

describe('a token in a text', () => {
  it('is masked where it is shown, each one', () => {
    strictEqual(maskTokens(`a ${token} b ${token}`), 'a bsh_… b bsh_…');
    strictEqual(holdsToken(`a${token}`), true);
    strictEqual(holdsToken(token.slice(0, -1)), false);
  });
});
