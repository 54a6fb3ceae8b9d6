import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { connect, type Socket } from 'node:net';
import Koa from 'koa';
import { listen } from '../../../src/http/server.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { mainFile } from '../../support/command-line.ts';
import { openSocket, sendRaw, statusAfter } from '../../support/raw-request.ts';
import { startTestService } from '../../support/service.ts';
import { startServiceProcess } from '../../support/service-process.ts';

const limits = { host: '127.0.0.1', port: 0, maxConnections: 10, log: silentLog };

describe('the limit on connections', () => {
  const sockets: Socket[] = [];
  after(() => {
    for (const socket of sockets) socket.destroy();
  });

  it('is below that on open files, and the log says once that it is reached and once that it no longer is @long', async () => {
    const { folder } = testRepository({ [pagePath('7')]: mainPage() });
    const limited = ['sh', '-c', `ulimit -n 256 && exec "${process.execPath}" "${mainFile}" serve`] as const;
    const { address, log, end, expectLog } = await startServiceProcess(folder, {}, limited);
    expectLog(/the limit of 192 connections is reached, new ones are refused: raise the limit on open files/);
    const open = async (): Promise<void> => void sockets.push(await openSocket(address));
    for (let i = 0; i < 250; i++) await open();
    await eventually(() => log().includes('new ones are refused'));
    strictEqual(log().match(/new ones are refused/g)?.length, 1);
    for (const socket of sockets.splice(0)) socket.destroy();
    await eventually(async () => {
      await open();
      return log().includes('connections are accepted again');
    });
    ok((await fetch(`${address}/healthz`)).ok);
    for (const socket of sockets.splice(0)) socket.destroy();
    strictEqual(await end('SIGINT'), 0);
  });
});

describe('a connection', () => {
  it('takes 10 s for headers and 30 s for a request @long', async () => {
    const { address } = await startTestService({ [pagePath('7')]: mainPage() });
    const type = 'Content-Type: application/x-www-form-urlencoded';
    const post = `POST /add HTTP/1.1\r\nHost: x\r\n${type}\r\nContent-Length: 9\r\n\r\n`;
    const requests = ['GET / HTTP/1.1\r\n', post];
    const statuses = requests.map(async (text) => await statusAfter(await openSocket(address), text));
    deepStrictEqual(await Promise.all(statuses), [408, 408]);
  }).timeout(120_000);

  it('ends after two minutes without traffic while a response is computed or sent, and after 76 s between requests @long', async () => {
    const app = new Koa();
    const timeouts: (number | undefined)[] = [];
    let connection: Socket | undefined;
    app.use((ctx) => {
      connection = ctx.socket;
      timeouts.push(connection.timeout);
      ctx.body = 'Homer';
    });
    const server = await listen(app.callback(), limits);
    for (let i = 0; i < 2; i++) await (await fetch(`http://127.0.0.1:${server.port}/`)).text();
    await eventually(() => connection?.timeout !== 120_000);
    deepStrictEqual([...timeouts, connection?.timeout], [120_000, 120_000, 76_000]);
    await server.close();
  });

  it('gets a short problem for what is no HTTP, and for headers that are too long', async () => {
    const server = await listen(new Koa().callback(), limits);
    const send = async (text: string): Promise<string> => {
      const socket = connect(server.port, '127.0.0.1').setEncoding('utf8');
      socket.end(text);
      return (await socket.toArray()).join('');
    };
    match(await send('NONSENSE\r\n\r\n'), /^HTTP\/1\.1 400 [^]*problem\+json[^]*"status":400/);
    match(await send('HEAD /\u00e3 HTTP/1.1\r\n\r\n'), /^HTTP\/1\.1 400 [^]*\r\n\r\n$/);
    match(
      await send(`GET / HTTP/1.1\r\nHost: x\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`),
      /^HTTP\/1\.1 431 [^]*"title":"The request is malformed","status":431/,
    );
    await server.close();
  });
});

describe('the address of a request', () => {
  it('may be a whole one, and is a bad request where it is not valid', async () => {
    const app = new Koa();
    app.use((ctx) => (ctx.body = ctx.path));
    const server = await listen(app.callback(), limits);
    const get = async (target: string): Promise<[number, string]> => {
      const { status, body } = await sendRaw(`http://127.0.0.1:${server.port}`, target);
      return [status, body.toString()];
    };
    deepStrictEqual(await get('http://x/bots/7?q=a'), [200, '/bots/7']);
    for (const target of ['http://', 'https://', 'a://', 'http://[', 'http://x:99999/']) {
      const [status, body] = await get(target);
      deepStrictEqual([status, JSON.parse(body).type], [400, 'urn:botshelf:problem:bad-request'], target);
    }
    await server.close();
  });
});

describe('a server that closes', () => {
  it('finishes the responses in progress, and their connections end', async () => {
    const app = new Koa();
    let closed: Promise<void> | undefined;
    app.use((ctx) => {
      closed = server.close();
      ctx.body = 'Homer';
    });
    const server = await listen(app.callback(), limits);
    const response = await fetch(`http://127.0.0.1:${server.port}/`);
    strictEqual(await response.text(), 'Homer');
    strictEqual(response.headers.get('Connection'), 'close');
    await closed;
  });
});
