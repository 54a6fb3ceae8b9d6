import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readRequestId } from '../../src/http/problem.ts';
import { logAccess } from '../../src/http/server.ts';
import { silentLog } from '../../src/lib/log.ts';
import { eventually } from '../support/eventually.ts';

interface Entry {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly ms: number;
  readonly bytes: number;
  readonly id: string;
  readonly aborted?: true;
}

describe('the access log', () => {
  const entries: Entry[] = [];
  const log = { ...silentLog, info: (fields: object) => void entries.push(fields as Entry) };
  const ids: string[] = [];
  let server: Server;
  let address: string;

  before(async () => {
    server = createServer(
      logAccess((incoming, response) => {
        ids.push(readRequestId(incoming));
        if (incoming.url === '/hangs') return;
        response.statusCode = 404;
        response.end('x'.repeat(1000));
      }, log),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    address = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });

  after(() => server.close());

  it('has what was requested and sent, without queries and headers', async () => {
    const path = `/api/${'long/'.repeat(200)}`;
    for (const query of ['?code=secret', '']) {
      const response = await fetch(`${address}${path}${query}`, { headers: { authorization: 'bsh_secret' } });
      await response.text();
    }
    await eventually(() => strictEqual(entries.length, 2));
    const [first, second] = entries;
    deepStrictEqual([first?.method, first?.status, first?.path.length], ['GET', 404, 501]);
    ok((first?.bytes ?? 0) > 1000 && (first?.bytes ?? 0) < 1500);
    strictEqual(first?.bytes, second?.bytes);
    ok(!JSON.stringify(entries).includes('secret'));
    // Other lines of the log name a request by this ID.
    deepStrictEqual(
      entries.map(({ id }) => id),
      ids,
    );
    match(ids[0] ?? '', /^[\da-f-]{36}$/);
  });

  it('says that a client left before the response', async () => {
    const sent = request(`${address}/hangs`).on('error', () => {});
    sent.end();
    await eventually(() => strictEqual(ids.length, 3));
    sent.destroy();
    await eventually(() => strictEqual(entries.at(-1)?.aborted, true));
  });
});
