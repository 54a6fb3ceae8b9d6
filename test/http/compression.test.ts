import { strictEqual } from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { CompressedBodies } from '../../src/http/compression.ts';

describe('compressed bodies', () => {
  it('are the original, in either coding, in one piece or several', async () => {
    const bodies = new CompressedBodies();
    const pieces = async function* (): AsyncGenerator<Buffer> {
      for (const piece of ['one', 'two', 'three']) yield await Promise.resolve(Buffer.from(piece));
    };
    for (const [digest, body] of [
      ['a', Buffer.from('onetwothree')],
      ['b', pieces],
    ] as const) {
      strictEqual(brotliDecompressSync(await bodies.get(digest, 'br', body)).toString(), 'onetwothree');
      strictEqual(gunzipSync(await bodies.get(digest, 'gzip', body)).toString(), 'onetwothree');
    }
  });

  it('are compressed once for all who want the same one at the same time', async () => {
    const bodies = new CompressedBodies();
    let started = 0;
    const pieces = async function* (): AsyncGenerator<Buffer> {
      started++;
      yield await Promise.resolve(Buffer.from('text'));
    };
    const all = await Promise.all(
      Array.from({ length: 10 }, async () => await bodies.get('a', 'br', pieces)),
    );
    strictEqual(new Set(all).size, 1);
    strictEqual(started, 1);
    await bodies.get('b', 'br', pieces);
    strictEqual(started, 2);
  });

  it('are compressed again after a failure', async () => {
    const bodies = new CompressedBodies();
    const failing = async function* (): AsyncGenerator<Buffer> {
      yield await Promise.reject(new Error('no'));
    };
    strictEqual(await bodies.get('a', 'gzip', failing).catch(() => 'failed'), 'failed');
    strictEqual(gunzipSync(await bodies.get('a', 'gzip', Buffer.from('text'))).toString(), 'text');
  });
});
