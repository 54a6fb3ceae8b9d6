import { deepEqual, equal, ok } from 'node:assert/strict';
import sharp from 'sharp';
import { Decoder } from '../../src/images/decoder.ts';
import { ImageStore } from '../../src/images/store.ts';
import { ImageVariants } from '../../src/images/variants.ts';
import { samplePicture } from '../support/sample-pictures.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('smaller copies', () => {
  let store: ImageStore;
  let decoder: Decoder;
  let variants: ImageVariants;
  let name: string;

  beforeEach(async () => {
    store = new ImageStore(tempFolder());
    decoder = new Decoder();
    variants = new ImageVariants(store, decoder);
    name = await store.put(await samplePicture({ width: 512, height: 512, format: 'webp' }));
  });

  afterEach(async () => {
    await decoder.close();
  });

  it('are made from the full copy when they are first requested, and stored', async () => {
    equal(await store.read(name, 128), undefined);
    const bytes = await variants.read(name, 128);
    equal((await sharp(bytes).metadata()).width, 128);
    deepEqual(await store.read(name, 128), bytes);
    await decoder.close();
    deepEqual(await variants.read(name, 128), bytes);
  });

  it('are made once for requests that come at the same time', async () => {
    const [first, ...others] = await Promise.all([1, 2, 3].map(async () => await variants.read(name, 320)));
    ok(first);
    for (const other of others) equal(other, first);
  });

  it('are the full copy where none can be made', async () => {
    await decoder.close();
    deepEqual(await variants.read(name, 128), await store.read(name));
  });

  it('are none where there is no full copy', async () => {
    equal(await variants.read('0'.repeat(64), 320), undefined);
  });
});
