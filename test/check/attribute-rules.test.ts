import { deepStrictEqual } from 'node:assert/strict';
import { findingsOfAttributes } from '../../src/check/attribute-rules.ts';
import { refusedOf } from '../fuzz/attributes.ts';
import { testRepository } from '../support/repository.ts';

describe('a .gitattributes is read as Git reads it', () => {
  it('so that no special character hides what rewrites files', async () => {
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
    deepStrictEqual(await refusedOf(testRepository(), lines), lines);
  });

  it('and what it does not apply is not refused', async () => {
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
    deepStrictEqual(await refusedOf(testRepository(), lines), []);
  });

  it('of a work tree, where one that cannot be read is left out and one of more than 64 KiB is refused', async () => {
    const { folder, write } = testRepository();
    const [path, size] = ['a/.gitattributes', 64 * 1024];
    const check = async (): Promise<string[]> =>
      (await findingsOfAttributes(folder, [{ path, kind: 'file', blob: null }])).map(({ rule }) => rule);
    deepStrictEqual(await check(), []);
    write(path, '#'.repeat(size));
    deepStrictEqual(await check(), []);
    write(path, '#'.repeat(size + 1));
    deepStrictEqual(await check(), ['git-attributes']);
  });

  it('so that what is refused is named by its place', async () => {
    const { folder, write } = testRepository();
    const path = '.gitattributes';
    write(path, '*.png binary\n*.md text filter=x\n');
    const [{ line, column } = {}] = await findingsOfAttributes(folder, [{ path, kind: 'file', blob: null }]);
    deepStrictEqual([line, column], [2, 11]);
  });
});
