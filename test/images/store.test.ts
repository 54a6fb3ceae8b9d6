import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import sharp from 'sharp';
import { Decoder } from '../../src/images/decoder.ts';
import { type ImageEntry, ImageIndex, ImageStore } from '../../src/images/store.ts';
import { sampleImage } from '../support/sample-images.ts';
import { tempFolder } from '../support/temp-folder.ts';

const hour = 3_600_000;

describe('the image store', () => {
  let folder: string;
  let store: ImageStore;

  beforeEach(() => {
    folder = join(tempFolder(), 'appdata');
    store = new ImageStore(folder);
  });

  it('names an image by its bytes and reads them back', async () => {
    const bytes = Buffer.from('an image');
    const name = await store.put(bytes);
    equal(name, createHash('sha256').update(bytes).digest('hex'));
    deepEqual(await store.read(name), bytes);
    equal(existsSync(join(folder, name.slice(0, 1), name.slice(1, 3), `${name}.webp`)), true);
  });

  it('stores the same image once, however often and however many at once', async () => {
    const names = await Promise.all([1, 2, 3].map(async () => await store.put(Buffer.from('the same'))));
    deepEqual([...listNames(folder)], [...new Set(names)]);
    deepEqual(readdirSync(dirname(pathOf(folder, names[0] ?? ''))), [`${names[0]}.webp`]);
  });

  it('keeps a smaller copy for as long as the full one, and does not take it for one @long', async () => {
    const [name, gone] = await Promise.all(
      [1, 2].map(async (seed) => await store.put(await large({ seed }))),
    );
    const decoder = new Decoder();
    const smaller = await store.readVariant(name ?? '', 128, decoder);
    await store.readVariant(gone ?? '', 320, decoder);
    await decoder.close();
    for (const variant of [`${name}.128`, `${gone}.320`]) age(pathOf(folder, variant), 2 * hour);
    rmSync(pathOf(folder, gone ?? ''));
    const { stored } = await store.sweep(new Set([name ?? '', gone ?? '']), hour);
    deepEqual(stored, new Set([name]));
    equal((await store.sweep(new Set([name ?? '']), hour)).removed, 1);
    deepEqual(await store.read(name ?? '', 128), smaller);
    equal(await store.read(name ?? '', 320), undefined);
    equal(await store.read(gone ?? '', 320), undefined);
  });

  it('leaves nothing behind when an image cannot be written', async () => {
    writeFileSync(folder, 'a file where the folder should be');
    await rejects(store.put(Buffer.from('an image')), { code: 'ENOTDIR' });
  });

  it('removes what nothing names once its grace is over, and what a crash left', async () => {
    const [named, old, young] = await Promise.all(
      ['named', 'old', 'young'].map(async (text) => await store.put(Buffer.from(text))),
    );
    const left = `${pathOf(folder, old ?? '')}.1.1.tmp`;
    writeFileSync(left, 'half a pict');
    for (const path of [pathOf(folder, named ?? ''), pathOf(folder, old ?? ''), left]) age(path, 2 * hour);
    equal((await store.sweep(new Set([named ?? '']), hour)).removed, 2);
    deepEqual(listNames(folder), new Set([named, young]));
    equal(existsSync(left), false);
  });

  it('counts the grace of an image from when it was released', async () => {
    const name = await store.put(Buffer.from('served for years'));
    age(pathOf(folder, name), 1000 * hour);
    await store.release(name);
    equal((await store.sweep(new Set(), hour)).removed, 0);
    age(pathOf(folder, name), 2 * hour);
    equal((await store.sweep(new Set(), hour)).removed, 1);
  });

  it('keeps an image that is stored again while the old ones are removed', async () => {
    const texts = Array.from({ length: 40 }, (_, index) => `image ${index}`);
    for (let round = 0; round < 5; round += 1) {
      const names = await Promise.all(texts.map(async (text) => await store.put(Buffer.from(text))));
      for (const name of names) age(pathOf(folder, name), 2 * hour);
      const again = texts.map(async (text) => await store.put(Buffer.from(text)));
      await store.sweep(new Set(), hour);
      await Promise.all(again);
      deepEqual(listNames(folder).size, texts.length);
    }
  });

  describe('as smaller copies', () => {
    let decoder: Decoder;
    let name: string;

    beforeEach(async () => {
      decoder = new Decoder();
      name = await store.put(await large());
    });

    afterEach(async () => {
      await decoder.close();
    });

    it('makes them from the full copy when they are first requested, and stores them', async () => {
      equal(await store.read(name, 128), undefined);
      const bytes = await store.readVariant(name, 128, decoder);
      equal((await sharp(bytes).metadata()).width, 128);
      deepEqual(await store.read(name, 128), bytes);
      await decoder.close();
      deepEqual(await store.readVariant(name, 128, decoder), bytes);
    });

    it('makes them once for requests that come at the same time @long', async () => {
      let made = 0;
      const counting: Pick<Decoder, 'decode'> = {
        decode: async (...image) => {
          made++;
          return await decoder.decode(...image);
        },
      };
      const requests = [1, 2, 3].map(async () => await store.readVariant(name, 320, counting));
      const [first, ...others] = await Promise.all(requests);
      ok(first);
      for (const other of others) deepEqual(other, first);
      equal(made, 1);
    });

    it('makes one again that a power loss has left empty @long', async () => {
      const bytes = await store.readVariant(name, 128, decoder);
      truncateSync(pathOf(folder, `${name}.128`));
      deepEqual(await store.readVariant(name, 128, decoder), bytes);
      deepEqual(await store.read(name, 128), bytes);
    });

    it('has the full copy where none can be made, and tries once for requests that come at the same time', async () => {
      let tries = 0;
      const failing: Pick<Decoder, 'decode'> = {
        decode: async () => await Promise.reject(new Error(`try ${++tries}`)),
      };
      const read = async (): Promise<unknown> => await store.readVariant(name, 128, failing);
      const full = await store.read(name);
      deepEqual(await Promise.all([read(), read(), read()]), [full, full, full]);
      equal(tries, 1);
    });

    it('has none where there is no full copy', async () => {
      equal(await store.readVariant('0'.repeat(64), 320, decoder), undefined);
    });
  });
});

describe('the index of the image cache', () => {
  const url = 'https://example.org/0.png';
  let path: string;
  let index: ImageIndex;
  let image: ImageEntry;
  const fetchedAt = async (): Promise<unknown> =>
    (await ImageIndex.open(path)).get('wide', url)?.copy?.fetchedAt;
  const change = (time: number): void => {
    image.copy = { name: '0'.repeat(64), width: 40, height: 30, fetchedAt: time };
    index.noteChange(image);
  };

  beforeEach(async () => {
    path = join(tempFolder(), 'appdata', 'index');
    index = await ImageIndex.open(path);
    image = index.getOrCreate('wide', url);
  });

  it('does not grow with every change', async () => {
    for (let time = 0; time < 3000; time += 1) {
      change(time);
      await index.flush();
    }
    await index.close();
    ok(readFileSync(path, 'utf8').split('\n').length < 1100);
    equal(await fetchedAt(), 2999);
  });

  it('keeps the changes it could not write for the next time', async () => {
    change(5);
    writeFileSync(dirname(path), 'a file where the folder should be');
    await rejects(index.flush(), { code: 'EEXIST' });
    rmSync(dirname(path));
    await index.close();
    equal(await fetchedAt(), 5);
  });
});

async function large(more: { readonly seed?: number } = {}): Promise<Buffer> {
  return await sampleImage({ width: 512, height: 512, format: 'webp', ...more });
}

function pathOf(folder: string, name: string): string {
  return join(folder, name.slice(0, 1), name.slice(1, 3), `${name}.webp`);
}

/** Returns the names of the full copies. */
function listNames(folder: string): Set<string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  return new Set(names.flatMap((name) => /([0-9a-f]{64})\.webp$/.exec(name)?.[1] ?? []));
}

function age(path: string, milliseconds: number): void {
  const then = new Date(Date.now() - milliseconds);
  utimesSync(path, then, then);
}
