import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { createServer } from 'node:http';
import { gitHosts, type GitHostId } from '../../src/git/hosts.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { HostReview } from '../../src/proposals/host-review.ts';
import type { Proposal } from '../../src/proposals/proposal.ts';
import type { Proposals } from '../../src/proposals/proposals.ts';
import { atTime } from '../support/at-time.ts';
import { eventually } from '../support/eventually.ts';
import {
  type GitHostServer,
  type GitHubServer,
  githubToken,
  startGitHost,
  startGitHub,
} from '../support/git-host.ts';
import { listenOnLoopback } from '../support/loopback.ts';
import { author, openProposals, proposalSettings } from '../support/proposals.ts';
import { recordedLog } from '../support/recorded-log.ts';
import type { TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath } from '../support/sample.ts';

const homer = botId('190519304972663312');
const homerPath = pagePath(homer);
const branch = `refs/heads/proposals/${homer}-${author.id}`;
const note = 'Fixes #1, @marge: try `/donut`.\n```\n/merge\n\\n/close';

describe('proposals that are reviewed at the Git host', () => {
  let host: GitHostServer;
  let github: GitHubServer;
  let clone: TestRepository;
  let proposals: Proposals;
  let log = recordedLog();
  const open: { close(): Promise<void> | void }[] = [];
  /** Begun rounds of the reviews. */
  let rounds = 0;

  /** Starts a host, and a clone with its proposals. */
  async function start(kind: GitHostId): Promise<HostReview> {
    log = recordedLog();
    host = await startGitHost(kind, { [homerPath]: mainPage(), 'botshelf.json': proposalSettings });
    clone = host.shared.clone();
    proposals = await openProposals(clone.folder, { log });
    const load = proposals.load.bind(proposals);
    proposals.load = async () => {
      rounds++;
      await load();
    };
    if (kind === 'github') github = await startGitHub(host);
    return await startReview(kind);
  }

  /** Starts the review, as a service does. */
  async function startReview(kind: GitHostId, api = github?.api): Promise<HostReview> {
    const repositoryOpener = new RepositoryOpener(clone.folder);
    const review = new HostReview({
      repositoryOpener,
      proposals,
      host: gitHosts[kind],
      remote: host.remote,
      branch: 'main',
      home: 'https://git.example.org/people/list',
      github:
        kind === 'github' ? { api, repository: 'people/list', token: githubToken, timeoutMs: 500 } : null,
      baseUrl: 'https://bots.example.org',
      log,
      followSeconds: 0.05,
    });
    open.push(repositoryOpener, review);
    review.start();
    return review;
  }

  async function send(
    values: Readonly<Record<string, unknown>> = { nsfw: true },
    text = note,
  ): Promise<Proposal> {
    const pages = new Map([[homerPath, mainPage(values)]]);
    return (await proposals.send({ subject: homer, proposer: author, pages, note: text })).proposal;
  }

  /** Waits until two rounds that begin from now on have ended. */
  async function twoRounds(): Promise<void> {
    const begun = rounds;
    await eventually(() => rounds >= begun + 3);
  }

  const find = (): Proposal | undefined => proposals.find(homer, author.id);
  const last = (): Proposal | undefined => proposals.listOf(author.id)[0];
  const branches = (): string =>
    host.shared.git('for-each-ref', '--format=%(refname)', 'refs/heads/proposals');

  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close();
    ok(!log.lines.some((line) => line.includes(githubToken)));
  });

  describe('at GitHub', () => {
    let review: HostReview;
    beforeEach(async () => (review = await start('github')));

    it('become pull requests with a commit of their own, whose texts nothing is done with', async () => {
      const proposal = await send();
      await eventually(() => github.pulls.length === 1);
      const [pull] = github.pulls;
      strictEqual(pull?.title, `Update Homer (${homer}): nsfw`);
      match(
        pull.body,
        new RegExp(`\\n\`{4}text\\n${author.name} \\(${author.id}\\)\\n\\nFixes #1[^]*\\n\`{4}\\n`),
      );
      match(pull.body, new RegExp(`Page: https://bots\\.example\\.org/bots/${homer}\\n`));
      strictEqual(host.shared.git('rev-parse', `${branch}^`), proposal.base);
      strictEqual(host.shared.git('diff', '--name-only', 'main', branch), homerPath);
      const message = host.shared.git('log', '-1', '--format=%B', branch);
      match(message, new RegExp(`^Update Homer.*\\n\\nBot: ${homer}\\nProposed-by: ${author.id}`));
      ok(!message.includes('#1'));
      await eventually(() => review.findLink(proposal) === 'https://git.example.org/people/list/pull/1');
      strictEqual(review.failure, null);
    });

    it('update their pull request when they are sent again', async () => {
      await send();
      await eventually(() => github.pulls.length === 1);
      await send({ nsfw: true, website: 'https://homer.example' }, 'Now with a site.');
      await eventually(() => /nsfw, website|website, nsfw/.test(github.pulls[0]?.title ?? ''));
      await eventually(() => host.shared.git('show', `${branch}:${homerPath}`).includes('homer.example'));
      match(github.pulls[0]?.body ?? '', /Now with a site\./);
      strictEqual(github.pulls.length, 1);
      await eventually(
        () => host.shared.git('rev-parse', 'refs/pull/1/head') === host.shared.git('rev-parse', branch),
      );
    });

    it('update it too when Git here has pruned what was pushed before', async () => {
      await send();
      await eventually(() => github.pulls.length === 1);
      clone.git('gc', '-q', '--prune=now');
      await send({ website: 'https://homer.example/' });
      await eventually(() => host.shared.git('show', `${branch}:${homerPath}`).includes('homer.example'));
    });

    it('close their pull request, and leave no branch, when they are withdrawn', async () => {
      await send();
      await eventually(() => github.pulls.length === 1);
      await proposals.withdraw(homer, author.id, find()?.version ?? '');
      await eventually(() => branches() === '');
      strictEqual(github.pulls[0]?.state, 'closed');
    });

    it('follow a request for changes, once, and only of people who may write', async () => {
      await send();
      await eventually(() => github.pulls.length === 1);
      const sha = host.shared.git('rev-parse', branch);
      const asked = { state: 'CHANGES_REQUESTED', commit_id: sha };
      github.pulls[0]?.reviews.push(
        { ...asked, body: 'A picture, please.\r\nThanks', author_association: 'MEMBER' },
        { ...asked, body: 'Send me your token', author_association: 'NONE' },
      );
      await eventually(() => find()?.state === 'changes-asked');
      const { version, text } = find() as Proposal;
      strictEqual(text, 'A picture, please.\nThanks');
      await twoRounds();
      strictEqual(find()?.version, version);
      await send({ website: 'https://homer.example' });
      await eventually(() => host.shared.git('rev-parse', 'refs/pull/1/head') !== sha);
      await twoRounds();
      strictEqual(find()?.state, 'waiting');
    });

    it('are followed though the clock is set back', async () => {
      await send();
      await eventually(() => github.pulls.length === 1);
      const commit_id = host.shared.git('rev-parse', branch);
      await atTime(Date.now() - 3_600_000, async () => {
        const review = { state: 'CHANGES_REQUESTED', commit_id, body: 'A picture, please.' };
        github.pulls[0]?.reviews.push({ ...review, author_association: 'MEMBER' });
        await eventually(() => find()?.state === 'changes-asked');
      });
    });

    it('are declined when their pull request is closed, with the last comment as the reason', async () => {
      await send();
      await eventually(() => github.pulls.length === 1);
      const [pull] = github.pulls;
      pull?.comments.push(
        { body: 'Hi', author_association: 'NONE' },
        { body: 'It is offline.', author_association: 'OWNER' },
      );
      if (pull) pull.state = 'closed';
      await eventually(() => last()?.state === 'declined');
      strictEqual(last()?.text, 'It is offline.');
      await send({ website: 'https://homer.example' });
      await eventually(() => github.pulls.length === 2);
      await twoRounds();
      strictEqual(find()?.state, 'waiting');
    });

    it('are accepted when a reviewer has merged them with changes, once the merge is here', async () => {
      await send();
      await eventually(() => github.pulls.length === 1);
      const merge = host.shared.mergePullRequest((person) =>
        person.write(homerPath, mainPage({ nsfw: false })),
      );
      Object.assign(github.pulls[0] ?? {}, { state: 'closed', merged: true, merge_commit_sha: merge });
      await twoRounds();
      strictEqual(find()?.state, 'waiting');
      clone.git('pull', '-q', '--ff-only');
      await eventually(() => last()?.state === 'accepted');
      strictEqual(last()?.commit, merge);
    });

    it('are left to a reviewer who has pushed to their branch', async () => {
      await send();
      await eventually(() => github.pulls.length === 1);
      const { maintainer } = host.shared;
      maintainer.git('fetch', '-q', 'origin', branch);
      maintainer.git('switch', '-q', '--detach', 'FETCH_HEAD');
      const theirs = maintainer.commit({ 'README.md': 'Welcome' });
      maintainer.git('push', '-q', 'origin', `HEAD:${branch}`);
      await send({ website: 'https://homer.example' });
      await twoRounds();
      strictEqual(host.shared.git('rev-parse', branch), theirs);
    });

    it('are found again after a restart: a pushed branch without a pull request gets one, and no second', async () => {
      github.faults.push(
        (_, response) => response.end('[]'),
        (request) => request.socket.destroy(),
      );
      await send();
      await eventually(() => github.requests.length >= 2);
      await review.close();
      review = await startReview('github');
      await eventually(() => github.pulls.length === 1);
      await review.close();
      const { length } = host.pushed();
      review = await startReview('github');
      await eventually(() => review.findLink(find() as Proposal) !== undefined);
      deepStrictEqual([github.pulls.length, host.pushed().length], [1, length]);
    });

    it('wait while the host refuses, and the operator is told why', async () => {
      let limited = Number.POSITIVE_INFINITY;
      github.faults.push((_, response) => {
        limited = Date.now() + 500;
        response
          .writeHead(403, { 'X-RateLimit-Remaining': '0', 'X-RateLimit-Reset': String(limited / 1000) })
          .end(JSON.stringify({ message: `API rate limit exceeded for ${githubToken}` }));
      });
      await send();
      await eventually(() => /rate limit exceeded for …/.test(review.failure?.message ?? ''));
      await eventually(() => github.requests.length > 1);
      ok(Date.now() >= limited);
      await eventually(() => github.pulls.length === 1);
      await eventually(() => review.failure === null);
      ok(
        log.lines.some((line) =>
          line.startsWith('error: the Git host does not have all proposals: GET pulls'),
        ),
      );
      ok(log.lines.includes('info: the Git host has all proposals again'));
    });

    it('are retried after what is slow, reset, too large, no JSON, a redirect or a failure of the host', async () => {
      github.faults.push(
        () => {},
        (request) => request.socket.destroy(),
        (_, response) => response.end(`["${'x'.repeat(300_000)}"]`),
        (_, response) => response.end('<html>'),
        (_, response) => response.writeHead(307, { Location: `${github.api}/elsewhere` }).end(),
        (_, response) => response.writeHead(503, { 'Retry-After': '1' }).end(),
        (_, response) => response.writeHead(404).end('{"message":"Not Found"}'),
      );
      await send();
      await eventually(() => github.pulls.length === 1, 60);
      deepStrictEqual(github.faults, []);
      ok(!github.requests.some((line) => line.includes('elsewhere')));
      await eventually(() => review.failure === null);
    });

    it('have a refused token named', async () => {
      github.faults.push((_, response) => response.writeHead(401).end('{"message":"Bad credentials"}'));
      await send();
      await eventually(() => /response 401 .*Bad credentials/.test(review.failure?.message ?? ''));
      ok(!JSON.stringify(review.failure).includes(githubToken));
    });
  });

  it('are not held up by a host that hangs', async () => {
    await start('github');
    let ended = 0;
    const { port } = await listenOnLoopback(createServer((request) => request.once('close', () => ended++)));
    await startReview('github', `http://127.0.0.1:${port}`);
    await send();
    await eventually(() => branches() === '');
    strictEqual(ended, 0, 'the first request is still waiting');
    await open.at(-1)?.close();
  });

  describe('at GitLab', () => {
    let review: HostReview;
    beforeEach(async () => (review = await start('gitlab')));

    it('become merge requests by the options of a push', async () => {
      const proposal = await send();
      await eventually(() => review.findLink(proposal)?.endsWith('/people/list/-/merge_requests/1') === true);
      const [create, target, title, description = '', label] = host.options();
      deepStrictEqual(
        [create, target, title, label],
        [
          'merge_request.create',
          'merge_request.target=main',
          `merge_request.title=Update Homer (${homer}): nsfw`,
          'merge_request.label=proposal',
        ],
      );
      // What GitLab makes of it: no line of the note is outside of the block.
      const lines = description.replaceAll(String.raw`\n`, '\n').split('\n');
      const [first, end] = ['````text', '````'].map((fence) => lines.indexOf(fence)) as [number, number];
      ok(first < lines.indexOf('/merge') && lines.indexOf('/merge') < end && !lines.includes('/close'));
      strictEqual(host.options().length, 5);
    });

    it('are pushed again when the host has refused them', async () => {
      host.refuseOnce();
      await send();
      await eventually(() => /proposals are closed today/.test(review.failure?.message ?? ''));
      // An error has the arguments of git.
      ok(!log.lines.some((line) => line.includes('donut')));
      await eventually(() => branches() === branch);
      await eventually(() => review.failure === null);
    });

    it('are pushed when the host is back', async () => {
      host.server.mode = 'cut';
      await send();
      await eventually(() => review.failure !== null);
      host.server.mode = 'serve';
      await eventually(() => branches() === branch);
    });

    it('are updated, and end with their branch', async () => {
      await send();
      await eventually(() => branches() === branch);
      await send({ website: 'https://homer.example' });
      await eventually(() => host.options().length === 10);
      await eventually(() => host.shared.git('for-each-ref', 'refs/merge-requests/2') === '');
      await proposals.withdraw(homer, author.id, find()?.version ?? '');
      await eventually(() => branches() === '');
    });

    it('are accepted where they were merged, once the merge is here', async () => {
      await send();
      await eventually(() => branches() === branch);
      host.shared.git('update-ref', 'refs/heads/main', branch);
      host.shared.git('update-ref', '-d', branch);
      await twoRounds();
      strictEqual(find()?.state, 'waiting');
      clone.git('pull', '-q', '--ff-only');
      await eventually(() => last()?.state === 'accepted');
    });

    it('follow its events: the reason is what the one who closes wrote', async () => {
      const proposal = await send();
      await eventually(() => review.findLink(proposal) !== undefined);
      const tell = (event: object): void => review.receive(Buffer.from(JSON.stringify(event)));
      const merge_request = { iid: 1 };
      tell({ object_kind: 'note', user: { id: 5 }, object_attributes: { note: 'Too new.' }, merge_request });
      tell({ object_kind: 'issue', user: { id: 5 }, object_attributes: { iid: 1, action: 'close' } });
      tell({ object_kind: 'merge_request', user: { id: 5 }, object_attributes: { iid: 2, action: 'close' } });
      await twoRounds();
      strictEqual(find()?.state, 'waiting');
      tell({ object_kind: 'merge_request', user: { id: 5 }, object_attributes: { iid: 1, action: 'close' } });
      await eventually(() => last()?.state === 'declined');
      strictEqual(last()?.text, 'Too new.');
      for (const body of ['', 'null', '[]', '5', 'payload=%7B%7D']) review.receive(Buffer.from(body));
    });
  });

  describe('at Forgejo and Gitea', () => {
    let review: HostReview;
    beforeEach(async () => (review = await start('forgejo')));

    it('become pull requests by a push for the branch, and are empty when they are withdrawn', async () => {
      const proposal = await send();
      await eventually(() => review.findLink(proposal)?.endsWith('/people/list/pulls/1') === true);
      const [topic, title, description = ''] = host.options();
      deepStrictEqual(
        [topic, title],
        [`topic=proposals/${homer}-${author.id}`, `title=Update Homer (${homer}): nsfw`],
      );
      match(Buffer.from(description.replace('description={base64}', ''), 'base64').toString(), /Fixes #1/);
      strictEqual(host.options().length, 3);
      deepStrictEqual(host.pushed(), ['refs/for/main']);
      await send({ website: 'https://homer.example' });
      await eventually(() => host.pushed().length === 2);
      strictEqual(host.options().at(-1), 'force-push=true');
      await proposals.withdraw(homer, author.id, find()?.version ?? '');
      await eventually(() => host.shared.git('rev-parse', 'refs/pull/1/head') === proposal.base);
      strictEqual(host.pushed().length, 3);
    });

    it('are left to a reviewer who has pushed to their pull request, also after a restart', async () => {
      const proposal = await send();
      await eventually(() => review.findLink(proposal) !== undefined);
      const { maintainer } = host.shared;
      maintainer.git('fetch', '-q', 'origin', 'refs/pull/1/head');
      maintainer.git('switch', '-q', '--detach', 'FETCH_HEAD');
      const theirs = maintainer.commit({ 'README.md': 'Welcome' });
      maintainer.git('push', '-q', 'origin', 'HEAD:refs/pull/1/head');
      await send({ website: 'https://homer.example' });
      await twoRounds();
      strictEqual(host.shared.git('rev-parse', 'refs/pull/1/head'), theirs);
      await review.close();
      review = await startReview('forgejo');
      await eventually(() => /force-push/.test(review.failure?.message ?? ''));
      strictEqual(host.shared.git('rev-parse', 'refs/pull/1/head'), theirs);
    });

    it('follow its events', async () => {
      const proposal = await send();
      await eventually(() => review.findLink(proposal) !== undefined);
      const tell = (event: object): void => review.receive(Buffer.from(JSON.stringify(event)));
      tell({ action: 'created', issue: { number: 1 }, comment: { body: 'No.' }, sender: { id: 9 } });
      tell({ action: 'closed', pull_request: { number: 1, merged: false }, sender: { id: 8 } });
      await eventually(() => last()?.state === 'declined');
      strictEqual(last()?.text, '');
    });
  });
});
