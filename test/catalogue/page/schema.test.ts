import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { defaultCategories } from '../../../src/bot/schemas.ts';
import { validate } from '../../../src/catalogue/page/schema.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { homerKeys } from '../../support/sample.ts';

/** The faults of a main page with `keys` put over a good one, as `place keyword message`. */
function faults(keys: object): string[] {
  return validate('main-page', { ...homerKeys, ...keys }, defaultCategories).map(
    ({ place, keyword, message }) => `${place.join('.')} ${keyword} ${message}`,
  );
}

describe('a value held against a schema', () => {
  it('stays as it is, right or wrong', () => {
    for (const keys of [{}, { codehost: { owner: 'o' } }, { images: { avatar: 7 } }, { colour: 'red' }]) {
      const value = { ...homerKeys, ...keys };
      const before = structuredClone(value);
      validate('main-page', value);
      deepStrictEqual(value, before);
    }
  });

  describe('is reported with the fix', () => {
    for (const { input, expected } of readCases('main-page-keys'))
      it(input, () => deepStrictEqual(faults(JSON.parse(input) as object), expected));

    it('of a text that is too long', () => {
      deepStrictEqual(faults({ invite: `https://example.org/${'x'.repeat(2000)}` }), [
        'invite maxLength the text has 2020 characters: shorten it to at most 2000',
      ]);
    });

    it('of a missing key, with what it is for', () => {
      const { invite: _, ...rest } = homerKeys;
      deepStrictEqual(
        validate('main-page', rest).map(({ message }) => message),
        ['"invite" is missing: add it (The page where the bot is added to a server)'],
      );
    });

    it('of an object without keys', () => {
      match(
        validate('update', { bot: {} })
          .map(({ message }) => message)
          .join(''),
        /: write at least one of category, count/,
      );
    });
  });

  it('is reported by the keys of its own schema', () => {
    deepStrictEqual(
      validate('translation', { name: 'a', description: 'b', nsfw: true }).map(({ message }) => message),
      ['"nsfw" is not a key here: remove it; the keys are name or description'],
    );
  });

  it('tells a hundred faults at most, and takes no quadratic time over long lists', () => {
    const long = Array.from({ length: 50_000 }, (_, i) => i);
    strictEqual(faults({ authors: long }).length, 100);
    deepStrictEqual(faults({ authors: long.map(String) }), [
      'authors maxItems the list has 50000 entries: keep at most 10',
    ]);
  });

  it('quotes no more than the beginning of a long text', () => {
    for (const fault of faults({ category: 'x'.repeat(10_000), ['y'.repeat(10_000)]: 1 }))
      ok(fault.replace(/^\S+/, '').length < 400, fault);
  });

  it('always gets a message of what is wrong, a colon and the fix', () => {
    const key = fc.constantFrom(...Object.keys(homerKeys), 'images', 'trigger', 'oauth', 'random', 'x/y~z');
    const value = fc.dictionary(key, fc.jsonValue());
    fc.assert(
      fc.property(fc.constantFrom('main-page', 'translation', 'update'), value, (schema, broken) => {
        for (const { message, keyword } of validate(schema, broken, defaultCategories)) {
          match(message, /^[^]+: [^]+$/);
          ok(!message.includes('see the schema'), `${keyword}: ${message}`);
        }
      }),
      { numRuns: 300 },
    );
  });
});
