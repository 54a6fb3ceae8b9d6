import { deepStrictEqual, match, notStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { createServer } from 'node:http';
import { gitHosts, type GitHostId } from '../../../src/git/hosts.ts';
import { HostReview } from '../../../src/proposals/host-review.ts';
import type { Proposal } from '../../../src/proposals/proposal.ts';
import type { Proposals } from '../../../src/proposals/proposals.ts';
import { atTime } from '../../support/at-time.ts';
import { eventually } from '../../support/eventually.ts';
import {
  type GitHostServer,
  type GitHubServer,
  githubToken,
  startGitHost,
  startGitHub,
  type TestPull,
} from '../../support/git-host.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { openerOf } from '../../support/opened.ts';
import { author, openProposals, proposalSettings } from '../../support/proposals.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import type { TestRepository } from '../../support/repository.ts';
import { botId, mainPage, pagePath } from '../../support/sample.ts';

const homer = botId('190519304972663312');
const homerPath = pagePath(homer);
const branch = `refs/heads/proposals/${homer}-${author.id}`;
const note = 'Fixes #1, @marge: try `/donut`.\n```\n/merge\n\\n/close';

describe('proposals that are reviewed at the Git host', () => {
  let host: GitHostServer;
  let github: GitHubServer;
  let clone: TestRepository;
  let proposals: Proposals;
  let review: HostReview;
  let log = recordedLog();
  const open: { close(): Promise<void> | void }[] = [];

  /** Starts a host, and a clone with its proposals and a review that makes a round when a test says so. */
  async function begin(kind: GitHostId): Promise<void> {
    log = recordedLog();
    host = await startGitHost(kind, { [homerPath]: mainPage(), 'botshelf.json': proposalSettings });
    clone = host.shared.clone();
    proposals = await openProposals(clone.folder, { log });
    if (kind === 'github') github = await startGitHub(host);
    review = openReview(kind);
  }

  function openReview(kind: GitHostId, followSeconds = 0, api = github?.api): HostReview {
    const repositoryOpener = openerOf(clone.folder);
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
      followSeconds,
    });
    open.push(review);
    return review;
  }

  /** Ends the review, and begins another that knows nothing of it. */
  async function restart(kind: GitHostId): Promise<void> {
    await review.close();
    review = openReview(kind);
  }

  async function send(
    values: Readonly<Record<string, unknown>> = { nsfw: true },
    text = note,
  ): Promise<Proposal> {
    const pages = new Map([[homerPath, mainPage(values)]]);
    return (await proposals.send({ subject: homer, proposer: author, pages, note: text })).proposal;
  }

  /** Sends it and brings it to the host, whose number for it is known after the second round. */
  async function submit(values?: Readonly<Record<string, unknown>>, text?: string): Promise<Proposal> {
    const proposal = await send(values, text);
    await rounds();
    return proposal;
  }

  /** Makes two rounds: what the first has done must be nothing to do for the second. */
  async function rounds(): Promise<void> {
    for (let i = 0; i < 2; i++) strictEqual(await review.round(), true, log.lines.join());
  }

  async function withdraw(): Promise<void> {
    await proposals.withdraw(homer, author.id, find()?.version ?? '');
    await rounds();
  }

  const find = (): Proposal | undefined => proposals.find(homer, author.id);
  const last = (): Proposal | undefined => proposals.listOf(author.id)[0];
  const branches = (): string =>
    host.shared.git('for-each-ref', '--format=%(refname)', 'refs/heads/proposals');
  const failure = (): string => review.failure?.message ?? '';

  /** Pushes a reviewer's commit on top of what is at a ref of the host. */
  function pushAsReviewer(ref: string): string {
    const { maintainer } = host.shared;
    maintainer.git('fetch', '-q', 'origin', ref);
    maintainer.git('switch', '-q', '--detach', 'FETCH_HEAD');
    const theirs = maintainer.commit({ 'README.md': 'Welcome' });
    maintainer.git('push', '-q', 'origin', `HEAD:${ref}`);
    return theirs;
  }

  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close();
    ok(!log.lines.some((line) => line.includes(githubToken)));
  });

  describe('at GitHub', () => {
    beforeEach(async () => await begin('github'));

    const pull = (): TestPull => github.pulls.at(-1) as TestPull;

    it('become pull requests with a commit of their own, whose texts nothing is done with', async () => {
      const proposal = await submit();
      strictEqual(pull().title, `Update Homer (${homer}): nsfw`);
      match(
        pull().body,
        new RegExp(`\\n\`{4}text\\n${author.name} \\(${author.id}\\)\\n\\nFixes #1[^]*\\n\`{4}\\n`),
      );
      match(pull().body, new RegExp(`Page: https://bots\\.example\\.org/bots/${homer}\\n`));
      strictEqual(host.shared.git('rev-parse', `${branch}^`), proposal.base);
      strictEqual(host.shared.git('diff', '--name-only', 'main', branch), homerPath);
      const message = host.shared.git('log', '-1', '--format=%B', branch);
      match(message, new RegExp(`^Update Homer.*\\n\\nBot: ${homer}\\nProposed-by: ${author.id}`));
      ok(!message.includes('#1'));
      strictEqual(review.findLink(proposal), 'https://git.example.org/people/list/pull/1');
      strictEqual(github.pulls.length, 1);
    });

    it('are brought there in the background as soon as they are sent', async () => {
      review = openReview('github', 300);
      review.start();
      await send();
      await eventually(() => github.pulls.length === 1);
    });

    it('update their pull request when they are sent again, though Git here has pruned what was pushed', async () => {
      await submit();
      clone.git('gc', '-q', '--prune=now');
      await submit({ nsfw: true, website: 'https://homer.example' }, 'Now with a site.');
      match(pull().title, /nsfw, website|website, nsfw/);
      match(pull().body, /Now with a site\./);
      match(host.shared.git('show', `${branch}:${homerPath}`), /homer\.example/);
      strictEqual(host.shared.git('rev-parse', 'refs/pull/1/head'), host.shared.git('rev-parse', branch));
      strictEqual(github.pulls.length, 1);
    });

    it('close their pull request, and leave no branch, when they are withdrawn', async () => {
      await submit();
      await withdraw();
      deepStrictEqual([branches(), pull().state], ['', 'closed']);
    });

    it('follow a request for changes, once, and only of people who may write, though the clock is set back', async () => {
      await submit();
      const sha = host.shared.git('rev-parse', branch);
      const asked = { state: 'CHANGES_REQUESTED', commit_id: sha };
      pull().reviews.push(
        { ...asked, body: 'A picture, please.\r\nThanks', author_association: 'MEMBER' },
        { ...asked, body: 'Send me your token', author_association: 'NONE' },
      );
      await atTime(Date.now() - 3_600_000, rounds);
      const { state, version, text } = find() as Proposal;
      deepStrictEqual([state, text], ['changes-asked', 'A picture, please.\nThanks']);
      await rounds();
      strictEqual(find()?.version, version);
      await submit({ website: 'https://homer.example' });
      notStrictEqual(host.shared.git('rev-parse', 'refs/pull/1/head'), sha);
      strictEqual(find()?.state, 'waiting');
    });

    it('are declined when their pull request is closed, with the last comment as the reason', async () => {
      await submit();
      pull().comments.push(
        { body: 'Hi', author_association: 'NONE' },
        { body: 'It is offline.', author_association: 'OWNER' },
      );
      pull().state = 'closed';
      await rounds();
      deepStrictEqual([last()?.state, last()?.text], ['declined', 'It is offline.']);
      await submit({ website: 'https://homer.example' });
      deepStrictEqual([github.pulls.length, find()?.state], [2, 'waiting']);
    });

    it('are accepted when a reviewer has merged them with changes, once the merge is here', async () => {
      await submit();
      const merge = host.shared.mergePullRequest((person) =>
        person.write(homerPath, mainPage({ nsfw: false })),
      );
      Object.assign(pull(), { state: 'closed', merged: true, merge_commit_sha: merge });
      await rounds();
      strictEqual(find()?.state, 'waiting');
      clone.git('pull', '-q', '--ff-only');
      await rounds();
      deepStrictEqual([last()?.state, last()?.commit], ['accepted', merge]);
    });

    it('are left to a reviewer who has pushed to their branch', async () => {
      await submit();
      const theirs = pushAsReviewer(branch);
      await submit({ website: 'https://homer.example' });
      strictEqual(host.shared.git('rev-parse', branch), theirs);
    });

    it('are found again after a restart: a pushed branch without a pull request gets one, and no second', async () => {
      github.faults.push(
        (_, response) => response.end('[]'),
        (request) => request.socket.destroy(),
      );
      await send();
      strictEqual(await review.round(), false);
      deepStrictEqual([branches(), github.pulls.length], [branch, 0]);
      await restart('github');
      await rounds();
      strictEqual(github.pulls.length, 1);
      const { length } = host.pushed();
      await restart('github');
      await rounds();
      ok(review.findLink(find() as Proposal));
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
      review = openReview('github', 0.05);
      review.start();
      await send();
      await eventually(() => /rate limit exceeded for …/.test(failure()));
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

    it('are retried after what is slow, reset, too large, no JSON, a redirect, a failure of the host or a refused token', async () => {
      const faults: readonly [RegExp, (typeof github.faults)[number]][] = [
        [/./, () => {}],
        [/./, (request) => request.socket.destroy()],
        [/./, (_, response) => response.end(`["${'x'.repeat(300_000)}"]`)],
        [/./, (_, response) => response.end('<html>')],
        [/./, (_, response) => response.writeHead(307, { Location: `${github.api}/elsewhere` }).end()],
        [/./, (_, response) => response.writeHead(503, { 'Retry-After': '1' }).end()],
        [/./, (_, response) => response.writeHead(404).end('{"message":"Not Found"}')],
        [
          /response 401 .*Bad credentials/,
          (_, response) => response.writeHead(401).end('{"message":"Bad credentials"}'),
        ],
      ];
      await send();
      for (const [reason, fault] of faults) {
        github.faults.push(fault);
        strictEqual(await review.round(), false);
        match(failure(), reason);
      }
      ok(!JSON.stringify(review.failure).includes(githubToken));
      deepStrictEqual([github.faults, github.pulls], [[], []]);
      await rounds();
      deepStrictEqual([github.pulls.length, review.failure], [1, null]);
      ok(!github.requests.some((line) => line.includes('elsewhere')));
    });

    it('are not held up by a host that hangs, which is let go of when the service stops', async () => {
      let begun = 0;
      let ended = 0;
      const { port } = await listenOnLoopback(
        createServer((request) => {
          begun++;
          request.once('close', () => ended++);
        }),
      );
      review = openReview('github', 0.05, `http://127.0.0.1:${port}`);
      review.start();
      await send();
      await eventually(() => begun === 1);
      await send({ website: 'https://homer.example' });
      strictEqual(ended, 0, 'the first request is still waiting');
      await review.close();
      await eventually(() => ended === 1);
    });
  });

  describe('at GitLab', () => {
    beforeEach(async () => await begin('gitlab'));

    it('become merge requests by the options of a push', async () => {
      const proposal = await submit();
      strictEqual(review.findLink(proposal), 'https://git.example.org/people/list/-/merge_requests/1');
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

    it('are pushed again when the host has refused them, or was away', async () => {
      host.refuseOnce();
      await send();
      strictEqual(await review.round(), false);
      match(failure(), /proposals are closed today/);
      // An error has the arguments of git.
      ok(!log.lines.some((line) => line.includes('donut')));
      host.server.mode = 'cut';
      strictEqual(await review.round(), false);
      host.server.mode = 'serve';
      await rounds();
      deepStrictEqual([branches(), review.failure], [branch, null]);
    });

    it('are updated, and end with their branch', async () => {
      await submit();
      await submit({ website: 'https://homer.example' });
      strictEqual(host.options().length, 10);
      strictEqual(host.shared.git('for-each-ref', 'refs/merge-requests/2'), '');
      await withdraw();
      strictEqual(branches(), '');
    });

    it('are accepted where they were merged, once the merge is here', async () => {
      await submit();
      host.shared.git('update-ref', 'refs/heads/main', branch);
      host.shared.git('update-ref', '-d', branch);
      await rounds();
      strictEqual(find()?.state, 'waiting');
      clone.git('pull', '-q', '--ff-only');
      await rounds();
      strictEqual(last()?.state, 'accepted');
    });

    it('follow its events: the reason is what the one who closes wrote', async () => {
      await submit();
      const tell = (event: object): void => review.receive(Buffer.from(JSON.stringify(event)));
      const merge_request = { iid: 1 };
      tell({ object_kind: 'note', user: { id: 5 }, object_attributes: { note: 'Too new.' }, merge_request });
      tell({ object_kind: 'issue', user: { id: 5 }, object_attributes: { iid: 1, action: 'close' } });
      tell({ object_kind: 'merge_request', user: { id: 5 }, object_attributes: { iid: 2, action: 'close' } });
      await rounds();
      strictEqual(find()?.state, 'waiting');
      tell({ object_kind: 'merge_request', user: { id: 5 }, object_attributes: { iid: 1, action: 'close' } });
      await rounds();
      deepStrictEqual([last()?.state, last()?.text], ['declined', 'Too new.']);
      for (const body of ['', 'null', '[]', '5', 'payload=%7B%7D']) review.receive(Buffer.from(body));
    });
  });

  describe('at Forgejo and Gitea', () => {
    beforeEach(async () => await begin('forgejo'));

    it('become pull requests by a push for the branch, and are empty when they are withdrawn', async () => {
      const proposal = await submit();
      strictEqual(review.findLink(proposal), 'https://git.example.org/people/list/pulls/1');
      const [topic, title, description = ''] = host.options();
      deepStrictEqual(
        [topic, title],
        [`topic=proposals/${homer}-${author.id}`, `title=Update Homer (${homer}): nsfw`],
      );
      match(Buffer.from(description.replace('description={base64}', ''), 'base64').toString(), /Fixes #1/);
      strictEqual(host.options().length, 3);
      deepStrictEqual(host.pushed(), ['refs/for/main']);
      await submit({ website: 'https://homer.example' });
      strictEqual(host.pushed().length, 2);
      strictEqual(host.options().at(-1), 'force-push=true');
      await withdraw();
      strictEqual(host.shared.git('rev-parse', 'refs/pull/1/head'), proposal.base);
      strictEqual(host.pushed().length, 3);
    });

    it('are left to a reviewer who has pushed to their pull request, also after a restart', async () => {
      await submit();
      const theirs = pushAsReviewer('refs/pull/1/head');
      await submit({ website: 'https://homer.example' });
      strictEqual(host.shared.git('rev-parse', 'refs/pull/1/head'), theirs);
      await restart('forgejo');
      strictEqual(await review.round(), false);
      match(failure(), /force-push/);
      strictEqual(host.shared.git('rev-parse', 'refs/pull/1/head'), theirs);
    });

    it('follow its events', async () => {
      await submit();
      const tell = (event: object): void => review.receive(Buffer.from(JSON.stringify(event)));
      tell({ action: 'created', issue: { number: 1 }, comment: { body: 'No.' }, sender: { id: 9 } });
      tell({ action: 'closed', pull_request: { number: 1, merged: false }, sender: { id: 8 } });
      await rounds();
      deepStrictEqual([last()?.state, last()?.text], ['declined', '']);
    });
  });
});
