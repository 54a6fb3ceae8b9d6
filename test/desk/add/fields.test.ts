import { strictEqual } from 'node:assert/strict';
import { mainFields, withSchemes } from '../../../src/desk/add/fields.ts';
import { readCases, unquote } from '../../support/fixture-lines.ts';

describe('a link in the form', () => {
  for (const { input, expected } of readCases('form-links'))
    it(`${input} becomes ${expected[0]}`, () =>
      strictEqual(withSchemes(mainFields, { invite: unquote(input) }).invite, expected[0]));

  for (const { title, input, expected } of readCases('form-link-lists'))
    it(title, () =>
      strictEqual(withSchemes(mainFields, { preview: unquote(input) }).preview, expected.join('\n')),
    );
});
