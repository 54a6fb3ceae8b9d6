import { deepStrictEqual } from 'node:assert/strict';
import { BatchParser } from '../../src/git/objects.ts';

describe('the output of git cat-file', () => {
  const output = Buffer.from(
    'aa blob 3\na\nb\nHEAD:ä b missing\nbb blob 0\n\ncc tree 4\n\0\n \n\ndd blob 2\nde\n',
  );

  it('is read alike in pieces of any size, with objects that are empty, missing or not wanted', () => {
    for (let size = 1; size <= output.length; size++) {
      const seen: string[] = [];
      const parser = new BatchParser((header) => {
        if (header === undefined || header.id === 'cc') {
          seen.push(header?.type ?? 'missing');
          return undefined;
        }
        let text = '';
        return {
          push: (piece) => void (text += piece.toString('latin1')),
          end: () => void seen.push(`${header.id} ${text}`),
        };
      });
      for (let at = 0; at < output.length; at += size) parser.push(output.subarray(at, at + size));
      deepStrictEqual(seen, ['aa a\nb', 'missing', 'bb ', 'tree', 'dd de'], `pieces of ${size}`);
    }
  });
});
