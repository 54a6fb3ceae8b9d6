import { deepEqual, equal, match, ok, rejects } from 'node:assert/strict';
import sharp from 'sharp';
import { decode } from '../../src/images/decode.ts';
import { sampleAnimation, sampleImage, samplePng } from '../support/sample-images.ts';

describe('decoding an image', () => {
  for (const format of ['png', 'jpeg', 'webp', 'gif'] as const) {
    it(`makes WebP of ${format}`, async () => {
      const image = await decode(await sampleImage({ format }), 'avatar');
      const { format: made, width, height } = await sharp(image.bytes).metadata();
      deepEqual([made, width, height], ['webp', 40, 30]);
      deepEqual([image.width, image.height], [40, 30]);
    });
  }

  for (const [kind, width, height, ...expected] of [
    ['avatar', 2000, 1000, 512, 256],
    ['wide', 2000, 1000, 1280, 640],
    [128, 1280, 720, 128, 72],
    [320, 1280, 720, 320, 180],
    [640, 1280, 720, 640, 360],
    ['wide', 3, 2, 3, 2],
  ] as const)
    it(`makes ${expected.join(' × ')} of ${width} × ${height} for ${kind}: no larger, in its proportions`, async () => {
      const image = await decode(await sampleImage({ width, height }), kind);
      deepEqual([image.width, image.height], expected);
    });

  it('drops the metadata, after turning the image as it says', async () => {
    const original = await sharp(await sampleImage({ width: 40, height: 30 }))
      .withExif({ IFD0: { Copyright: 'a private place' } })
      .withMetadata({ orientation: 6 })
      .jpeg()
      .toBuffer();
    const image = await decode(original, 'avatar');
    const { exif, icc, xmp, orientation, width, height } = await sharp(image.bytes).metadata();
    deepEqual([exif, icc, xmp, orientation], [undefined, undefined, undefined, undefined]);
    deepEqual([width, height], [30, 40]);
  });

  it('keeps what shines through', async () => {
    const channels = 4;
    const original = await sharp({ create: { width: 9, height: 9, channels, background: '#ff000080' } })
      .png()
      .toBuffer();
    equal((await sharp((await decode(original, 'avatar')).bytes).metadata()).hasAlpha, true);
  });

  it('returns the same bytes for the same image', async () => {
    const original = await sampleImage({ width: 600, height: 600 });
    deepEqual((await decode(original, 'avatar')).bytes, (await decode(original, 'avatar')).bytes);
  });

  it('JPEG of a phone: parameters of its scan that no decoder needs may be wrong', async () => {
    const original = await sampleImage({ format: 'jpeg' });
    const scan = original.indexOf('ffda', 0, 'hex') + 2;
    // The last coefficient of a scan, which is always 63 here.
    original[scan + original.readUInt16BE(scan) - 2] = 0;
    equal((await decode(original, 'avatar')).width, 40);
  });

  it('GIF animation: the first frame is taken', async () => {
    const { bytes, width, height } = await decode(await sampleAnimation(), 'avatar');
    deepEqual([(await sharp(bytes).metadata()).pages, width, height], [undefined, 40, 30]);
  });
});

describe('decoding what is hostile', () => {
  it('pixel bomb: a small file of very many pixels is refused by its header', async () => {
    const bomb = await sharp({ create: { width: 6_400, height: 6_400, channels: 3, background: '#fff' } })
      .png()
      .toBuffer();
    ok(bomb.length < 1_000_000);
    await refusal(bomb, /pixel limit/);
  });

  it('pixel bomb: a header that lies about pixels that are not there is refused', async () => {
    for (const [side, message] of [
      [60_000, /pixel limit/],
      [2_000, undefined],
    ] as const)
      await refusal(samplePng({ width: side, height: side, pixels: Buffer.alloc(1000) }), message);
  });

  for (const format of ['png', 'jpeg', 'webp', 'gif'] as const)
    it(`truncated ${format}: a part of an image is refused, not filled up with grey`, async () => {
      const noise = { type: 'gaussian', mean: 99, sigma: 50 } as const;
      const create = { width: 200, height: 200, channels: 3, noise, background: '#fff' } as const;
      const whole = await sharp({ create }).toFormat(format).toBuffer();
      await refusal(whole.subarray(0, whole.length * 0.99));
      await refusal(whole.subarray(0, whole.length / 2));
      await refusal(whole.subarray(0, 50));
      await refusal(Buffer.alloc(0));
    });

  const script =
    '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><script>alert(1)</script></svg>';
  for (const [title, text] of [
    ['SVG with script', script],
    ['SVG as XML', `<?xml version="1.0"?>\n${script}`],
    ['SVG without script', '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>'],
    ['HTML as PNG', '<!doctype html><script>alert(1)</script>'],
    ['PPM', 'P3 1 1 255 1 2 3\n'],
    ['PDF', '%PDF-1.7\n'],
  ] as const)
    it(`${title}: it is refused`, async () => await refusal(Buffer.from(text)));

  it('other formats: what the library could read and we do not is refused', async () => {
    await refusal(await sampleImage({ format: 'tiff' }));
  });

  it('page with image inside: what follows the image is not in our copy', async () => {
    const polyglot = Buffer.concat([await sampleImage(), Buffer.from('<script>alert(1)</script>')]);
    const { bytes } = await decode(polyglot, 'avatar');
    equal(bytes.includes('script'), false);
  });
});

async function refusal(
  bytes: Buffer,
  message = /is not a JPEG, PNG, WebP or GIF that can be read/,
): Promise<void> {
  await rejects(decode(bytes, 'avatar'), (error: unknown) => {
    ok(error instanceof Error);
    match(error.message, message);
    return true;
  });
}
