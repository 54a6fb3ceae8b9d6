import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { buffer } from 'node:stream/consumers';
import { gunzipSync } from 'node:zlib';
import { type Body, type Coding, CompressedBodies } from '../../src/http/representation.ts';

/** A body of these pieces; `bytes` is as large as given, whatever the pieces are. */
function inPieces(pieces: Iterable<Buffer>, bytes = 100): Body {
  const read = async function* (): AsyncGenerator<Buffer> {
    for (const piece of pieces) yield await Promise.resolve(piece);
  };
  return { bytes, read };
}

async function get(
  bodies: CompressedBodies,
  digest: string,
  coding: Coding,
  body: Body,
  address = '192.0.2.1',
): Promise<Body> {
  const compressed = await bodies.get(digest, coding, body, address);
  ok(compressed);
  return compressed;
}

async function read(bodies: CompressedBodies, digest: string, body: Body): Promise<string> {
  const compressed = await get(bodies, digest, 'gzip', body);
  return gunzipSync(Buffer.isBuffer(compressed) ? compressed : await buffer(compressed.read())).toString();
}

const veryLarge = 2 ** 30;

describe('compressed bodies', () => {
  it('keep only their own bytes in memory, not the chunk that zlib writes to', async () => {
    const bodies = new CompressedBodies();
    for (const coding of ['br', 'gzip'] as const)
      for (const body of [Buffer.from('one'.repeat(1000)), inPieces([Buffer.from('one'.repeat(1000))])]) {
        const bytes = await get(bodies, `${coding} ${Buffer.isBuffer(body)}`, coding, body);
        ok(Buffer.isBuffer(bytes));
        strictEqual(bytes.buffer.byteLength, bytes.length);
      }
  });

  it('are compressed once for all requests for the same one at the same time', async () => {
    const bodies = new CompressedBodies();
    let started = 0;
    const body: Body = {
      bytes: 4,
      read: async function* () {
        started++;
        yield await Promise.resolve(Buffer.from('text'));
      },
    };
    const all = await Promise.all(Array.from({ length: 10 }, async () => await get(bodies, 'a', 'br', body)));
    strictEqual(new Set(all).size, 1);
    strictEqual(started, 1);
    await get(bodies, 'b', 'br', body);
    strictEqual(started, 2);
  });

  it('are sent though larger ones pushed them out while they were compressed', async () => {
    const bodies = new CompressedBodies(128 * 1024);
    let start = (): void => {};
    const started = new Promise<void>((resolve) => (start = resolve));
    const slow: Body = {
      bytes: 4,
      read: async function* () {
        await started;
        yield Buffer.from('text');
      },
    };
    const waiting = read(bodies, 'slow', slow);
    const large = randomBytes(45 * 1024);
    await Promise.all(['a', 'b', 'c'].map(async (digest) => await get(bodies, digest, 'gzip', large)));
    start();
    strictEqual(await waiting, 'text');
  });

  it('are compressed again after a failure', async () => {
    const bodies = new CompressedBodies();
    const failing: Body = {
      bytes: 4,
      read: async function* () {
        yield await Promise.reject(new Error('no'));
      },
    };
    strictEqual(await get(bodies, 'a', 'gzip', failing).catch(() => 'failed'), 'failed');
    strictEqual(await read(bodies, 'a', Buffer.from('text')), 'text');
  });

  it('of a very large body come no faster than they are read, and others go on beside a reader that stops', async () => {
    const bodies = new CompressedBodies();
    let made = 0;
    const endless = function* (): Generator<Buffer> {
      for (;;) {
        made++;
        yield randomBytes(64 * 1024);
      }
    };
    const compressed = await get(bodies, 'a', 'gzip', inPieces(endless(), veryLarge));
    ok(!Buffer.isBuffer(compressed));
    const reader = compressed.read()[Symbol.asyncIterator]();
    await reader.next();
    const piece = Buffer.from('text');
    strictEqual(await read(bodies, 'b', inPieces([piece], veryLarge)), 'text');
    ok(made <= 2, `${made} pieces were made for one that was read`);
    await reader.return?.();
    deepStrictEqual(await reader.next(), { done: true, value: undefined });
  });

  it('of very large bodies are 32 at a time at most, eight of one network', async () => {
    const bodies = new CompressedBodies();
    const body = inPieces([randomBytes(64 * 1024), randomBytes(64 * 1024)], veryLarge);
    const begin = async (address: string): Promise<AsyncIterator<Buffer> | undefined> => {
      const compressed = await bodies.get('a', 'gzip', body, address);
      if (compressed === undefined) return undefined;
      ok(!Buffer.isBuffer(compressed));
      const reader = compressed.read()[Symbol.asyncIterator]();
      await reader.next();
      return reader;
    };
    const readers = [];
    for (const [network, groups] of [9, 8, 8, 8].entries())
      for (let group = 0; group < groups; group++)
        readers.push(await begin(`2001:db8:${network}:${group}::1`));
    deepStrictEqual(
      readers.flatMap((reader, i) => (reader === undefined ? i : [])),
      [8],
    );
    strictEqual(await begin('192.0.2.1'), undefined);
    await readers[0]?.return?.();
    ok(await begin('192.0.2.1'));
  });
});
