import { match, ok, strictEqual } from 'node:assert/strict';
import { createToken } from '../../../src/bot/token.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService } from '../../support/service.ts';
import { updateRequest } from '../../support/update-request.ts';

describe('a post without a valid token, where nobody can log in', () => {
  it('is told how tokens are issued here and whom to ask, not to press a button that is not there @slow', async () => {
    const { folder } = testRepository({ [pagePath('7')]: mainPage() });
    const env = { BOTSHELF_CONTACT: 'ops@example.org' };
    const { address, request } = await startTestService({}, { root: folder, env });
    for (const authorization of ['', 'bsh_x', createToken()]) {
      const { status, json } = await request('/api/v2/bots/7', updateRequest(authorization, {}));
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
