import { deepStrictEqual, strictEqual, throws } from 'node:assert/strict';
import { readIds } from '../../src/http/request.ts';

const read = (query: string): readonly string[] | undefined => readIds(new URLSearchParams(query));

describe('the parameter ids', () => {
  it('selects bots, repeated or with commas, each once and in its order', () => {
    deepStrictEqual(read('ids=9,10&x=1&ids=7&ids=9'), ['9', '10', '7']);
    strictEqual(read('bots=7'), undefined);
  });

  for (const query of [
    'ids=',
    'ids',
    'ids=7,',
    'ids=7&ids=',
    'ids=7, 8',
    'ids=seven',
    `ids=${'7'.repeat(21)}`,
  ]) {
    it(`refuses ${query}`, () => {
      throws(() => read(query), {
        kind: 'bad-query',
        message: /^ids: ".*" is not a bot ID: use 1 to 20 digits$/,
      });
    });
  }

  it('takes 100 ids, and no more', () => {
    const ids = Array.from({ length: 101 }, (_, i) => String(i));
    strictEqual(read(`ids=${ids.slice(1).join()}`)?.length, 100);
    for (const query of [`ids=${ids.join()}`, ids.map((id) => `ids=${id}`).join('&')])
      throws(() => read(query), { kind: 'bad-query', message: /more than 100 ids/ });
  });
});
