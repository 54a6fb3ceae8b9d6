import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { connect } from 'node:net';
import Koa from 'koa';
import { problemOf } from '../../src/http/problem-response.ts';
import { readBytes } from '../../src/http/request-body.ts';
import { type ListeningServer, listen } from '../../src/http/server.ts';
import { silentLog } from '../../src/log.ts';
import { eventually } from '../support/eventually.ts';

describe('the body of a request', () => {
  let server: ListeningServer;
  /** What was read, and the messages of what was refused. */
  let read: string[];

  before(async () => {
    const app = new Koa();
    app.use(async (ctx) => {
      const body = await readBytes(ctx, 10, 'send less').catch((error: unknown) => problemOf(error));
      read.push(Buffer.isBuffer(body) ? body.toString() : `${body.status} ${body.message}`);
      ctx.body = 'done';
    });
    server = await listen(app, { host: '127.0.0.1', port: 0, maxConnections: 100, log: silentLog });
  });
  beforeEach(() => (read = []));
  after(async () => await server.close());

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
