import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { frontPath, readFrontQuery } from '../../../src/site/front/front-query.ts';

describe('the query of a list page', () => {
  const read = (text: string): ReturnType<typeof readFrontQuery> =>
    readFrontQuery(new URLSearchParams(text), undefined);

  it('has defaults: all bots by servers, or the best match first where something is searched for', () => {
    deepStrictEqual(read(''), {
      q: '',
      sort: 'popular',
      category: undefined,
      nsfw: false,
      page: 1,
      locale: undefined,
    });
    strictEqual(read('q=music').sort, 'relevance');
  });

  it('ignores invalid values', () => {
    for (const text of [
      'sort=no',
      'sort=toString',
      'sort=relevance',
      'page=0',
      'page=-1',
      'page=1e3',
      'page=9999999',
      'nsfw=yes',
      'locale=!',
      'q=%20',
    ])
      deepStrictEqual(read(text), read(''), text);
  });

  it('cuts long searches and writes a language in its canonical case', () => {
    strictEqual(read(`q=${'a'.repeat(300)}`).q.length, 200);
    strictEqual(read('locale=zh-cn').locale, 'zh-CN');
  });

  it('has an address that is read as the same query, without the defaults', () => {
    for (const [text, path] of [
      ['', '/'],
      ['sort=popular&page=1&nsfw=false', '/'],
      ['q=a%26b&sort=name&nsfw=true&page=3&locale=fr', '/?q=a%26b&sort=name&nsfw=true&page=3&locale=fr'],
      ['q=a&sort=relevance', '/?q=a'],
    ] as const) {
      strictEqual(frontPath(read(text)), path);
      deepStrictEqual(read(path.replace(/^.*\?|^\/$/, '')), read(text));
    }
    strictEqual(
      frontPath(readFrontQuery(new URLSearchParams('page=2'), 'music')),
      '/categories/music?page=2',
    );
  });
});
