import { deepEqual, equal, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { crc32, deflateSync } from 'node:zlib';
import { Decoder } from '../../src/images/decoder.ts';
import { ImageError } from '../../src/images/image-error.ts';
import { sampleImage } from '../support/sample-images.ts';

describe('the decoder process', () => {
  let decoder: Decoder;

  beforeEach(() => {
    decoder = new Decoder();
  });

  afterEach(async () => {
    await decoder.close();
  });

  it('decodes images that come at the same time, each to its own asker', async () => {
    const widths = [10, 20, 30, 40];
    const images = await Promise.all(
      widths.map(async (width) => await decoder.decode(await sampleImage({ width }), 'avatar')),
    );
    deepEqual(
      images.map(({ width }) => width),
      widths,
    );
    equal(images[0]?.bytes.toString('latin1', 8, 12), 'WEBP');
  });

  it('goes on after an image that cannot be read', async () => {
    await rejects(decoder.decode(Buffer.from('no image'), 'avatar'), ImageError);
    equal((await decoder.decode(await sampleImage(), 'avatar')).width, 40);
  });

  it('is killed from outside where an image takes longer than the limit', async () => {
    const impatient = new Decoder(300);
    const bomb = pngOf(
      1,
      1,
      [['zTXt', Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(100_000_000))])]],
      20,
    );
    let tookMs = 0;
    try {
      await rejects(
        impatient.decode(bomb, 'avatar', (ms) => (tookMs = ms)),
        /kept the decoder busy for 0.3 s/,
      );
      deepEqual(children(), []);
    } finally {
      await impatient.close();
    }
    equal(tookMs >= 299, true);
  });

  it('refuses an image with a side over 16,384 pixels', async () => {
    await rejects(decoder.decode(pngOf(1, 40_000_000), 'avatar'), /a side exceeds 16384 pixels/);
  });

  it('has no environment and is gone when it is closed', async () => {
    await decoder.decode(await sampleImage(), 'avatar');
    const [pid] = children();
    equal(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('PATH='), false);
    await decoder.close();
    deepEqual(children(), []);
    await rejects(decoder.decode(await sampleImage(), 'avatar'), /closed/);
  });

  it('takes nothing with it when it goes down: the image is at fault, the next one starts another', async () => {
    await decoder.decode(await sampleImage(), 'avatar');
    const [first] = children();
    const large = await sampleImage({ width: 6000, height: 6000 });
    const decoding = rejects(decoder.decode(large, 'wide'), (error: unknown) => {
      equal(error instanceof ImageError, true);
      return true;
    });
    process.kill(Number(first), 'SIGKILL');
    await decoding;
    equal((await decoder.decode(await sampleImage(), 'avatar')).width, 40);
  });
});

/** The decoders that this process has started and that still run. */
function children(): string[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ');
  return pids.filter(
    (pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('decoder-process'),
  );
}

/** Makes a grey PNG, with chunks before its pixels that are each there `times` times. */
function pngOf(width: number, height: number, chunks: readonly [string, Buffer][] = [], times = 1): Buffer {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const whole = Buffer.alloc(body.length + 8);
    whole.writeUInt32BE(data.length, 0);
    body.copy(whole, 4);
    whole.writeUInt32BE(crc32(body), body.length + 4);
    return whole;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]),
    chunk('IHDR', header),
    ...chunks.flatMap(([type, data]) => Array.from({ length: times }, () => chunk(type, data))),
    chunk('IDAT', deflateSync(Buffer.alloc((width + 1) * height))),
    chunk('IEND', Buffer.alloc(0)),
  ]);
}
