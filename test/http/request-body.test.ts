import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { toProblem } from '../../src/http/problem.ts';
import { maxBodyBytesInTotal, readBytes, readText } from '../../src/http/request.ts';
import { eventually } from '../support/eventually.ts';
import { serveHandler, type TestServer } from '../support/handler.ts';

describe('the body of a request', () => {
  let server: TestServer;
  /** The bodies that were read, and the messages of refused ones. */
  let read: string[];

  before(async () => {
    server = await serveHandler(async (ctx) => {
      const body = await readBytes(ctx, 10, 'send less').catch((error: unknown) => toProblem(error));
      read.push(Buffer.isBuffer(body) ? body.toString() : `${body.status} ${body.message}`);
      ctx.body = 'done';
    });
  });
  beforeEach(() => (read = []));

  const post = async (...parts: string[]): Promise<void> => {
    const socket = connect(server.port, '127.0.0.1');
    await once(socket, 'connect');
    for (const part of parts) {
      socket.write(part);
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    socket.destroy();
    await eventually(() => read.length > 0);
  };
  const head = 'POST / HTTP/1.1\r\nHost: x\r\n';
  const tooLarge = '413 the body is larger than 10 bytes: send less';

  it('is read whole, in as many parts as it comes', async () => {
    await post(`${head}Content-Length: 10\r\n\r\n01234`, '567', '89');
    deepStrictEqual(read, ['0123456789']);
    read = [];
    await post(`${head}Content-Length: 0\r\n\r\n`);
    strictEqual(read[0], '');
  });

  it('is refused when its length is over the limit, before any of it comes', async () => {
    await post(`${head}Content-Length: 11\r\n\r\n`);
    deepStrictEqual(read, [tooLarge]);
  });

  it('is refused when it grows over the limit', async () => {
    await post(`${head}Transfer-Encoding: chunked\r\n\r\n8\r\n01234567\r\n`, '8\r\n01234567\r\n');
    deepStrictEqual(read, [tooLarge]);
  });

  it('is refused when the client leaves before its end', async () => {
    await post(`${head}Content-Length: 10\r\n\r\n01234`);
    deepStrictEqual(read, ['400 the body ended too early: send it again']);
  });
});

describe('long bodies', () => {
  it('that arrive at the same time are used in different rounds of the event loop', async () => {
    let [round, isOver] = [0, false];
    const count = (): void => void (isOver || (round++, setImmediate(count)));
    count();
    const rounds: number[] = [];
    const rules = { type: ['text/plain', 'a text'], limit: 100_000, whenTooLarge: 'send less' } as const;
    const { port } = await serveHandler(async (ctx) => {
      ctx.body = String((await readText(ctx, rules)).length);
      rounds.push(round);
    });
    const head = 'POST / HTTP/1.1\r\nHost: x\r\nContent-Type: text/plain\r\nContent-Length: 20000\r\n\r\n';
    const sockets = Array.from({ length: 20 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.write(`${head}${'x'.repeat(19_999)}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
    for (const socket of sockets) socket.end('x');
    await eventually(() => strictEqual(rounds.length, 20));
    isOver = true;
    strictEqual(new Set(rounds).size, 20);
  });
});

describe('all bodies that are being read', () => {
  let server: TestServer;
  const sockets: Socket[] = [];
  before(async () => {
    server = await serveHandler(async (ctx) => {
      ctx.body = `${(await readBytes(ctx, megabyte, 'send less')).length} bytes`;
    });
  });
  afterEach(() => {
    for (const socket of sockets.splice(0)) socket.destroy();
  });

  /** Sends the beginning of a body; returns the connection and what it has received. */
  const begin = (headers: string, body: string): { socket: Socket; received: () => string } => {
    const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
    let text = '';
    socket.on('data', (part: string) => (text += part)).on('error', () => {});
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${headers}\r\n\r\n${body}`);
    sockets.push(socket);
    return { socket, received: () => text };
  };
  const megabyte = 1024 * 1024;
  const allButOne = 'x'.repeat(megabyte - 1);

  it('are bounded together: the one that began first is refused, and the others arrive @long', async () => {
    const held: ReturnType<typeof begin>[] = [];
    for (let i = 0; i < maxBodyBytesInTotal / megabyte + 2; i++)
      held.push(begin(`Content-Length: ${megabyte}`, allButOne));
    await eventually(() => held.some(({ received }) => received() !== ''));
    const refused = held.find(({ received }) => received() !== '');
    match(refused?.received() ?? '', /^HTTP\/1\.1 503 [^]*retry-after: 2\r\n[^]*problem:busy/i);
    const quick = begin('Content-Length: 3', 'abc');
    await eventually(() => match(quick.received(), /^HTTP\/1\.1 200 [^]*3 bytes$/));
    for (const { socket } of held) socket.write('x');
    await eventually(() => strictEqual(held.filter(({ received }) => received() === '').length, 0));
    const last = held.at(-1)?.received() ?? '';
    match(last, /^HTTP\/1\.1 200 [^]*1048576 bytes$/);
  });

  it('count what their pieces take in memory', async () => {
    const bytes = begin('Transfer-Encoding: chunked', '1\r\nx\r\n'.repeat(200_000));
    await eventually(() => match(bytes.received(), /^HTTP\/1\.1 503 /));
  });

  it('leave no part of the bound taken @slow', async () => {
    for (let i = 0; i < maxBodyBytesInTotal / megabyte + 2; i++) {
      const left = begin(`Content-Length: ${megabyte}`, allButOne);
      left.socket.end();
      await once(left.socket, 'close');
    }
    const whole = begin(`Content-Length: ${megabyte}`, `${allButOne}x`);
    await eventually(() => match(whole.received(), /1048576 bytes$/));
  });
});
