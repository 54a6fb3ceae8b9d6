import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { createToken } from '../../../src/bot/token.ts';
import { botshelf } from '../../support/command-line.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { type Answer, originRemote, startTestService } from '../../support/service.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { updateRequest } from '../../support/token.ts';

describe('a post without a valid token, where nobody can log in', () => {
  it('is told how tokens are issued here and whom to ask, not to press a button that is not there @slow', async () => {
    const { folder } = testRepository({ [pagePath('7')]: mainPage() });
    const env = { BOTSHELF_CONTACT: 'ops@example.org' };
    const { address, request, post } = await startTestService({}, { root: folder, env });
    for (const authorization of ['', 'bsh_x', createToken()]) {
      const { status, json } = await post('7', authorization, {});
      strictEqual(status, 401);
      match(json.detail, /the operator \(ops@example\.org\) issues one with "botshelf token 7"/);
      ok(!json.detail.includes('button'));
    }
    const headers = { authorization: 'Bearer' };
    const { json } = await request('/api/v2/bots/7', { method: 'POST', headers });
    strictEqual(json.type, 'urn:botshelf:problem:no-token');
    for (const path of ['/', '/bots/7', '/bots/7/token']) {
      const page = await (await fetch(address + path)).text();
      if (path.endsWith('/token')) match(page, /botshelf token 7/);
      match(page, /Operator: <a href="mailto:ops@example\.org">ops@example\.org<\/a>/, path);
    }
    const tokenPage = await fetch(`${address}/bots/7/token`);
    strictEqual(tokenPage.status, 200);
    match(await tokenPage.text(), /api\/v2\/bots\/7[^]*BOTSHELF_TOKEN/);
    const press = { method: 'POST', headers: { 'sec-fetch-site': 'same-origin' } };
    strictEqual((await fetch(`${address}/bots/7/token`, press)).status, 403);
    strictEqual((await fetch(`${address}/login`)).status, 404);
  });
});

describe('a post with a token that is unknown while the shared Git server is away', () => {
  it('is 503 and counts against the address, and one that was issued meanwhile works later @slow', async () => {
    const shared = sharedRepository({ [pagePath('7')]: mainPage() });
    const { folder, git } = shared.clone();
    const address = git('remote', 'get-url', 'origin');
    const env = { ...originRemote, BOTSHELF_SYNC_SECONDS: '3600', BOTSHELF_BAD_TOKEN_LIMIT: '3' };
    const service = await startTestService({}, { root: folder, env });
    service.expectLog(/requests are refused: this token is unknown here/);
    const post = async (path: string, token: string = createToken()): Promise<Answer> =>
      await service.request(path, updateRequest(token, { count: 5 }));
    const [known, foreign] = ['/api/v2/bots/7', '/api/v2/bots/stats'] as const;
    git('remote', 'set-url', 'origin', `${address}.gone`);
    const responses = await Promise.all([post(known), post(foreign), post(known), post(foreign)]);
    const [limited, ...refused] = responses.toSorted((a, b) => a.status - b.status);
    strictEqual(limited?.status, 429);
    for (const { status, headers, json } of refused) {
      deepStrictEqual([status, headers.get('retry-after')], [503, '10']);
      match(json.detail, /unknown here, and the tokens of other machines cannot be fetched/);
    }
    git('remote', 'set-url', 'origin', address);
    const other = shared.clone().folder;
    const { stdout } = await botshelf(other, ['token', '7'], { env: { BOTSHELF_REMOTE: 'origin' } });
    strictEqual((await post(known, stdout.trim())).status, 200);
  });
});
