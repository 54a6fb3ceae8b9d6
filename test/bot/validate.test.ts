import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { defaultCategories } from '../../src/bot/schemas.ts';
import { validate } from '../../src/bot/validate.ts';
import { findHost } from '../../src/catalogue/settings/blocked.ts';
import { readCases } from '../support/fixture-lines.ts';
import { homerKeys } from '../support/sample.ts';

/** Returns the faults of a valid main page with these keys replaced, as `place keyword message`. */
function faults(keys: object): string[] {
  return validate('main-page', { ...homerKeys, ...keys }, defaultCategories).map(
    ({ place, keyword, message }) => `${place.join('.')} ${keyword} ${message}`,
  );
}

/** Schema → the place of a list, and its maximum number of entries. */
const longLists = [
  ['main-page', 'authors', 10],
  ['main-page', 'images.preview', 20],
  ['collection', 'bots', 30],
  ['commands', 'commands', 200],
  ['commands', 'commands.0.options', 25],
  ['commands', 'commands.0.options.0.options', 25],
  ['settings', 'synonyms', 200],
  ['settings', 'synonyms.0', 20],
] as const;

/** Returns a list, and the indices of the entries that have been read so far. */
function countReads(entries: unknown[]): { readonly list: unknown[]; readonly reads: Set<string> } {
  const reads = new Set<string>();
  const get = (target: unknown[], key: string | symbol): unknown => {
    if (/^\d+$/.test(String(key))) reads.add(String(key));
    return Reflect.get(target, key);
  };
  return { list: new Proxy(entries, { get }), reads };
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

    it('of a text that is too long, a missing key, with what it is for, and an object without keys', () => {
      deepStrictEqual(faults({ invite: `https://example.org/${'x'.repeat(2000)}` }), [
        'invite maxLength the text has 2020 characters: shorten it to at most 2000',
      ]);
      const { invite: _, ...rest } = homerKeys;
      deepStrictEqual(
        validate('main-page', rest).map(({ message }) => message),
        ['"invite" is missing: add it (The page where the bot is added to a server)'],
      );
      const messages = validate('update', { bot: {} }).map(({ message }) => message);
      match(messages.join(''), /: write at least one of category, count/);
    });
  });

  it('is reported by the keys of its own schema', () => {
    deepStrictEqual(
      validate('translation', { name: 'a', description: 'b', nsfw: true }).map(({ message }) => message),
      ['"nsfw" is not a key here: remove it; the keys are name or description'],
    );
  });

  it('is validated as far as a list may go, and its real length is reported', () => {
    for (const [schema, path, maximum] of longLists)
      for (const entry of [1, '1', {}, [], { options: Array.from({ length: 100 }, () => 1) }]) {
        const { list, reads } = countReads(Array.from({ length: 65_536 }, () => entry));
        const value = path
          .split('.')
          .reduceRight<unknown>((inner, key) => (key === '0' ? [inner] : { [key]: inner }), list);
        const messages = validate(schema, value).map(({ message }) => message);
        ok(messages.includes(`the list has 65536 entries: keep at most ${maximum}`), messages.join('\n'));
        ok(reads.size <= maximum, `${path}: ${reads.size} entries were read`);
      }
  });

  it('tells a hundred faults at most, and looks for no more in a list', () => {
    const options = Array.from({ length: 25 }, () => ({ options: Array.from({ length: 25 }, () => 1) }));
    const { list, reads } = countReads(Array.from({ length: 200 }, () => ({ options })));
    strictEqual(validate('commands', { commands: list }).length, 100);
    ok(reads.size < 5, `${reads.size} entries were read`);
  });

  it('allows an international address however many others came before', () => {
    // Once optimised, URL.canParse of Node 20 fails for flat texts, which parsed texts are.
    const read = (host: string): string => JSON.parse(`"https://${host}.example/"`) as string;
    for (let i = 0; i < 20_000; i++) URL.canParse(read(`a${i}`));
    deepStrictEqual(faults({ website: read('b\u00fccher') }), []);
    deepStrictEqual(faults({ website: read('[') }).length, 1);
    strictEqual(findHost(read('b\u00fccher')), 'xn--bcher-kva.example');
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
