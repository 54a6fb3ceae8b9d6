import { deepStrictEqual } from 'node:assert/strict';
import { checkAttributes } from '../../src/check/history-rules.ts';

function isRefused(text: string): boolean {
  return checkAttributes('.gitattributes', Buffer.from(text)).length > 0;
}

describe('a .gitattributes is read as Git reads it', () => {
  it('so that no special character hides what rewrites files', () => {
    const lines = [
      '*.m[!#\u2028#] text working-tree-encoding=UTF-16',
      '*.m[!#\u2029#] filter=x',
      '\u00A0# *.md ident',
      '*.md filter=\u2028',
      '"*.md"ident',
      '"*.\\155d"\tmerge=x',
      '*.md ident\0x',
      '*.md working-tree-encoding',
      '\uFEFF"*.md"ident',
      '# a comment\n\r*.md\tident\r',
    ];
    deepStrictEqual(lines.filter(isRefused), lines);
  });

  it('and what it does not apply is not refused', () => {
    const lines = [
      '*.md text eol=lf -diff !filter -ident',
      '\t# *.md ident',
      '\r#*.md filter=x',
      'ident text',
      '*.md ident=x',
      '*.md text\0 ident',
      '*.md\fident',
      '*.md ident\u00A0',
      'a\n',
      '',
    ];
    deepStrictEqual(lines.filter(isRefused), []);
  });

  it('so that what is refused is named by its place, and a file that is too large as a whole', () => {
    const places = (bytes: Buffer | undefined): number[][] =>
      checkAttributes('a', bytes).map(({ line, column }) => [line, column]);
    deepStrictEqual(places(Buffer.from('*.png binary\n*.md text filter=x\n')), [[2, 11]]);
    deepStrictEqual(places(undefined), [[1, 1]]);
  });
});
