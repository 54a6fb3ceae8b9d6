import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { Router } from '@koa/router';
import { addHookRoute } from '../../../src/http/api/hook-route.ts';
import { RateLimit } from '../../../src/http/limits.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { eventually } from '../../support/eventually.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { originRemote, startTestService } from '../../support/service.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { serveHandler, type TestServer } from '../../support/handler.ts';
import { openSocket, statusAfter } from '../../support/raw-request.ts';

const signingKey = Buffer.alloc(32, 'key');
const secret = `whsec_${signingKey.toString('base64')}`;

describe('POST /hooks/push', () => {
  let server: TestServer;
  let calls = 0;
  const serveHook = async (limit: number): Promise<TestServer> => {
    const router = new Router();
    const refused = new RateLimit('refused-tokens', limit);
    addHookRoute(router, { secret, repository: 'git/People/list', pushed: () => calls++, refused });
    const routes = router.routes();
    return await serveHandler(async (ctx, next) => await routes(ctx as never, next));
  };
  before(async () => (server = await serveHook(0)));
  beforeEach(() => {
    calls = 0;
  });

  it('takes calls that GitHub, Bitbucket, Gitea, Forgejo and Gogs have signed', async () => {
    let n = 0;
    for (const [name, prefix] of [
      ['X-Hub-Signature-256', 'sha256='],
      ['X-Hub-Signature', 'sha256='],
      ['X-Gitea-Signature', ''],
      ['X-Forgejo-Signature', ''],
      ['X-Gogs-Signature', ''],
    ] as const) {
      const body = JSON.stringify({ push: ++n });
      strictEqual(await call(body, { [name]: prefix + sign(body) }), 202, name);
      strictEqual(calls, n);
    }
  });

  it('takes calls of GitLab, which sends the secret along', async () => {
    strictEqual(await call('{}', { 'X-Gitlab-Token': secret, 'X-Gitlab-Event-UUID': '1' }), 202);
    strictEqual(await call('{}', { 'X-Gitlab-Token': secret, 'X-Gitlab-Event-UUID': '2' }), 202);
    strictEqual(await call('{}', { 'X-Gitlab-Token': `${secret}.`, 'X-Gitlab-Event-UUID': '3' }), 401);
    strictEqual(calls, 2);
  });

  it('takes calls that GitLab has signed with a signing token, once, and for five minutes', async () => {
    const now = Math.floor(Date.now() / 1000);
    const body = '{"object_kind":"push"}';
    const post = async (id: string, time: number, signed = `${id}.${time}.${body}`, n = 1): Promise<number> =>
      await call(body, {
        'webhook-id': id,
        'webhook-timestamp': String(time),
        'webhook-signature': `${'v1,AAAA '.repeat(n)}v1,${createHmac('sha256', signingKey).update(signed).digest('base64')}`,
        'X-Gitlab-Token': secret,
      });
    strictEqual(await post('1', now), 202);
    strictEqual(await post('1', now), 202, 'the same call once more, which does nothing');
    strictEqual(await post('2', now), 202, 'another call with the same body');
    strictEqual(await post('3', now, `2.${now}.${body}`), 401, 'another id than the signed one');
    strictEqual(await post('4', now, `4.${now - 1}.${body}`), 401, 'another time than the signed one');
    strictEqual(await post('5', now - 400), 401, 'a call of before');
    strictEqual(await post('6', now + 400), 401, 'a call of later');
    strictEqual(await post('7', now, undefined, 9), 202, 'the tenth of its signatures');
    strictEqual(await post('8', now, undefined, 10), 401, 'the eleventh of them');
    strictEqual(calls, 3);
  });

  it('refuses a genuine call that names another repository, and takes one that names none', async () => {
    for (const { input: body, expected } of readCases('push-repositories')) {
      const status = await call(body, { 'X-Hub-Signature-256': `sha256=${sign(body)}` });
      strictEqual(String(status), expected[0], body);
    }
    strictEqual(calls, 4);
  });

  it('does nothing for a call that was sent before, whatever headers that are not signed it has', async () => {
    const body = '{"push":"replayed"}';
    const signature = { 'X-Hub-Signature-256': `sha256=${sign(body)}` };
    strictEqual(await call(body, signature), 202);
    for (const name of ['X-Gitlab-Event-UUID', 'X-GitHub-Delivery', 'webhook-id', 'webhook-timestamp', 'X']) {
      strictEqual(await call(body, { ...signature, [name]: '1' }), 202, name);
    }
    strictEqual(await call(body, { 'X-Hub-Signature-256': `sha256=${sign(body).toUpperCase()}` }), 202);
    strictEqual(await call(body, { 'X-Gitea-Signature': sign(body) }), 202);
    strictEqual(calls, 1);
  });

  it('refuses a call that is not signed, or not with the secret, or for another body', async () => {
    for (const { title, input, expected } of readCases('hook-refusals')) {
      const now = String(Math.floor(Date.now() / 1000));
      const headers = JSON.parse(input.replace('NOW', now)) as Record<string, string>;
      const init = { method: 'POST', body: '{}', headers };
      const response = await fetch(`http://127.0.0.1:${server.port}/hooks/push`, init);
      const { detail } = (await response.json()) as { detail: string };
      deepStrictEqual([response.status, detail], [401, expected[0]], title);
    }
    strictEqual(calls, 0);
  });

  it('refuses a call without a signature before the body comes', async () => {
    for (const signature of ['', 'X-Hub-Signature-256: \r\n']) {
      const socket = await openSocket(`http://127.0.0.1:${server.port}`);
      const head = `POST /hooks/push HTTP/1.1\r\nHost: x\r\n${signature}Content-Length: 9\r\n\r\n`;
      strictEqual(await statusAfter(socket, head), 401);
      socket.destroy();
    }
  });

  it('takes a genuine call of an address that is over its limit, and refuses the others', async () => {
    const limited = await serveHook(2);
    const refused = { 'X-Hub-Signature-256': `sha256=${'0'.repeat(64)}` };
    for (const status of [401, 401, 429, 429]) strictEqual(await call('{}', refused, limited), status);
    const body = '{"push":"genuine"}';
    strictEqual(await call(body, { 'X-Hub-Signature-256': `sha256=${sign(body)}` }, limited), 202);
    strictEqual(await call('{}', refused, limited), 429);
  });

  it('reads no more of a body than a push can have', async () => {
    const body = 'x'.repeat(3_000_000);
    strictEqual(await call(body, { 'X-Hub-Signature-256': `sha256=${sign(body)}` }), 413);
    strictEqual(calls, 0);
  });

  it('a push makes the service fetch, below a path too @slow', async () => {
    const shared = sharedRepository({ [pagePath('1')]: mainPage() });
    const env = {
      ...originRemote,
      BOTSHELF_SYNC_SECONDS: '3600',
      BOTSHELF_WEBHOOK_SECRET: secret,
      BOTSHELF_BASE_URL: 'https://bots.example.org/shelf',
    };
    const clone = shared.clone();
    const service = await startTestService({}, { root: clone.folder, env });
    await eventually(() => clone.git('rev-parse', 'refs/botshelf/remote/base-main'));
    shared.mergePullRequest((person) => person.write(pagePath('2'), mainPage({ name: 'Marge' })));
    const body = '{"ref":"refs/heads/main"}';
    const init = { method: 'POST', body };
    strictEqual((await service.request('/shelf/hooks/push', init)).status, 401);
    strictEqual((await service.request('/api/v2/bots/2')).status, 404);
    const headers = { 'X-Hub-Signature-256': `sha256=${sign(body)}` };
    strictEqual((await service.request('/shelf/hooks/push', { ...init, headers })).status, 202);
    await eventually(async () => strictEqual((await service.request('/api/v2/bots/2')).status, 200));
  });

  async function call(body: string, headers: Record<string, string>, { port } = server): Promise<number> {
    const url = `http://127.0.0.1:${port}/hooks/push`;
    return (await fetch(url, { method: 'POST', body, headers })).status;
  }
});

function sign(body: string): string {
  return createHmac('sha256', secret).update(body).digest('hex');
}
