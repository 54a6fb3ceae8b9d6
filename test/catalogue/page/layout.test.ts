import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { toCanonicalLocale } from '../../../src/bot/locale.ts';
import {
  formatFileName,
  folderOf,
  isFolderName,
  pathOf,
  parsePagePath,
  parsePlace,
} from '../../../src/catalogue/page/layout.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { botId, pagePath } from '../../support/sample.ts';

const ids = fc.stringMatching(/^[0-9]{1,20}$/).map(botId);
const tags = fc
  .tuple(
    fc.oneof(fc.stringMatching(/^[a-zA-Z]{2,3}$/), fc.constantFrom('en', 'DE', 'zh', 'fil', 'Sr')),
    fc.option(fc.stringMatching(/^[a-zA-Z]{4}$/)),
    fc.option(fc.stringMatching(/^([a-zA-Z]{2}|[0-9]{3})$/)),
  )
  .map((parts) => parts.filter((part) => part !== null).join('-'));

describe('the layout', () => {
  it('puts a bot in the folder of its last three digits', () => {
    strictEqual(pagePath('190519304972663312', 'en-GB'), 'bots/312/190519304972663312.en-GB.md');
    strictEqual(pagePath('7'), 'bots/007/7.en.md');
    strictEqual(pagePath('07'), 'bots/007/07.en.md');
    strictEqual(pagePath('1000'), 'bots/000/1000.en.md');
  });

  it('goes both ways: every bot and locale has one path, and the path tells them', () => {
    fc.assert(
      fc.property(ids, tags, (id, tag) => {
        const locale = toCanonicalLocale(tag);
        if (locale === undefined) return;
        const path = pathOf(id, locale);
        ok(isFolderName(path.split('/')[1] ?? ''), path);
        deepStrictEqual(parsePagePath(path), { id, locale });
        deepStrictEqual(parsePagePath(`list/${path}`, 'list/'), { id, locale });
        strictEqual(parsePagePath(path, 'list/'), undefined);
      }),
    );
  });

  it('has one place at most for any name', () => {
    const name = fc.oneof(
      fc.string(),
      fc
        .tuple(ids, tags, fc.constantFrom('.md', '.MD', '', '.md~'))
        .map(([id, tag, end]) => `${id}.${tag}${end}`),
    );
    fc.assert(
      fc.property(fc.stringMatching(/^[0-9]{3}$/), name, (folder, name) => {
        const place = parsePlace(folder, name);
        if ('rule' in place) match(place.message, /: /);
        else strictEqual(`${folderOf(place.id)}/${formatFileName(place)}`, `${folder}/${name}`);
      }),
    );
  });

  it('tells a misplaced file a path that is right', () => {
    fc.assert(
      fc.property(ids, tags, (id, tag) => {
        const place = parsePlace('000', `${id}.${tag}.md`);
        const path = 'rule' in place ? / to (\S+)$/.exec(place.message)?.[1] : undefined;
        if (path === undefined) return;
        ok(parsePagePath(path), path);
      }),
    );
  });

  for (const { input, expected } of readCases('file-names'))
    it(`has no page at ${input}`, () => {
      const [folder = '', name = ''] = JSON.parse(input) as string[];
      const place = parsePlace(folder, name);
      ok('rule' in place, JSON.stringify(place));
      deepStrictEqual([`${place.rule} ${place.message}`], expected);
    });

  it('has no page at a path that is not two levels below bots/', () => {
    const paths = 'bots/007 bots/007/7.en.md/b bot/007/7.en.md /bots/007/7.en.md bots/008/7.en.md README.md';
    for (const path of [...paths.split(' '), '']) strictEqual(parsePagePath(path), undefined, path);
  });
});
