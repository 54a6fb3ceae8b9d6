import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { ObjectReader } from '../../../src/git/objects/object-reader.ts';
import { maxObjectBytes } from '../../../src/git/objects/objects.ts';
import { testRepository } from '../../support/repository.ts';

describe('the reader of objects', () => {
  it('returns what exists, in the requested order, and nothing for what does not', async () => {
    const { folder } = testRepository({ a: 'first', b: '' });
    const reader = new ObjectReader(folder);
    const objects = await reader.read(['HEAD:b', 'HEAD:c', 'HEAD:a', 'HEAD:c d']);
    deepStrictEqual(
      objects.map((object) => object?.content.toString()),
      ['', undefined, 'first', undefined],
    );
    reader.close();
  });

  it('returns nothing for a file that is too large, and goes on with the rest', async () => {
    const { folder } = testRepository({
      large: Buffer.alloc(maxObjectBytes + 1, 'x').toString(),
      most: Buffer.alloc(maxObjectBytes, 'x').toString(),
      small: 'small',
    });
    const reader = new ObjectReader(folder);
    const all = ['HEAD:small', 'HEAD:large', 'HEAD:most', 'HEAD:large', 'HEAD:small'];
    const [read, later] = await Promise.all([reader.read(all), reader.readOne('HEAD:small')]);
    deepStrictEqual(
      [...read, later].map((object) => object?.content.length),
      [5, undefined, maxObjectBytes, undefined, 5, 5],
    );
    const last = reader.read(all);
    reader.close();
    strictEqual((await last).length, 5);
  });

  it('starts no git once it is closed', async () => {
    const { folder } = testRepository({ a: 'first' });
    const reader = new ObjectReader(folder);
    strictEqual((await reader.readOne('HEAD:a'))?.content.toString(), 'first');
    reader.close();
    await rejects(reader.readOne('HEAD:a'), /its reader is closed/);
  });

  it('says that git cannot be run where there is no folder, and takes no name with a line break', async () => {
    const reader = new ObjectReader('/nowhere');
    await rejects(reader.readOne('HEAD'), /ENOENT/);
    await rejects(reader.readOne('a\nb'), RangeError);
  });
});
