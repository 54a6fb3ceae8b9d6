import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { readStrictJson } from '../../src/json/strict-json.ts';

/** The findings of a text as `offset kind`, with the key of a duplicate; `ok` where it has none. */
function found(text: string): string {
  const read = readStrictJson(text);
  if ('data' in read) return 'ok';
  return read.findings
    .map((finding) =>
      [finding.offset, finding.kind, finding.kind === 'duplicate-key' ? finding.key : []].flat().join(' '),
    )
    .join(', ');
}

describe('strict JSON', () => {
  it('is read as JSON.parse reads it', () => {
    const text = '{"a": {"b": [1, -2.5e3, "\\u00e9", null]}, "__proto__": {"c": true}}';
    deepStrictEqual(readStrictJson(text), { data: JSON.parse(text) as unknown });
  });

  for (const [text, expected] of [
    ['{}', 'ok'],
    ['{"a": [{"b": 1}, {"b": 1}]}', 'ok'],
    ['[]', '0 not-an-object'],
    ['null', '0 not-an-object'],
    ['[{"a": 1, "a": 2}]', '0 not-an-object'],
    ['', '0 syntax'],
    ['{"a": 1,}', '8 syntax'],
    ['{"a": 1} // why', '9 syntax'],
    ['{"a": 1, "a": 2,}', '16 syntax'],
    ['{"a": 1, "\\u0061": 2, "b": {"c": 1, "c": 2}}', '9 duplicate-key a, 36 duplicate-key c'],
    [`{"a": ${'['.repeat(7)}${']'.repeat(7)}}`, 'ok'],
    [`{"a": ${'['.repeat(8)}${']'.repeat(8)}}`, '0 too-deep'],
    ['{"a":'.repeat(40_000), '0 too-deep'],
    [`{"a": "${'['.repeat(100)}"}`, 'ok'],
  ] as const)
    it(`${text.slice(0, 50)} is ${expected}`, () => strictEqual(found(text), expected));

  it('has at most a hundred duplicate keys reported', () => {
    strictEqual(found(`{${'"a":1,'.repeat(30_000)}"a":1}`).split(', ').length, 100);
  });

  it('is never anything that JSON.parse refuses', () => {
    const part = fc.constantFrom(
      '{',
      '}',
      '"',
      '"a"',
      ':',
      ',',
      '[',
      ']',
      '1',
      '-',
      '0',
      '\\',
      ' ',
      '\u00a0',
    );
    const text = fc.oneof(
      fc.array(part).map((parts) => `{${parts.join('')}}`),
      fc.json({ maxDepth: 3 }),
    );
    fc.assert(
      fc.property(text, (json) => {
        const read = readStrictJson(json);
        if ('data' in read) deepStrictEqual(read.data, JSON.parse(json));
      }),
      { numRuns: 2000 },
    );
  });

  it('is every object without duplicate keys that JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'binary' }), fc.jsonValue({ maxDepth: 3 })), (value) => {
        const json = JSON.stringify(value);
        deepStrictEqual(readStrictJson(json), { data: JSON.parse(json) as unknown });
      }),
    );
  });
});
