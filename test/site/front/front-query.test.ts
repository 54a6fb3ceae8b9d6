import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { formatFrontPath, isFront, readFrontQuery, sortOf } from '../../../src/site/front/front-query.ts';
import { fixtureLines, readCases } from '../../support/fixture-lines.ts';

describe('the query of a list page', () => {
  const read = (text: string): ReturnType<typeof readFrontQuery> =>
    readFrontQuery(new URLSearchParams(text), undefined);

  it('has defaults: all bots by servers, or the best match first where something is searched for', () => {
    deepStrictEqual(read(''), {
      q: '',
      sort: undefined,
      category: undefined,
      filters: {},
      view: undefined,
      page: 1,
    });
    strictEqual(sortOf(read('')), 'popular');
    strictEqual(sortOf(read('q=music')), 'relevance');
  });

  it('ignores invalid values', () => {
    for (const text of fixtureLines('front-queries-ignored.txt')) deepStrictEqual(read(text), read(''), text);
  });

  it('cuts long searches', () => {
    strictEqual(read(`q=${'a'.repeat(300)}`).q.length, 200);
  });

  it('has an address that is read as the same query, without the defaults', () => {
    for (const { input, expected } of readCases('front-paths')) {
      const text = input.slice(1);
      strictEqual(formatFrontPath(read(text)), expected[0]);
      strictEqual(formatFrontPath(read((expected[0] ?? '').replace(/^.*\?|^\/$/, ''))), expected[0]);
    }
    strictEqual(
      formatFrontPath(readFrontQuery(new URLSearchParams('page=2'), 'music')),
      '/categories/music?page=2',
    );
  });

  it('is that of the front page where nothing is searched for, chosen or sorted', () => {
    for (const text of ['', 'locale=fr', 'page=1', 'sort=no', 'q=']) ok(isFront(read(text)), text);
    for (const text of ['q=a', 'sort=popular', 'page=2', 'source=open', 'language=fr', 'nsfw=true'])
      ok(!isFront(read(text)), text);
    ok(!isFront(readFrontQuery(new URLSearchParams(), 'music')));
  });
});
