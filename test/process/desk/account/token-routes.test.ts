import { doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { eventually } from '../../../support/eventually.ts';
import { author, homer, openLoginSite, tokenPath } from '../../../support/login-site.ts';
import { originRemote } from '../../../support/service.ts';
import { sharedRepository } from '../../../support/shared-repository.ts';
import { updateRequest } from '../../../support/update-request.ts';
import type { Page } from '../../../support/visitor.ts';

describe('a token', () => {
  it('is shown as it is issued while the shared Git server is away, and says that others follow later @long', async () => {
    const lonely = await openLoginSite({
      env: { ...originRemote, BOTSHELF_SYNC_SECONDS: '3600' },
    });
    lonely.service.expectLog(/not in step with the remote: .*does not appear to be a git repository/);
    lonely.service.expectLog(/listening at .*, but not ready/);
    lonely.service.expectLog(/refused: the tokens of the bots have not been fetched/);
    lonely.service.expectLog(/a token was changed on this machine, and the remote does not have it yet/);
    // Where the stop comes before the next round.
    lonely.service.allowLog(/could not push the last commits/);
    const { visitor, page } = await lonely.loggedIn(author);
    const early = await visitor.press(page, tokenPath);
    strictEqual(early.status, 503, 'the generations of the tokens are not known yet');
    const { folder } = sharedRepository({ file: 'text' });
    lonely.repo.git('push', '-q', '--force', folder, 'main');
    lonely.repo.git('remote', 'add', 'origin', folder);
    await eventually(async () => strictEqual((await lonely.service.request('/readyz')).status, 200));
    doesNotMatch((await visitor.press(page, tokenPath)).text, /cannot be reached/);
    lonely.repo.git('remote', 'set-url', 'origin', `${folder}.gone`);
    const issued = await visitor.press(page, tokenPath);
    strictEqual(issued.status, 200);
    match(issued.text, /The shared Git server cannot be reached/);
    const update = updateRequest(tokenIn(issued) ?? '', { count: 156 });
    strictEqual((await lonely.service.request(`/api/v2/bots/${homer}`, update)).status, 200);
    match(
      (await visitor.press(page, `${tokenPath}/revoke`)).text,
      /The token is revoked[^]*cannot be reached/,
    );
  });
});

/** The token that a page shows. */
function tokenIn({ text }: Page): string | undefined {
  return /value="(bsh_\w+)"/.exec(text)?.[1];
}
