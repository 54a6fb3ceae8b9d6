import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { checkInThreads } from '../../src/check/check.ts';
import { catalogueOfTwo, check, checkChange, homer, lenny, pullRequest } from '../support/pull-request.ts';
import { collection, mainPage, pagePath, profile } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const [small, german] = ['collections/small.en.md', 'collections/small.de.md'];

describe('the check of the files beside bots/', () => {
  it('finds every fault of profiles and collections, and passes what is right', async () => {
    const root = tempFolder({
      [pagePath(homer)]: mainPage(),
      [pagePath(lenny)]: mainPage({ name: 'Lenny' }),
      'people/1.json': profile({ website: 'https://example.org', description: { en: 'Makes bots.' } }),
      'people/2.json': profile({ name: '', site: 'x', website: 'http://example.org' }),
      'people/3.json': '{"name": "Ada", "name": "Bob"}',
      'people/ada.json': profile(),
      [small]: collection({ bots: [homer, lenny] }),
      [german]: collection({ title: 'Für kleine Server' }),
      'collections/twice.en.md': collection({ bots: [homer, '1'] }),
      'collections/twice.de.md': collection({ bots: [homer, homer] }),
      'collections/none.en.md': collection({}),
      'collections/Bad Name.en.md': collection({ bots: [homer, lenny] }),
    });
    const { files, findings } = await checkInThreads(root, 'everything');
    strictEqual(files, 12);
    deepStrictEqual(
      findings.map(({ path, rule, severity }) => `${path} ${rule} ${severity}`),
      [
        'collections/Bad Name.en.md stray-file error',
        'collections/none.en.md one-list-of-bots error',
        'collections/twice.de.md uniqueItems error',
        'collections/twice.en.md unknown-bot warning',
        'people/2.json minLength error',
        'people/2.json additionalProperties error',
        'people/2.json pattern error',
        'people/3.json duplicate-key error',
        'people/ada.json stray-file error',
      ],
    );
  });

  it('reports faults of what a pull request changes, who a profile is of, and a removed bot of a collection @slow', async () => {
    const bad = await checkChange({
      'people/1.json': profile({ name: 7 }),
      'people/2.json': profile(),
      [small]: collection({ bots: [homer, lenny] }),
      [german]: collection({ bots: [homer, lenny] }),
    });
    deepStrictEqual(bad.found, [
      'people/2.json profile-changed notice',
      'collections/small.de.md outside-bots notice',
      'collections/small.en.md one-list-of-bots error',
      'people/1.json type error',
    ]);
    match(bad.messages[0] ?? '', /the account 2 is called/);
    const removal = catalogueOfTwo({ [small]: collection({ bots: [homer, lenny] }) });
    pullRequest(removal, { [pagePath(lenny)]: null, notes: '' });
    deepStrictEqual((await check(removal)).found, [
      `${pagePath(lenny)} bot-removed notice`,
      'collections/small.en.md unknown-bot warning',
      'notes outside-bots notice',
    ]);
    const other = catalogueOfTwo({ [small]: collection({ bots: [homer, '1'] }) });
    pullRequest(other, { notes: '' });
    deepStrictEqual((await check(other)).found, ['notes outside-bots notice']);
  });
});
