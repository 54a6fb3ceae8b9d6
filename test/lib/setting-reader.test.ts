import { deepStrictEqual } from 'node:assert/strict';
import { parseEnvironmentFile } from '../../src/lib/setting-reader.ts';

describe('a file of variables', () => {
  const cases: readonly (readonly [
    what: string,
    text: string,
    variables: Readonly<Record<string, string>>,
  ])[] = [
    ['a value with blanks, = and # as it is', 'A=b  c #d ;e=f\n', { A: 'b  c #d ;e=f' }],
    ['no blanks around a value and a name', '  A \t=\t b c \t\r\n\n B=\n', { A: 'b c', B: '' }],
    ['comments, also of one that ends in a backslash', '#A=1\n ;B=2 \\\nC=3\n', { C: '3' }],
    ['no line without = or with another name', 'A\nexport B=1\n2=3\n=4\nC-D=5\nE=6', { E: '6' }],
    ['what is in quotes, without the blanks around them', `A= ' b '\nB=" c "  \n`, { A: ' b ', B: ' c ' }],
    ['lines in quotes', `A='b\nc\\\n'\nB="d\n#e\\\nf"\n`, { A: 'b\nc\\\n', B: 'd\n#ef' }],
    [
      'escapes in double quotes only of what a shell escapes',
      String.raw`A="\"\\\$\`\n\x"`,
      { A: '"\\$`\\n\\x' },
    ],
    ['no escapes in single quotes', String.raw`A='\"\n'`, { A: '\\"\\n' }],
    ['the next character after a backslash', String.raw`A=\a\\\'b\ ` + '\nB=c', { A: "a\\'b ", B: 'c' }],
    ['a line that is continued', 'A=b \\\n  c\\\n\\\nd\nB=\\\ne', { A: 'b   cd', B: 'e' }],
    ['parts in quotes, then all to the end', `A='b' "c"d "e" #f\n`, { A: 'bcd "e" #f' }],
    ['quotes that are not at the beginning', `A=b'c "d\nB=e`, { A: `b'c "d`, B: 'e' }],
    ['the rest, if quotes do not end', "A='b\nB=c\n", { A: 'b\nB=c\n' }],
    ['the last value of a name', 'A=1\nA=2\n', { A: '2' }],
    ['a backslash at the end', 'A=b\\', { A: 'b' }],
    ['other letters', 'A=ąę ść\u00a0x\n', { A: 'ąę ść\u00a0x' }],
  ];
  for (const [what, text, variables] of cases)
    it(`is read as systemd does: ${what}`, () => {
      deepStrictEqual(parseEnvironmentFile(text), variables);
    });

  it('names the lines that systemd skips, not blank ones and comments', () => {
    const lines: number[] = [];
    const text = 'A\n#B\n \n\r\nC="1\n2"\nexport D=1\nE=1 \\\n2=3\n2=3\n=4\n';
    parseEnvironmentFile(text, (line) => lines.push(line));
    deepStrictEqual(lines, [1, 7, 10, 11]);
  });
});
