import { deepEqual, equal, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import os from 'node:os';
import { deflateSync } from 'node:zlib';
import { Decoder, ImageError } from '../../src/images/decoder.ts';
import { sampleImage, samplePng } from '../support/sample-images.ts';

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

  it('decodes where it may not set its priority, as below a service with a lower one', async () => {
    const { setPriority } = os;
    const refuse = (): void => {
      throw Object.assign(new Error('permission denied'), { code: 'ERR_SYSTEM_ERROR' });
    };
    Object.assign(os, { setPriority: refuse });
    syncBuiltinESMExports();
    try {
      equal((await decoder.decode(await sampleImage(), 'avatar')).width, 40);
    } finally {
      Object.assign(os, { setPriority });
      syncBuiltinESMExports();
    }
  });

  it('is killed from outside where an image takes longer than the limit @slow', async () => {
    const impatient = new Decoder(300);
    const text = Buffer.concat([Buffer.from('a\0\0'), deflateSync(Buffer.alloc(100_000_000))]);
    const bomb = samplePng({ texts: Array.from({ length: 20 }, () => text) });
    try {
      await rejects(impatient.decode(bomb, 'avatar'), /kept the decoder busy for 0.3 s/);
      deepEqual(children(), []);
    } finally {
      await impatient.close();
    }
  });

  it('refuses an image with a side over 16,384 pixels @slow', async () => {
    await rejects(decoder.decode(samplePng({ height: 40_000_000 }), 'avatar'), /a side exceeds 16384 pixels/);
  });

  it('has no environment and is gone when it is closed @long', async () => {
    await decoder.decode(await sampleImage(), 'avatar');
    const [pid] = children();
    equal(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('PATH='), false);
    await decoder.close();
    deepEqual(children(), []);
    await rejects(decoder.decode(await sampleImage(), 'avatar'), /closed/);
  });

  it('takes nothing with it when it goes down: the image is at fault, the next one starts another @long', async () => {
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

/** Returns the running decoders of this process. */
function children(): string[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ');
  return pids.filter(
    (pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('images/decode.js'),
  );
}
