import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { formatFrontPath, isFront, readFrontQuery, sortOf } from '../../../src/site/front/front-query.ts';

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
    for (const text of [
      'sort=no',
      'sort=toString',
      'sort=relevance',
      'page=0',
      'page=-1',
      'page=1e3',
      'page=9999999',
      'nsfw=yes',
      'language=!',
      'source=closed',
      'active=1d',
      'administrator=true',
      'q=%20',
      'view=cards',
    ])
      deepStrictEqual(read(text), read(''), text);
  });

  it('cuts long searches', () => {
    strictEqual(read(`q=${'a'.repeat(300)}`).q.length, 200);
  });

  it('has an address that is read as the same query, without the defaults', () => {
    for (const [text, path] of [
      ['', '/'],
      ['page=1&nsfw=false', '/'],
      ['sort=popular', '/?sort=popular'],
      ['sort=popular&page=2', '/?page=2'],
      ['sort=name&q=a%26b&nsfw=true&page=3', '/?q=a%26b&sort=name&nsfw=true&page=3'],
      ['q=a&sort=relevance', '/?q=a'],
      ['page=2&view=rows&source=open', '/?source=open&view=rows&page=2'],
      ['administrator=false&q=a', '/?q=a&administrator=false'],
      [
        'nsfw=true&active=7d&verified=true&source=open&language=pt-br',
        '/?language=pt-BR&source=open&verified=true&active=7d&nsfw=true',
      ],
    ] as const) {
      strictEqual(formatFrontPath(read(text)), path);
      strictEqual(formatFrontPath(read(path.replace(/^.*\?|^\/$/, ''))), path);
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
