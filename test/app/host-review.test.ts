import { doesNotMatch, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../../src/app/config.ts';
import { readRemotePlace } from '../../src/git/branch/clone.ts';
import { silentLog } from '../../src/lib/log.ts';
import { createHostReview, type HostReview } from '../../src/proposals/host-review.ts';
import { eventually } from '../support/eventually.ts';
import { type GitHostServer, hostToken, startGitHost } from '../support/git-host.ts';
import { startProvider } from '../support/login-provider.ts';
import { loginEnv } from '../support/login-site.ts';
import { freePort } from '../support/loopback.ts';
import { openerOf } from '../support/opened.ts';
import { openProposals, proposalSettings, visitor } from '../support/proposals.ts';
import { botId, mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { Visitor } from '../support/visitor.ts';

const homer = botId('190519304972663312');
const secret = 'a-secret-of-the-webhook';
describe('a service whose proposals are reviewed at the Git host', () => {
  let host: GitHostServer;

  before(async () => {
    host = await startGitHost('github', { [pagePath(homer)]: mainPage(), 'botshelf.json': proposalSettings });
  });

  /** A clone with a proposal that waits. */
  async function cloneWithProposal(): Promise<string> {
    const clone = host.shared.clone();
    const proposals = await openProposals(clone.folder);
    const pages = new Map([[pagePath(homer), mainPage({ nsfw: true })]]);
    await proposals.send({ subject: homer, proposer: visitor, pages, note: 'Hi' });
    clone.git('remote', 'set-url', 'origin', host.remote);
    return clone.folder;
  }

  it('makes pull requests of proposals, shows maintainers what needs attention and the reports, and follows the webhook @slow', async () => {
    const port = await freePort();
    const baseUrl = `http://localhost:${port}`;
    const { settings } = await startProvider(baseUrl);
    const env = {
      ...loginEnv(settings),
      BOTSHELF_REMOTE: 'origin',
      BOTSHELF_PROPOSALS: 'host',
      BOTSHELF_WEBHOOK_SECRET: secret,
      BOTSHELF_HOST_KIND: 'github',
      BOTSHELF_HOST_API: host.pullsOptions.root,
      BOTSHELF_HOST_TOKEN: hostToken,
      BOTSHELF_BASE_URL: baseUrl,
      PORT: String(port),
    };
    const service = await startTestService({}, { root: await cloneWithProposal(), env });
    await eventually(() => host.pulls.length === 1);
    const [pull] = host.pulls;
    strictEqual(pull?.title, `Update Homer (${homer}): nsfw`);
    const { parts } = (await service.request('/readyz')).json;
    strictEqual(JSON.stringify(parts.host), '{"ready":true,"faults":[]}');
    const review = await service.request(`/review/${homer}/7`);
    strictEqual(review.status, 404);
    match(review.json.detail, /^proposals are reviewed as pull requests at https:\/\/127\.0\.0\.1:\d+\//);

    const marge = new Visitor();
    const page = await marge.logIn(await marge.go(`${baseUrl}/login?to=/review`), '42');
    match(page.text, /reviewed as pull requests at <a href="https:\/\/127\.0\.0\.1:\d+\//);
    match(page.text, /Reports <small>0<\/small>[^]*Needs attention/);
    doesNotMatch(page.text, /class="rows"/);
    strictEqual((await marge.go(`${baseUrl}/review/${homer}/7`)).status, 404);

    const tell = async (repository: string): Promise<number> => {
      const body = JSON.stringify({ action: 'closed', repository: { full_name: repository } });
      const signature = createHmac('sha256', secret).update(body).digest('hex');
      const headers = { 'X-Hub-Signature-256': `sha256=${signature}`, 'Content-Type': 'application/json' };
      return (await fetch(`${service.address}/hooks/push`, { method: 'POST', body, headers })).status;
    };
    host.end(pull);
    strictEqual(await tell('people/list'), 403);
    strictEqual(await tell(host.pullsOptions.repository), 202);
    await eventually(() => existsSync(join(host.shared.folder, 'refs/botshelf/closed')));
    ok(!service.log().includes(hostToken));
  });

  it('does not start where the host is not known', async () => {
    const { folder } = host.shared.clone();
    const proposals = await openProposals(folder);
    const opener = openerOf(folder);
    const open = async (remote: string, kind = {}): Promise<HostReview | null> => {
      const env = { BOTSHELF_PROPOSALS: 'host', BOTSHELF_HOST_TOKEN: 'x', BOTSHELF_REMOTE: remote };
      const place = await readRemotePlace(opener, remote);
      return createHostReview(readConfig({ ...env, ...kind }), place, proposals, opener, silentLog);
    };
    await rejects(open(host.remote), /set BOTSHELF_HOST_KIND, and a remote with an address such as/);
    await rejects(open('origin', { BOTSHELF_HOST_KIND: 'github' }), /set BOTSHELF_HOST_KIND, and a remote/);
    strictEqual((await open('https://codeberg.org/people/list'))?.home, 'https://codeberg.org/people/list');
  });
});
