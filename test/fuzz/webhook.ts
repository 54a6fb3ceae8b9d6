import { ok, strictEqual } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Agent } from 'node:http';
import { Router } from '@koa/router';
import { addHookRoute } from '../../src/http/api/hook-route.ts';
import { RateLimit } from '../../src/http/limits.ts';
import { serveHandler } from '../support/handler.ts';
import { sendRaw } from '../support/raw-request.ts';
import type { Target } from './fuzzer.ts';
import { jsonWords, split } from './words.ts';

const key = Buffer.alloc(32, 'key');
const secret = `whsec_${key.toString('base64')}`;

/**
 * Calls of the webhook: headers in lines, an empty line, the body. `HEX`, `B64` and `SECRET` are what a Git server
 * would send, and `NOW` is the time. A call is taken only with one of these, and of those of the body only once.
 */
export async function openWebhook(): Promise<Target> {
  const router = new Router();
  let isTaken = false;
  addHookRoute(router, {
    secret,
    repository: 'people/list',
    pushed: () => (isTaken = true),
    refused: new RateLimit('refused-tokens', 0),
  });
  const routes = router.routes();
  const { port } = await serveHandler(async (ctx, next) => await routes(ctx as never, next));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const names = split(
    'x-hub-signature-256 x-gitea-signature x-forgejo-signature webhook-signature webhook-id webhook-timestamp x-gitlab-token',
  );
  let calls = 0;
  return {
    words: [
      ...jsonWords,
      ...names.map((name) => `${name}: `),
      ...split(
        'HEX B64 SECRET NOW sha256= v1, \n\n "repository": "project": "full_name": "path_with_namespace": "people/list"',
      ),
    ],
    maxLength: 2000,
    test: async (input) => {
      const end = input.indexOf('\n\n');
      const head = input.toString('latin1', 0, end === -1 ? input.length : end);
      // So that no call is a repetition.
      const body = Buffer.concat([
        end === -1 ? Buffer.alloc(0) : input.subarray(end + 2),
        Buffer.from(' '.repeat(++calls % 512)),
      ]);
      const hex = createHmac('sha256', secret).update(body).digest('hex');
      const now = String(Math.floor(Date.now() / 1000));
      const sent = new Map<string, string>();
      for (const line of head.split('\n')) {
        const [, name = '', value = ''] = /^([\w-]+): ?([\t\u0020-\u007e\u0080-\u00ff]*)$/.exec(line) ?? [];
        if (names.includes(name)) sent.set(name, value);
      }
      const signed = `${sent.get('webhook-id')?.trim() ?? ''}.${now}.`;
      const standard = createHmac('sha256', key).update(signed).update(body).digest('base64');
      const values = new Map([
        ['HEX', hex],
        ['B64', standard],
        ['SECRET', secret],
        ['NOW', now],
      ]);
      const headers = Object.fromEntries(
        [...sent].map(([name, value]) => [
          name,
          value.replaceAll(/HEX|B64|SECRET|NOW/g, (word) => values.get(word) ?? ''),
        ]),
      );
      const call = async (): Promise<number> => {
        isTaken = false;
        const address = `http://127.0.0.1:${port}`;
        return (await sendRaw(address, '/hooks/push', { method: 'POST', agent, headers }, body)).status;
      };
      const status = await call();
      strictEqual(status === 202, isTaken);
      ok([202, 401, 403].includes(status), `status ${status}`);
      const proof = [hex, standard, secret].find((one) =>
        Object.values(headers).some((value) => value.toLowerCase().includes(one.toLowerCase())),
      );
      if (status !== 401) ok(proof !== undefined, 'it is not signed');
      if (status === 401 || headers['x-gitlab-token'] !== undefined) return;
      strictEqual(await call(), status);
      ok(!isTaken, 'a repetition does nothing');
    },
  };
}
