import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { type NamedImage, ImagePreviews } from '../../src/images/cache.ts';

const image = (url: string | number): NamedImage => ({ kind: 'wide', url: `https://example.org/${url}` });

describe('images of forms', () => {
  it('are fetched one after the other for three forms of a client and nine in all', async () => {
    let running = 0;
    const previews = new ImagePreviews(async ({ url }) => {
      strictEqual(++running, 1);
      await new Promise(setImmediate);
      running--;
      return Buffer.from(url);
    }, 60_000);
    const fetchFor = async (clients: readonly string[]): Promise<boolean[]> =>
      await Promise.all(
        clients.map(async (client, i) => {
          const images = [image(`${client}-${i}`), image(`${client}-${i}-more`)];
          await previews.fetch(images, client);
          return images.every((each) => previews.nameOf(each) !== undefined);
        }),
      );
    deepStrictEqual(await fetchFor(['a', 'a', 'a', 'a']), [true, true, true, false]);
    const others = await fetchFor(Array.from({ length: 11 }, (_, i) => String(i)));
    deepStrictEqual(others, [...Array.from({ length: 9 }, () => true), false, false]);
  });

  it('that fail are not fetched again for the next check, and others keep no form waiting for long', async () => {
    const asked: string[] = [];
    const previews = new ImagePreviews(async ({ url }, signal) => {
      asked.push(url.slice(-1));
      if (url.endsWith('b')) throw new Error('it is not there');
      return await new Promise((_resolve, reject) => {
        signal.addEventListener('abort', () => reject(new Error('it is too slow')));
      });
    }, 300);
    for (const urls of ['b', 'b', 'ca', 'c']) await previews.fetch(urls.split('').map(image), '');
    deepStrictEqual(asked, ['b', 'c']);
    strictEqual(previews.nameOf(image('b')), undefined);
  });

  it('are 16 MiB at most: the oldest go first', async () => {
    const size = 5 * 1024 * 1024;
    const previews = new ImagePreviews(
      async ({ url }) => await Promise.resolve(Buffer.alloc(size, url)),
      60_000,
    );
    for (const i of [1, 2, 3, 4]) await previews.fetch([image(i)], '');
    strictEqual(previews.nameOf(image(1)), undefined);
    const name = previews.nameOf(image(4));
    ok(name !== undefined);
    strictEqual(previews.read(name)?.length, size);
    strictEqual(previews.read(''), undefined);
  });
});
