import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { visit } from 'jsonc-parser';
import { readStrictJson } from '../../src/lib/json.ts';
import { anyCharacter } from '../support/arbitrary.ts';
import { readCases } from '../support/fixture-lines.ts';

/** The faults of a text as `offset rule`, with the key of a duplicate; `ok` where it has none. */
function found(text: string): string {
  const read = readStrictJson(text, 'the text');
  if ('data' in read) return 'ok';
  return read.faults
    .map(({ offset, rule, message }) =>
      [offset, rule, ...(/^the key "(.*)" is here twice/.exec(message)?.slice(1) ?? [])].join(' '),
    )
    .join(', ');
}

describe('strict JSON', () => {
  it('is read as JSON.parse reads it', () => {
    const text = '{"a": {"b": [1, -2.5e3, "\\u00e9", null]}, "__proto__": {"c": true}}';
    deepStrictEqual(readStrictJson(text, 'the text'), { data: JSON.parse(text) as unknown });
  });

  for (const { input, expected } of readCases('strict-json'))
    it(`${input} is ${expected.join()}`, () => deepStrictEqual([found(input)], expected));

  it('is no text without an object, and none that is nested without end', () => {
    strictEqual(found(''), '0 json');
    strictEqual(found('{"a":'.repeat(40_000)), '0 nesting');
  });

  it('has at most a hundred duplicate keys reported', () => {
    strictEqual(found(`{${'"a":1,'.repeat(30_000)}"a":1}`).split(', ').length, 100);
  });

  it('has the faults of a visitor that looks at every token', () => {
    const mostly = (usual: readonly string[], rare: readonly string[]): fc.Arbitrary<string> =>
      fc.oneof(
        { weight: 20, arbitrary: fc.constantFrom(...usual) },
        { weight: 1, arbitrary: fc.constantFrom(...rare) },
      );
    const key = mostly(['"a"', '"b"', '"\\u0061"', '"a:{"', '"\\"["', '"__proto__"'], ['"', 'a']);
    const space = mostly(['', ' ', '\n\t'], ['\u00a0', '/**/']);
    const scalar = mostly(
      ['1', '-0', '1e5', 'true', '":,]}"', '"\u2028"', '"\\\\"'],
      ['01', 'nul', '"\\x"', '"\n"'],
    );
    const colon = mostly([':'], ['', ',']);
    const end = mostly([''], [',']);
    const join = (...parts: fc.Arbitrary<string>[]): fc.Arbitrary<string> =>
      fc.tuple(...parts).map((texts) => texts.join(''));
    const deep = fc
      .integer({ min: 5, max: 9 })
      .map((levels) => `${'{"a":'.repeat(levels)}[]${'}'.repeat(levels)}`);
    const { value } = fc.letrec<{ value: string }>((tie) => {
      const listed = (entry: fc.Arbitrary<string>): fc.Arbitrary<string> =>
        join(
          fc.array(entry, { maxLength: 3 }).map((entries) => entries.join(',')),
          end,
        );
      return {
        value: fc.oneof(
          { maxDepth: 3 },
          scalar,
          deep,
          listed(join(space, tie('value'))).map((text) => `[${text}]`),
          listed(join(space, key, space, colon, space, tie('value'), space)).map((text) => `{${text}}`),
        ),
      };
    });
    const met: Record<string, number> = { ok: 0, nesting: 0, 'duplicate-key': 0, json: 0, object: 0 };
    fc.assert(
      fc.property(value, (text) => {
        const read = readStrictJson(text, 'the text');
        const kind = 'data' in read ? 'ok' : read.faults[0].rule;
        met[kind] = (met[kind] ?? 0) + 1;
        strictEqual(kind, kindByVisit(text));
      }),
      { numRuns: 3000 },
    );
    for (const [kind, times] of Object.entries(met)) ok(times > 0, kind);
  });

  it('is every object without duplicate keys that JSON.stringify writes', () => {
    fc.assert(
      fc.property(
        fc.dictionary(fc.string({ unit: anyCharacter }), fc.jsonValue({ maxDepth: 3 })),
        (value) => {
          const json = JSON.stringify(value);
          deepStrictEqual(readStrictJson(json, 'the text'), { data: JSON.parse(json) as unknown });
        },
      ),
    );
  });
});

/** The kind of the first fault of a text, by its tokens; `ok` where it has none. */
function kindByVisit(text: string): string {
  const levels: Set<string>[] = [];
  let first: string | undefined;
  let isDuplicate = false;
  const open = (): void => {
    if (levels.length === 8) first ??= 'nesting';
    levels.push(new Set());
  };
  const close = (): void => void levels.pop();
  visit(
    text,
    {
      onObjectBegin: open,
      onObjectEnd: close,
      onArrayBegin: open,
      onArrayEnd: close,
      onObjectProperty: (key) => {
        isDuplicate ||= levels.at(-1)?.has(key) ?? false;
        levels.at(-1)?.add(key);
      },
      onError: () => (first ??= 'json'),
    },
    { disallowComments: true, allowTrailingComma: false, allowEmptyContent: false },
  );
  if (first !== undefined) return first;
  if (!text.trim().startsWith('{')) return 'object';
  return isDuplicate ? 'duplicate-key' : 'ok';
}
