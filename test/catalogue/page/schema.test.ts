import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { defaultCategories } from '../../../src/bot/schemas.ts';
import { validate } from '../../../src/catalogue/page/schema.ts';
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
    const advice: readonly (readonly [object, ...string[]])[] = [
      [{ authors: [] }, 'authors minItems the list is too short: write at least 1'],
      [
        { authors: Array.from({ length: 11 }, (_, i) => String(i)) },
        'authors maxItems the list has 11 entries: keep at most 10',
      ],
      [
        { authors: ['1', '2', '1', '1'] },
        'authors.2 uniqueItems this entry is in the list twice: keep one',
        'authors.3 uniqueItems this entry is in the list twice: keep one',
      ],
      [
        { authors: [190519304972664832] },
        'authors.0 type this is the number 190519304972664830: write a text in quotes',
      ],
      [
        { authors: ['Homer'] },
        'authors.0 pattern "Homer" is not allowed: write 1 to 20 digits in quotes, such as "190519304972663312"',
      ],
      [
        { category: 'Fun' },
        'category enum "Fun" is not an allowed value: choose education, entertainment, fun, games, image, moderation, music, news, notifications, other, productivity or utility',
      ],
      [
        { created: '1700000000000' },
        'created type this is the text "1700000000000": write a whole number, without quotes',
      ],
      [{ created: 1.5 }, 'created type this is the fraction 1.5: write a whole number, without quotes'],
      [{ created: -1 }, 'created minimum -1 is too small: write at least 0'],
      [{ created: 9e15 }, 'created maximum 9000000000000000 is too large: write at most 8640000000000000'],
      [{ random: 1 }, 'random exclusiveMaximum 1 is too large: write less than 1'],
      [{ nsfw: 'no' }, 'nsfw type this is the text "no": write true or false, without quotes'],
      [{ nsfw: null }, 'nsfw type this is null: write true or false, without quotes'],
      [
        { invite: 'http://example.org' },
        'invite pattern "http://example.org" is not allowed: write an absolute https:// address without spaces, user name or password',
      ],
      [
        { invite: `https://example.org/${'x'.repeat(2000)}` },
        'invite maxLength the text has 2020 characters: shorten it to at most 2000',
      ],
      [
        { invite: `http://${'x'.repeat(60)}` },
        `invite pattern "http://${'x'.repeat(48)}…" is not allowed: write an absolute https:// address without spaces, user name or password`,
      ],
      [{ website: 7 }, 'website type this is the number 7: write a text in quotes or null'],
      [{ name: '' }, 'name minLength the text is empty: write 1 to 32 characters'],
      [
        { name: ' ' },
        'name pattern " " is not allowed: write one line of visible text, without control characters',
      ],
      [
        { name: '\u200b \u3164' },
        'name pattern "\u200b \u3164" is not allowed: write one line of visible text, without control characters',
      ],
      [{ name: '🍩'.repeat(33) }, 'name maxLength the text has 33 characters: shorten it to at most 32'],
      [{ images: [] }, 'images type this is a list: write an object in { }'],
      [{ images: { preview: {} } }, 'images.preview type this is an object: write a list in [ ]'],
      [
        { trigger: { prefix: ['!', ''] } },
        'trigger.prefix.1 minLength the text is empty: write 1 to 32 characters',
      ],
    ];
    for (const [keys, ...expected] of advice)
      it(JSON.stringify(keys).slice(0, 60), () => deepStrictEqual(faults(keys), expected));

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

  it('takes a name with invisible characters between others, such as in an emoji or in Persian', () => {
    for (const name of ['👩\u200d💻', 'می\u200cخواهم', '❤\ufe0f']) deepStrictEqual(faults({ name }), []);
  });

  it('takes 32 characters for 32, whatever the script', () => {
    deepStrictEqual(faults({ name: '🍩'.repeat(32) }), []);
  });

  it('has addresses with a host, and none with a password', () => {
    for (const invite of [
      'https://',
      'https:///x',
      'https://a@b',
      'https://a:b@c',
      'https://[',
      'https://a b',
      'javascript:alert(1)',
      ' https://a',
    ])
      strictEqual(faults({ invite }).length, 1, invite);
    for (const invite of [
      'https://a',
      'https://a/@b',
      'https://a:8443/?q=1#x',
      'https://例え.jp',
      'https://[::1]/',
    ])
      deepStrictEqual(faults({ invite }), [], invite);
  });

  describe('is reported with the nearest name', () => {
    for (const [key, meant] of [
      ['nmae', 'name'],
      ['Name', 'name'],
      ['descripton', 'description'],
      ['descriptions', 'description'],
      ['catgory', 'category'],
      ['categroy', 'category'],
      ['web-site', 'website'],
      ['author', 'authors'],
      ['suport', 'support'],
    ] as const)
      it(`${meant}, where ${key} stands`, () =>
        deepStrictEqual(faults({ [key]: 1 }), [
          `${key} additionalProperties "${key}" is not a key: write "${meant}"`,
        ]));

    it('nothing where no key is near', () => {
      match(
        faults({ colour: 1 }).join('|'),
        /^colour additionalProperties "colour" is not a key here: remove it; the keys are name, /,
      );
      match(faults({ id: '1' }).join('|'), /"id" is not a key here: remove it; /);
    });

    it('a key of the object at hand', () => {
      match(faults({ trigger: { prefx: [] } }).join('|'), /^trigger\.prefx .*: write "prefix"$/);
      match(
        validate('translation', { name: 'a', description: 'b', nsfw: true })
          .map(({ message }) => message)
          .join('|'),
        /^"nsfw" is not a key here: remove it; the keys are name or description$/,
      );
    });
  });

  it('tells all of its faults at once', () => {
    strictEqual(faults({ name: '', category: 'x', nsfw: 1, colour: 1, invite: 'x' }).length, 5);
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
