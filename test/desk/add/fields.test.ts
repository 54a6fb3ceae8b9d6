import { strictEqual } from 'node:assert/strict';
import { mainFields, withSchemes } from '../../../src/desk/add/fields.ts';
import { readCases, unquote } from '../../support/fixture-lines.ts';

describe('a link in the form', () => {
  for (const { input, expected } of readCases('form-links'))
    it(`${input} becomes ${expected[0]}`, () =>
      strictEqual(withSchemes(mainFields, { invite: unquote(input) }).invite, expected[0]));

  it('is one of several, one per line', () =>
    strictEqual(
      withSchemes(mainFields, { preview: 'a.org/1.png\r\nhttps://a.org/2.png' }).preview,
      'https://a.org/1.png\nhttps://a.org/2.png',
    ));

  it('may have commas, which separate links before a blank or the next one only', () => {
    for (const [preview, links] of [
      [
        'https://a.org/w_300,h_200/1.png\nb.org/a,b.png',
        'https://a.org/w_300,h_200/1.png\nhttps://b.org/a,b.png',
      ],
      ['a.org/1.png, a.org/2.png,', 'https://a.org/1.png\nhttps://a.org/2.png'],
      ['https://a.org/1.png,https://a.org/2.png', 'https://a.org/1.png\nhttps://a.org/2.png'],
    ] as const)
      strictEqual(withSchemes(mainFields, { preview }).preview, links);
  });
});
