import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { autocannonLoad } from '../../bench/autocannon.ts';
import { sendLoad } from '../../bench/load.ts';
import type { LoadRequest } from '../../bench/request.ts';
import { listenOnLoopback } from '../support/loopback.ts';

/** A server that responds with `status` and keeps what it was sent. */
async function startServer(status: number): Promise<{ address: string; posts: [IncomingMessage, string][] }> {
  const posts: [IncomingMessage, string][] = [];
  const server = createServer((request, response) => {
    void keep(request, posts).then(() => response.writeHead(status).end());
  });
  return { address: `http://127.0.0.1:${(await listenOnLoopback(server)).port}`, posts };
}

async function keep(request: IncomingMessage, posts: [IncomingMessage, string][]): Promise<void> {
  posts.push([request, await text(request)]);
}

const requests: LoadRequest[] = ['/a', '/b'].map((path) => {
  return { method: 'POST', path, headers: { Authorization: 'x "y"' }, body: '{"count":{n}}' };
});

describe('a load', () => {
  for (const [program, send] of [
    ['the program that is there', sendLoad],
    ['autocannon', autocannonLoad],
  ] as const) {
    it(`has another number in each request, and the headers and paths it was given, from ${program}`, async () => {
      const { address, posts } = await startServer(200);
      await send({ address, connections: 4, seconds: 1, requests });
      ok(posts.length > 10);
      const bodies = posts.map(([, body]) => body);
      for (const body of bodies) ok(/^\{"count":[1-9][0-9]{9}\}$/.test(body), body);
      strictEqual(new Set(bodies).size, bodies.length);
      deepStrictEqual(new Set(posts.map(([{ url }]) => url)), new Set(['/a', '/b']));
      deepStrictEqual([...new Set(posts.map(([{ headers }]) => headers.authorization))], ['x "y"']);
    });
  }

  it('keeps to its rate', async () => {
    const { address } = await startServer(200);
    const { rate } = await sendLoad({ address, connections: 8, seconds: 1, requests, rate: 100 });
    ok(rate <= 150, `${rate} a second`);
  });

  it('is no result when responses are errors', async () => {
    const { address } = await startServer(500);
    await rejects(sendLoad({ address, connections: 1, seconds: 1, requests }), /POST \/a responds 500/);
  });
});
