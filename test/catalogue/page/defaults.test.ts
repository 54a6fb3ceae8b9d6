import { deepStrictEqual } from 'node:assert/strict';
import { withDefaults } from '../../../src/catalogue/page/page.ts';
import { validate } from '../../../src/catalogue/page/schema.ts';
import { homerKeys } from '../../support/sample.ts';

describe('front matter with the defaults of the schema', () => {
  it('has every default, and what it says itself', () => {
    const value = withDefaults({ ...homerKeys, nsfw: true });
    deepStrictEqual(value, {
      ...homerKeys,
      codehost: { owner: null, repo: null },
      images: { avatar: null, cover: null, preview: [] },
      legacy: false,
      nsfw: true,
      oauth: null,
      support: null,
      trigger: { prefix: [], customisable: false, mentionable: false },
      verified: false,
      website: null,
    });
    deepStrictEqual(validate('main-page', value), []);
  });

  it('has the defaults of parts that it leaves out', () => {
    deepStrictEqual(withDefaults({ codehost: { owner: 'o' } })['codehost'], { owner: 'o', repo: null });
  });

  it('is a copy', () => {
    const value = { ...homerKeys, codehost: { owner: 'o' } };
    withDefaults(value);
    deepStrictEqual(value, { ...homerKeys, codehost: { owner: 'o' } });
  });
});
