import { deepStrictEqual } from 'node:assert/strict';
import { parseEnvironmentFile } from '../../src/lib/setting-reader.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('a file of variables', () => {
  for (const { title, input, expected } of readCases('environment-files'))
    it(`is read as systemd does: ${title}`, () => {
      deepStrictEqual([JSON.stringify(parseEnvironmentFile(JSON.parse(input) as string))], expected);
    });

  it('names the lines that systemd skips, not blank ones and comments', () => {
    const lines: number[] = [];
    const text = 'A\n#B\n \n\r\nC="1\n2"\nexport D=1\nE=1 \\\n2=3\n2=3\n=4\n';
    parseEnvironmentFile(text, (line) => lines.push(line));
    deepStrictEqual(lines, [1, 7, 10, 11]);
    lines.length = 0;
    parseEnvironmentFile('a\n'.repeat(200_000), (line) => lines.push(line));
    deepStrictEqual([lines.length, lines.at(-1)], [200_000, 200_000]);
  });
});
