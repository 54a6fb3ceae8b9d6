import { deepEqual, equal, rejects } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { Decoder } from '../../src/images/decoder.ts';
import { ImageError } from '../../src/images/fetch/image-error.ts';
import { samplePicture } from '../support/sample-pictures.ts';

describe('the decoder process', () => {
  let decoder: Decoder;

  beforeEach(() => {
    decoder = new Decoder();
  });

  afterEach(async () => {
    await decoder.close();
  });

  it('decodes pictures that come at the same time, each to its own asker', async () => {
    const widths = [10, 20, 30, 40];
    const images = await Promise.all(
      widths.map(async (width) => await decoder.decode(await samplePicture({ width }), 'avatar')),
    );
    deepEqual(
      images.map(({ width }) => width),
      widths,
    );
    equal(images[0]?.bytes.toString('latin1', 8, 12), 'WEBP');
  });

  it('goes on after a picture that cannot be read', async () => {
    await rejects(decoder.decode(Buffer.from('no picture'), 'avatar'), ImageError);
    equal((await decoder.decode(await samplePicture(), 'avatar')).width, 40);
  });

  it('has no environment and is gone when it is closed', async () => {
    await decoder.decode(await samplePicture(), 'avatar');
    const [pid] = children();
    equal(readFileSync(`/proc/${pid}/environ`, 'utf8').includes('PATH='), false);
    await decoder.close();
    deepEqual(children(), []);
    await rejects(decoder.decode(await samplePicture(), 'avatar'), /closed/);
  });

  it('takes nothing with it when it goes down: the picture is at fault, the next one starts another', async () => {
    await decoder.decode(await samplePicture(), 'avatar');
    const [first] = children();
    const large = await samplePicture({ width: 6000, height: 6000 });
    const decoding = rejects(decoder.decode(large, 'wide'), (error: unknown) => {
      equal(error instanceof ImageError, true);
      return true;
    });
    process.kill(Number(first), 'SIGKILL');
    await decoding;
    equal((await decoder.decode(await samplePicture(), 'avatar')).width, 40);
  });
});

/** The decoders that this process has started and that still run. */
function children(): string[] {
  const pids = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').split(' ');
  return pids.filter(
    (pid) => pid !== '' && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('decoder-process'),
  );
}
