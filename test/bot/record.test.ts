import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { parseLocale } from '../../src/bot/locale.ts';
import type { Locale } from '../../src/bot/locale.ts';
import { assembleRecord, type FilledMainPage, listElement } from '../../src/bot/record.ts';
import { validate } from '../../src/bot/validate.ts';
import { withDefaults } from '../../src/catalogue/page/page.ts';
import { botId, homerKeys } from '../support/sample.ts';

const id = botId('190519304972663312');

/** The front matter of a main page with the defaults of the schema. */
function filled(keys: object = {}): FilledMainPage {
  const data = withDefaults({ ...homerKeys, ...keys });
  strictEqual(JSON.stringify(validate('main-page', data)), '[]');
  return data as unknown as FilledMainPage;
}

function locale(text: string): Locale {
  const tag = parseLocale(text);
  ok(typeof tag === 'string');
  return tag;
}

const { name, description } = filled();
const contents = new Map([[locale('fr'), { name, description, page: '# Homère' }]]);

describe('a record', () => {
  it('has the keys that the API promises, with every default in place', () => {
    deepStrictEqual(JSON.parse(JSON.stringify(assembleRecord(id, filled(), contents))), {
      id: '190519304972663312',
      authors: ['190519304972664832'],
      cachedImages: { avatar: null, cover: null, preview: [] },
      category: 'fun',
      contents: {
        fr: { description: 'Answers questions about doughnuts.', name: 'Homer', page: '# Homère' },
      },
      created: 1_700_000_000_000,
      edited: 1_700_000_000_000,
      codehost: { owner: null, repo: null },
      images: { avatar: null, cover: null, preview: [] },
      invite: 'https://example.org/invite',
      legacy: false,
      nsfw: false,
      oauth: null,
      random: 0.4538219514883082,
      support: null,
      trigger: { prefix: [], customisable: false, mentionable: false },
      verified: false,
      website: null,
    });
  });

  it('may have everything that a main page may have, such as a prefix of 32 characters', () => {
    const data = filled({ trigger: { prefix: ['p'.repeat(32)] }, codehost: { owner: 'o'.repeat(100) } });
    deepStrictEqual(validate('record', assembleRecord(id, data, contents)), []);
  });

  it('is not a list element, whose schema is the same but for the pages', () => {
    const record = assembleRecord(id, filled(), contents);
    const faultsOf = (value: object): string[] =>
      validate('list-element', value).map(({ keyword, place }) => `${keyword} ${place.join('.')}`);
    deepStrictEqual(faultsOf(record), ['additionalProperties contents.fr.page']);
    const wrong = { ...listElement(record), invite: 7, random: undefined };
    deepStrictEqual(faultsOf(wrong), ['required ', 'type invite']);
  });

  it('has what the page says rather than a default', () => {
    const keys = { edited: 1_800_000_000_000, random: 0.25, nsfw: true, oauth: '42' };
    const record = assembleRecord(id, filled({ ...keys, codehost: { owner: 'o' } }), contents);
    deepStrictEqual(record, { ...record, ...keys, codehost: { owner: 'o', repo: null } });
  });

  it('takes no key that is not named', () => {
    const data = { ...filled(), token: 'secret', trigger: { ...filled().trigger, extra: 1 } };
    ok(!JSON.stringify(assembleRecord(id, data, contents)).match(/secret|extra/));
  });
});

describe('the derived draw', () => {
  it('is in [0, 1) and the same for an id everywhere', () => {
    strictEqual(assembleRecord(id, filled(), contents).random, 0.4538219514883082);
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{1,20}$/), (text) => {
        const draw = assembleRecord(botId(text), filled(), contents).random;
        ok(draw >= 0 && draw < 1);
      }),
    );
  });
});
