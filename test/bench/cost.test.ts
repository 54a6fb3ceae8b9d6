import { ok, strictEqual } from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { createServer } from 'node:http';
import { measureLoad } from '../../bench/cost.ts';
import { listenOnLoopback } from '../support/loopback.ts';

describe('what a load costs a server', () => {
  it('is the CPU of its processes and their children, also ended ones, and its flushes, by response', async () => {
    const { port } = await listenOnLoopback(createServer((_, response) => response.end()));
    const busy = 'i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done';
    const worker = spawn('sh', ['-c', `sleep 0.3; (${busy}); exec sleep 10`], { stdio: 'ignore' });
    try {
      let flushes = 0;
      const result = await measureLoad(
        {
          address: `http://127.0.0.1:${port}`,
          pids: [worker.pid ?? 0],
          flushes: async () => (flushes += 7),
        },
        {
          connections: 1,
          seconds: 2,
          rate: 50,
          requests: [{ method: 'GET', path: '/', headers: {} }],
        },
      );
      ok(result.cpu * result.responses >= 50_000, `${result.cpu} µs for each of ${result.responses}`);
      strictEqual(Math.round(result.flushes * result.responses), 7);
    } finally {
      worker.kill();
    }
  });
});
