import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { PassThrough } from 'node:stream';
import type { Context } from 'koa';
import { readCases } from '../support/fixture-lines.ts';
import { eventually } from '../support/eventually.ts';
import { serveHandler, type TestServer } from '../support/handler.ts';

describe('requests on one connection that do not wait for responses', () => {
  let server: TestServer;
  let connection: Socket;
  let said: string;
  let ended: boolean;
  /** The requests that are being handled or were, each with the path as its body until it is told otherwise. */
  let handled: { readonly ctx: Context; readonly done: () => void }[];

  before(async () => {
    server = await serveHandler(async (ctx) => {
      ctx.body = ctx.path;
      await new Promise<void>((resolve) => handled.push({ ctx, done: resolve }));
    });
  });
  beforeEach(async () => {
    [handled, said, ended] = [[], '', false];
    connection = connect(server.port, '127.0.0.1').setEncoding('latin1');
    connection.on('data', (chunk) => (said += String(chunk)));
    connection.on('error', () => {}).on('close', () => (ended = true));
    await once(connection, 'connect');
  });
  afterEach(() => connection.destroy());

  const get = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const statuses = (): string[] => said.match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];

  it('are handled one by one and in order, each once the response to the one before is sent', async () => {
    const paths = Array.from({ length: 32 }, (_, i) => `/${i}`);
    connection.write(paths.map(get).join(''));
    for (const [i, path] of paths.entries()) {
      await eventually(() => handled.length > i);
      strictEqual(handled.length, i + 1, 'no other is handled yet');
      strictEqual(handled[i]?.ctx.path, path);
      handled[i]?.done();
    }
    await eventually(() => statuses().length === 32);
    deepStrictEqual(said.match(/(?<=\r\n\r\n)\/\d+/g), paths);
    connection.write(get('/again'));
    await eventually(() => handled.length === 33);
  });

  it('are refused where more than 32 come at once: the one under way is responded to, and no other', async () => {
    connection.write(get('/x').repeat(1000));
    await eventually(() => handled.length === 1);
    handled[0]?.done();
    await eventually(() => ended);
    deepStrictEqual(statuses(), ['200', '429']);
    match(said, /Connection: close\r\n[^]*"status":429,"detail":"more than 32 requests at once/);
    strictEqual(handled.length, 1);
  });

  it('end the connection where more than 32 come and the response under way is not read @slow', async () => {
    connection.write(get('/x').repeat(1000));
    await eventually(() => ended);
    deepStrictEqual(statuses(), []);
  });

  it('get no 400 into the middle of a response for nonsense that follows', async () => {
    connection.write(get('/x'));
    await eventually(() => handled.length === 1);
    const body = new PassThrough();
    if (handled[0]) handled[0].ctx.body = body;
    handled[0]?.done();
    body.write('the first half');
    await eventually(() => said.includes('the first half'));
    connection.write('NONSENSE\r\n\r\n');
    await eventually(() => ended);
    deepStrictEqual(statuses(), ['200']);
    doesNotMatch(said, /problem/);
  });

  it('get the response in progress and then an end, but no 400, for nonsense that follows', async () => {
    connection.write(`${get('/x')}${get('/y')}NONSENSE\r\n\r\n`);
    await eventually(() => handled.length === 1);
    connection.write('MORE NONSENSE\r\n\r\n');
    handled[0]?.done();
    await eventually(() => ended);
    deepStrictEqual(statuses(), ['200']);
    match(said, /Connection: close\r\n[^]*\/x$/);
    strictEqual(handled.length, 1);
  });

  for (const { title, input, expected } of readCases('requests-in-a-row'))
    it(`get ${title}`, async () => {
      const requests = JSON.parse(input) as string[];
      for (const [i, request] of requests.entries()) {
        connection.write(request);
        await eventually(() => ended || handled.length > 0 || said !== '');
        handled[0]?.done();
        await eventually(() => ended || statuses().length > i);
      }
      await eventually(() => ended);
      strictEqual(statuses().join(' '), expected[0]);
      match(said, new RegExp(expected[1] ?? ''));
    });

  it('may follow for longer than proxies keep a connection', async () => {
    connection.write(get('/x'));
    await eventually(() => handled.length === 1);
    handled[0]?.done();
    await eventually(() => statuses().length === 1);
    match(said, /^Keep-Alive: timeout=75\r$/m);
  });
});
