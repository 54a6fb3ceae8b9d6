import { ok, strictEqual } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { Agent, type IncomingMessage, request } from 'node:http';
import { Router } from '@koa/router';
import { addHookRoute } from '../../src/http/api/hook-route.ts';
import { RateLimit } from '../../src/http/rate-limits.ts';
import { readHostEvent } from '../../src/proposals/host-event.ts';
import { serveHandler } from '../support/handler.ts';
import type { Target } from './fuzzer.ts';
import { jsonWords } from './words.ts';

const key = Buffer.alloc(32, 'key');
const secret = `whsec_${key.toString('base64')}`;

/**
 * Calls of the webhook: headers in lines, an empty line, the body. `HEX`, `B64` and `SECRET` are what a Git server
 * would send, and `NOW` is the time. A call is taken only with one of these, and of those of the body only once.
 */
export async function openWebhook(): Promise<Target> {
  const router = new Router();
  let taken: Buffer | undefined;
  addHookRoute(router, {
    secret,
    pushed: (body) => (taken = body),
    refused: new RateLimit('refused-tokens', 0),
  });
  const routes = router.routes();
  const { port } = await serveHandler(async (ctx, next) => await routes(ctx as never, next));
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const names = [
    'X-Hub-Signature-256',
    'X-Gitea-Signature',
    'X-Forgejo-Signature',
    'webhook-signature',
    'webhook-id',
    'webhook-timestamp',
    'X-Gitlab-Token',
  ];
  let calls = 0;
  return {
    words: [
      ...jsonWords,
      ...names.map((name) => `${name}: `),
      'HEX',
      'B64',
      'SECRET',
      'NOW',
      'sha256=',
      'v1,',
      '\n\n',
      '"action":"closed"',
      '"pull_request":{"number":1}',
      '"object_attributes":',
      '"issue":',
      '"sender":{"id":7}',
    ],
    seeds: [
      'X-Hub-Signature-256: sha256=HEX\n\n{"action":"closed","pull_request":{"number":3,"merged":true,"merge_commit_sha":"a"},"sender":{"id":7}}',
      'X-Gitea-Signature: HEX\n\n{"issue":{"number":1},"comment":{"body":"a"}}',
      'webhook-id: 1\nwebhook-timestamp: NOW\nwebhook-signature: v1,AAAA v1,B64\n\n{"object_kind":"merge_request","object_attributes":{"iid":3,"action":"merge"},"user":{"id":7}}',
      'X-Gitlab-Token: SECRET\n\n{}',
      'X-Gitlab-Token: a\n\nnull',
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
        if (names.some((known) => known.toLowerCase() === name.toLowerCase()))
          sent.set(name.toLowerCase(), value);
      }
      const signed = `${sent.get('webhook-id')?.trim() ?? ''}.${now}.`;
      const standard = createHmac('sha256', key).update(signed).update(body).digest('base64');
      const headers = Object.fromEntries(
        [...sent].map(([name, value]) => [
          name,
          value
            .replaceAll('HEX', hex)
            .replaceAll('B64', standard)
            .replaceAll('SECRET', secret)
            .replaceAll('NOW', now),
        ]),
      );
      taken = undefined;
      const call = request({ port, method: 'POST', path: '/hooks/push', agent, headers }).end(body);
      const [response] = (await once(call, 'response')) as [IncomingMessage];
      await response.toArray();
      const { statusCode = 0 } = response;
      ok([202, 401].includes(statusCode), `status ${statusCode}`);
      strictEqual(statusCode === 202, taken !== undefined);
      if (statusCode === 202)
        ok(
          Object.values(headers).some(
            (value) =>
              value.toLowerCase().includes(hex) || value.includes(standard) || value.trim() === secret,
          ),
          'it is not signed',
        );
      const { number, by, text, outcome } = readHostEvent(body);
      strictEqual(typeof text, 'string');
      ok(outcome === null || ['accepted', 'declined'].includes(outcome.state));
      ok([number, by].every((value) => typeof value !== 'function'));
    },
  };
}
