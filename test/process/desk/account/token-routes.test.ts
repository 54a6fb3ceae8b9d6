import { match, strictEqual } from 'node:assert/strict';
import { eventually } from '../../../support/eventually.ts';
import { author, homer, openLoginSite, tokenPath } from '../../../support/login-site.ts';
import { originRemote } from '../../../support/service.ts';
import { sharedRepository } from '../../../support/shared-repository.ts';

describe('a token', () => {
  it('is shown as it is issued while the shared Git server is away, and says that others follow later @long', async () => {
    const { folder } = sharedRepository({ file: 'text' });
    const { service, repo, loggedIn } = await openLoginSite({
      env: { ...originRemote, BOTSHELF_SYNC_SECONDS: '3600' },
      prepare: async ({ git }) => {
        git('push', '-q', '--force', folder, 'main');
        git('remote', 'add', 'origin', folder);
      },
    });
    service.expectLog(/a token was changed on this machine, and the remote does not have it yet/);
    // Where the stop comes before the next round.
    service.allowLog(/could not push the last commits|not in step with the remote/);
    await eventually(() => repo.git('rev-parse', 'refs/botshelf/remote/base-main'));
    const { visitor, page } = await loggedIn(author);
    repo.git('remote', 'set-url', 'origin', `${folder}.gone`);
    const issued = await visitor.press(page, tokenPath);
    strictEqual(issued.status, 200);
    match(issued.text, /The shared Git server cannot be reached/);
    const token = /value="(bsh_\w+)"/.exec(issued.text)?.[1] ?? '';
    strictEqual((await service.post(homer, token, { count: 156 })).status, 200);
    const revoked = await visitor.press(page, `${tokenPath}/revoke`);
    match(revoked.text, /The token is revoked[^]*cannot be reached/);
  });
});
