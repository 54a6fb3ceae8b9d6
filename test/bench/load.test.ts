import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import { text } from 'node:stream/consumers';
import { cpuOf, type LoadedServer, type LoadRequest, sendLoad } from '../../bench/load.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { needs } from '../support/tools.ts';

/** A server in this process that responds with `status` and keeps what it was sent. */
async function startServer(status: number): Promise<LoadedServer & { posts: [IncomingMessage, string][] }> {
  const posts: [IncomingMessage, string][] = [];
  const server = createServer((request, response) => {
    void keep(request, posts).then(() => response.writeHead(status).end());
  });
  const { port } = await listenOnLoopback(server);
  return { address: `http://127.0.0.1:${port}`, pid: process.pid, posts };
}

async function keep(request: IncomingMessage, posts: [IncomingMessage, string][]): Promise<void> {
  posts.push([request, await text(request)]);
}

const requests: LoadRequest[] = ['/a', '/b'].map((path) => {
  return { method: 'POST', path, headers: { Authorization: 'x "y"' }, body: '{"count":{n}}' };
});

needs('wrk', describe)('a load', () => {
  it('has another number in each request, and the headers and paths it was given @slow', async () => {
    const { posts, ...server } = await startServer(200);
    await sendLoad(server, { connections: 4, seconds: 1, requests });
    ok(posts.length > 10);
    const bodies = posts.map(([, body]) => body);
    for (const body of bodies) ok(/^\{"count":[1-9][0-9]{9}\}$/.test(body), body);
    strictEqual(new Set(bodies).size, bodies.length);
    deepStrictEqual(new Set(posts.map(([{ url }]) => url)), new Set(['/a', '/b']));
    deepStrictEqual([...new Set(posts.map(([{ headers }]) => headers.authorization))], ['x "y"']);
  });

  it('keeps to its rate @slow', async () => {
    const server = await startServer(200);
    const { rate } = await sendLoad(server, { connections: 8, seconds: 1, requests, rate: 100 });
    ok(rate <= 150, `${rate} a second`);
  });

  it('is no result when responses are errors @slow', async () => {
    const server = await startServer(500);
    await rejects(sendLoad(server, { connections: 1, seconds: 1, requests }), /POST \/a responds 500/);
  });
});

describe('the CPU of a process', () => {
  it('is that of its children too, also ended ones', async () => {
    const busy = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done';
    const worker = spawn('sh', ['-c', `(${busy}); echo; exec sleep 10`], {
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    try {
      await once(worker.stdout, 'data');
      ok(cpuOf(worker.pid ?? 0) >= 50_000);
    } finally {
      worker.kill();
    }
  });
});
