import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { brotliDecompressSync, gunzipSync } from 'node:zlib';
import { listEtags, type Representation, send } from '../../src/http/representation.ts';
import { eventually } from '../support/eventually.ts';
import { serveHandler, type TestServer } from '../support/handler.ts';

describe('a representation', () => {
  const text = 'text '.repeat(1000);
  const read = async function* (): AsyncGenerator<Buffer> {
    for (let i = 0; i < 1000; i++) yield await Promise.resolve(Buffer.from('text '));
  };
  let representation: Representation;
  let server: TestServer;
  beforeEach(async () => {
    representation = { type: 'application/json', digest: 'd1', body: Buffer.from(text), current: () => true };
    server = await serveHandler(async (ctx) => await send(ctx, representation));
  });

  it('is sent in the coding that the client prefers, each with an ETag of its own', async () => {
    const decode = { identity: (body: Buffer) => body, gzip: gunzipSync, br: brotliDecompressSync };
    const seen: string[] = [];
    for (const coding of ['identity', 'gzip', 'br'] as const) {
      const { headers, body } = await server.get({ 'Accept-Encoding': coding });
      strictEqual(headers['content-encoding'] ?? 'identity', coding);
      strictEqual(headers.vary, 'Accept-Encoding');
      strictEqual(decode[coding](body).toString(), text);
      seen.push(headers.etag ?? '');
    }
    deepStrictEqual(seen, listEtags('d1'));
  });

  it('is sent as it is when it is too small to compress', async () => {
    representation = { ...representation, body: Buffer.from('{}') };
    const { headers, body } = await server.get({ 'Accept-Encoding': 'br' });
    strictEqual(headers['content-encoding'], undefined);
    strictEqual(body.toString(), '{}');
  });

  it('is sent whole when it comes in pieces, also compressed', async () => {
    representation = { ...representation, digest: 'd2', body: { bytes: 5000, read } };
    for (let round = 0; round < 2; round++) {
      const plain = await server.get({ 'Accept-Encoding': 'identity' });
      strictEqual(plain.body.toString(), text);
      const compressed = await server.get({ 'Accept-Encoding': 'gzip' });
      strictEqual(gunzipSync(compressed.body).toString(), text);
    }
  });

  it('is sent as it is while too many others are being compressed, and compressed again later', async () => {
    let end = (): void => {};
    const ended = new Promise<void>((resolve) => (end = resolve));
    const slow = async function* (): AsyncGenerator<Buffer> {
      await ended;
      yield Buffer.from(text);
    };
    let sent = 0;
    const crowded = await serveHandler(async (ctx) => {
      const body = { bytes: 5000, read: ctx.path === '/' ? read : slow };
      const sending = send(ctx, { ...representation, digest: `crowd ${ctx.path}`, body });
      sent++;
      await sending;
    });
    const headers = { 'Accept-Encoding': 'br' };
    const waiting = Array.from({ length: 17 }, async (_, i) => await crowded.send('GET', `/${i}`, headers));
    await eventually(() => sent === 17);
    const plain = await crowded.get(headers);
    const { etag, vary, 'content-encoding': coding } = plain.headers;
    deepStrictEqual([plain.status, etag, vary, coding], [200, '"crowd /"', 'Accept-Encoding', undefined]);
    strictEqual(plain.body.toString(), text);
    strictEqual((await crowded.get({ ...headers, 'If-None-Match': '"crowd /"' })).status, 304);
    end();
    for (const { body } of await Promise.all(waiting))
      strictEqual(brotliDecompressSync(body).toString(), text);
    const later = await crowded.get(headers);
    deepStrictEqual([later.headers['content-encoding'], later.headers.etag], ['br', '"crowd /-br"']);
  });

  it('is compressed while it is sent when it is very large', async () => {
    representation = { ...representation, digest: 'd3', body: { bytes: 2 ** 30, read } };
    const { headers, body } = await server.get({ 'Accept-Encoding': 'gzip, br' });
    deepStrictEqual([headers['content-encoding'], headers.etag], ['gzip', '"d3-gzip"']);
    strictEqual(gunzipSync(body).toString(), text);
    const { status } = await server.get({ 'Accept-Encoding': 'gzip', 'If-None-Match': '"d3-gzip"' });
    strictEqual(status, 304);
  });
});
