import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { createServer } from 'node:http';
import type { Locale } from '../../../src/bot/locale.ts';
import type { GitHostId } from '../../../src/git/hosts.ts';
import { type HostPullsOptions, HostReview } from '../../../src/proposals/host-review.ts';
import type { Proposal } from '../../../src/proposals/proposal.ts';
import type { Proposals } from '../../../src/proposals/proposals.ts';
import { atTime } from '../../support/at-time.ts';
import { eventually } from '../../support/eventually.ts';
import { type GitHostServer, hostToken, startGitHost, type TestPull } from '../../support/git-host.ts';
import { listenOnLoopback } from '../../support/loopback.ts';
import { openerOf } from '../../support/opened.ts';
import { author, openProposals, proposalSettings, visitor } from '../../support/proposals.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import type { TestRepository } from '../../support/repository.ts';
import { botId, mainPage, pagePath } from '../../support/sample.ts';

const homer = botId('190519304972663312');
const homerPath = pagePath(homer);
const branch = `refs/heads/proposals/${homer}-${author.id}`;
const note = '[skip ci] Fixes #1, @marge: try `/donut`.\n```\n/merge\n\\n/close';

describe('proposals that are reviewed at the Git host', () => {
  let host: GitHostServer;
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
    review = openReview();
  }

  function openReview(roundMs = 0, values: Partial<HostPullsOptions> = {}): HostReview {
    const review = new HostReview({
      repositoryOpener: openerOf(clone.folder),
      proposals,
      pulls: { ...host.pullsOptions, ...values },
      remote: host.remote,
      branch: null,
      home: 'https://git.example.org/people/list',
      pullPage: 'https://git.example.org/people/list/pull',
      baseUrl: 'https://bots.example.org',
      log,
      roundMs,
    });
    open.push(review);
    return review;
  }

  /** Ends the review, and begins another that knows nothing of it. */
  async function restart(): Promise<void> {
    await review.close();
    review = openReview();
  }

  async function send(
    values: Readonly<Record<string, unknown>> = { nsfw: true },
    text = note,
    proposer = author,
  ): Promise<Proposal> {
    const pages = new Map([[homerPath, mainPage(values)]]);
    return (await proposals.send({ subject: homer, proposer, pages, note: text })).proposal;
  }

  /** Sends it and brings it to the host. */
  async function submit(values?: Readonly<Record<string, unknown>>, text?: string): Promise<Proposal> {
    const proposal = await send(values, text);
    await rounds();
    return proposal;
  }

  /** Makes two rounds: what the first has done must be nothing to do for the second. */
  async function rounds(): Promise<void> {
    for (let i = 0; i < 2; i++) strictEqual(await review.round(), true, log.lines.join());
  }

  const find = (): Proposal | undefined => proposals.list.find(homer, author.id);
  const last = (): Proposal | undefined => proposals.list.listOf(author.id)[0];
  const branches = (): string =>
    host.shared.git('for-each-ref', '--format=%(refname)', 'refs/heads/proposals');
  const failure = (): string => review.failure?.message ?? '';
  const pull = (): TestPull => host.pulls.at(-1) as TestPull;

  /** Pushes a reviewer's commit on top of a branch. */
  function pushAsReviewer(): string {
    const { maintainer } = host.shared;
    maintainer.git('fetch', '-q', 'origin', branch);
    maintainer.git('switch', '-q', '--detach', 'FETCH_HEAD');
    const theirs = maintainer.commit({ 'README.md': 'Welcome' });
    maintainer.git('push', '-q', 'origin', `HEAD:${branch}`);
    return theirs;
  }

  afterEach(async () => {
    for (const one of open.splice(0).toReversed()) await one.close();
    ok(!log.lines.some((line) => line.includes(hostToken)));
  });

  for (const kind of ['github', 'gitlab', 'forgejo'] as const)
    describe(kind === 'github' ? 'at GitHub' : `at ${kind} @long`, () => {
      beforeEach(async () => await begin(kind));

      it('become pull requests whose texts nothing is done with, which follow what is sent again, and close when that is withdrawn', async () => {
        const proposal = await submit();
        strictEqual(pull().title, `Update Homer (${homer}): nsfw`);
        const quoted = `${author.name} \\(${author.id}\\)\\n\\n［skip ci］ Fixes ＃1[^]*`;
        match(pull().text, new RegExp(`\\n\`{4}text\\n${quoted}\\n\`{4}\\n`));
        match(pull().text, new RegExp(`Page: https://bots\\.example\\.org/bots/${homer}\\n`));
        strictEqual(host.shared.git('rev-parse', `${branch}^`), proposal.base);
        strictEqual(host.shared.git('diff', '--name-only', 'main', branch), homerPath);
        const message = host.shared.git('log', '-1', '--format=%B', branch);
        match(message, new RegExp(`^Update Homer.*\\n\\nBot: ${homer}\\nProposed-by: ${author.id}`));
        ok(!message.includes('#1'));
        strictEqual(review.findLink(proposal), 'https://git.example.org/people/list/pull/1');
        await restart();
        clone.git('gc', '-q', '--prune=now');
        await submit({ nsfw: true, website: 'https://homer.example' }, 'Now with a site.');
        match(pull().title, /nsfw, website|website, nsfw/);
        match(pull().text, /Now with a site\./);
        match(host.shared.git('show', `${branch}:${homerPath}`), /homer\.example/);
        strictEqual(host.pulls.length, 1);
        await proposals.withdraw(homer, author.id, find()?.version ?? '');
        await rounds();
        strictEqual(branches(), '');
      });

      it('of a bot itself say so', async () => {
        await proposals.sendPage({ id: homer, locale: 'en' as Locale, name: 'Homer', page: 'Text.' });
        await rounds();
        strictEqual(pull().title, `Update Homer (${homer}): page`);
        match(pull().text, /^Sent by the bot itself:/);
      });

      it('are declined when their pull request is closed, with a link to it, can be sent again, and are accepted when a reviewer has merged them with changes', async () => {
        await submit();
        await restart();
        host.end(pull());
        await rounds();
        const declined = last() as Proposal;
        const { state, text } = declined;
        deepStrictEqual([state, text], ['declined', 'https://git.example.org/people/list/pull/1']);
        strictEqual(review.findLink(declined), text);
        await submit({ website: 'https://homer.example' });
        await restart();
        await rounds();
        deepStrictEqual([host.pulls.length, find()?.state], [2, 'waiting']);
        const merge = host.shared.mergePullRequest((person) =>
          person.write(homerPath, mainPage({ nsfw: false })),
        );
        host.end(pull(), merge);
        host.shared.git('update-ref', '-d', branch);
        await rounds();
        strictEqual(find()?.state, 'waiting');
        clone.git('pull', '-q', '--ff-only');
        await rounds();
        deepStrictEqual([last()?.state, last()?.commit], ['accepted', merge]);
      });
    });

  describe('at any host', () => {
    beforeEach(async () => await begin('gitlab'));

    it('are brought there in the background as soon as they are sent', async () => {
      review = openReview(300_000);
      review.start();
      await send();
      await eventually(() => host.pulls.length === 1);
    });

    it('are accepted as their own commit where a merge made none @long', async () => {
      await submit();
      const theirs = pushAsReviewer();
      host.shared.git('update-ref', 'refs/heads/main', theirs);
      host.end(pull(), null);
      pull().head = theirs;
      await rounds();
      strictEqual(find()?.state, 'waiting');
      clone.git('pull', '-q', '--ff-only');
      await rounds();
      strictEqual(last()?.state, 'accepted');
    });

    it('are not decided by what was closed before they were sent, though the clock is set back @long', async () => {
      await submit();
      pushAsReviewer();
      await rounds();
      host.end(pull());
      host.shared.git('update-ref', '-d', branch);
      await submit({ website: 'https://homer.example' });
      await atTime(Date.now() - 3_600_000, rounds);
      deepStrictEqual([host.pulls.length, find()?.state], [2, 'waiting']);
    });

    it('are left to a reviewer who has pushed to their branch, and then hold up no others @long', async () => {
      await submit();
      const theirs = pushAsReviewer();
      await submit({ website: 'https://homer.example' });
      host.end(pull());
      await send({ nsfw: true });
      await send({ nsfw: true }, note, visitor);
      for (let i = 0; i < 2; i++) strictEqual(await review.round(), false);
      match(failure(), /has commits of a reviewer and no pull request: delete the branch on the host/);
      strictEqual(host.shared.git('rev-parse', branch), theirs);
      deepStrictEqual([host.pulls.length, pull().branch], [2, `proposals/${homer}-${visitor.id}`]);
    });

    it('are not decided by a pull request of a fork, whose branch has any name', async () => {
      await submit();
      const { branch, head } = pull();
      host.end(host.add(branch, { head, isOfFork: true }));
      await rounds();
      strictEqual(find()?.state, 'waiting');
    });

    it('are found again after a restart among many: a pushed branch without a pull request gets one, and no second @long', async () => {
      host.faults.push(
        (_, response) => response.end('[]'),
        (request) => request.socket.destroy(),
      );
      await send();
      strictEqual(await review.round(), false);
      deepStrictEqual([branches(), host.pulls.length], [branch, 0]);
      await restart();
      await rounds();
      strictEqual(host.pulls.length, 1);
      for (let i = 0; i < 45; i++) host.end(host.add(`other-${i}`));
      await restart();
      const { length } = host.requests;
      await rounds();
      ok(review.findLink(find() as Proposal));
      strictEqual(host.pulls.length, 46);
      // Four pages with an empty one at their end, and then what is new.
      deepStrictEqual(
        host.requests.slice(length).map((line) => line.replace(/.*&/, '')),
        ['page=1', 'page=2', 'page=3', 'page=4', 'page=1'],
      );
    });

    it('wait while the host refuses, and the operator is told why', async () => {
      let limited = Number.POSITIVE_INFINITY;
      host.faults.push((_, response) => {
        limited = Date.now() + 500;
        response
          .writeHead(403, { 'Retry-After': '0.5' })
          .end(JSON.stringify({ message: `API rate limit exceeded for ${hostToken}` }));
      });
      review = openReview(50);
      review.start();
      await send();
      await eventually(() => /rate limit exceeded for …/.test(failure()));
      await eventually(() => host.requests.length > 1);
      ok(Date.now() >= limited);
      await eventually(() => host.pulls.length === 1);
      await eventually(() => review.failure === null);
      ok(log.lines.some((line) => line.startsWith('error: the Git host does not have all proposals: GET')));
      ok(log.lines.includes('info: the Git host has all proposals again'));
    });

    it('are retried after what is slow, reset, too large, no JSON, a redirect, a failure of the host or a refused token @long', async () => {
      const faults: readonly [RegExp, (typeof host.faults)[number]][] = [
        [/timeout/, () => {}],
        [/./, (request) => request.socket.destroy()],
        [/more than 8388608 bytes/, (_, response) => response.end(`["${'x'.repeat(8_388_608)}"]`)],
        [/./, (_, response) => response.end('<html>')],
        [/./, (_, response) => response.writeHead(307, { Location: `${host.pullsOptions.root}/else` }).end()],
        [/./, (_, response) => response.writeHead(503, { 'Retry-After': '1' }).end()],
        [/./, (_, response) => response.writeHead(404).end('{"message":"Not Found"}')],
        [/401 .*Bad one/, (_, response) => response.writeHead(401).end('{"message":"Bad one"}')],
      ];
      await send();
      for (const [i, [reason, fault]] of faults.entries()) {
        review = openReview(0, i === 0 ? { timeoutMs: 500 } : {});
        host.faults.push(fault);
        strictEqual(await review.round(), false);
        match(failure(), reason);
      }
      ok(!JSON.stringify(review.failure).includes(hostToken));
      deepStrictEqual([host.faults, host.pulls], [[], []]);
      host.server.mode = 'cut';
      strictEqual(await review.round(), false);
      host.server.mode = 'serve';
      await rounds();
      deepStrictEqual([host.pulls.length, review.failure], [1, null]);
      ok(!host.requests.some((line) => line.includes('/else')));
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
      review = openReview(50, { root: `http://127.0.0.1:${port}` });
      review.start();
      await send();
      await eventually(() => begun === 1);
      await send({ website: 'https://homer.example' });
      strictEqual(ended, 0, 'the first request is still waiting');
      await review.close();
      await eventually(() => ended === 1);
    });
  });
});
