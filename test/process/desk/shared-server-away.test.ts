import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { eventually } from '../../support/eventually.ts';
import { sendForm } from '../../support/form-fields.ts';
import { author, homer, type LoginSite, openLoginSite, tokenPath } from '../../support/login-site.ts';
import { receiveNotices } from '../../support/notices.ts';
import { originRemote } from '../../support/service.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { versionIn } from '../../support/visitor.ts';

const maintainer = '42';

describe('while the shared Git server is away', () => {
  let site: LoginSite;
  let receiver: Awaited<ReturnType<typeof receiveNotices>>;

  before(async () => {
    const { folder } = sharedRepository({ file: 'text' });
    receiver = await receiveNotices();
    site = await openLoginSite({
      files: { 'botshelf.json': JSON.stringify({ maintainers: [maintainer] }) },
      env: { ...originRemote, BOTSHELF_SYNC_SECONDS: '3600', BOTSHELF_NOTIFY_URL: receiver.address },
      prepare: async ({ git }) => {
        git('push', '-q', '--force', folder, 'main');
        git('remote', 'add', 'origin', folder);
      },
    });
    for (const what of ['token', 'proposal'])
      site.service.expectLog(
        new RegExp(`a ${what} was changed on this machine, and the remote does not have it`),
      );
    site.service.allowLog(/not shared with the other machines|could not push|not in step with the remote/);
    await eventually(() => site.repo.git('rev-parse', 'refs/botshelf/remote/base-main'));
    site.repo.git('remote', 'set-url', 'origin', `${folder}.gone`);
  });

  it('a token is shown as it is issued, and its page says that others follow later', async () => {
    const { visitor, page } = await site.loggedIn(author);
    const issued = await visitor.press(page, tokenPath);
    strictEqual(issued.status, 200);
    match(issued.text, /The shared Git server cannot be reached/);
    const token = /value="(bsh_\w+)"/.exec(issued.text)?.[1] ?? '';
    strictEqual((await site.service.post(homer, token, { count: 156 })).status, 200);
    const revoked = await visitor.press(page, `${tokenPath}/revoke`);
    match(revoked.text, /The token is revoked[^]*cannot be reached/);
  });

  it('a proposal is sent and accepted, the pages say that it is saved on this server, and notices are sent', async () => {
    const { visitor, page } = await site.loggedIn(author, `/bots/${homer}/edit`);
    const sent = await sendForm(visitor, page, { description: 'Knows everything.', note: 'Try /donut.' });
    match(
      sent.text,
      /It is saved on this server\. The shared Git server cannot be reached[^]*Waiting for review/,
    );
    const path = `/review/${homer}/${author}`;
    const { visitor: reviewer, page: review } = await site.loggedIn(maintainer, path);
    const decision = { version: versionIn(review), decision: 'accepted' };
    match(
      (await reviewer.press(review, path, decision)).text,
      /accepted it[^]*The shared Git server cannot be reached/,
    );
    await eventually(() =>
      deepStrictEqual(
        receiver.notices.map(({ kind, url }) => `${kind} ${new URL(url).pathname}`),
        [`proposal ${path}`, `decision /bots/${homer}`],
      ),
    );
  });
});
