import { setTimeout as sleep } from 'node:timers/promises';
import { writeCommit } from '../git/commit/fast-import.ts';
import { readTreeId } from '../git/history.ts';
import type { GitHost } from '../git/hosts.ts';
import { maxStallSeconds } from '../git/process/settings.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { type Failure, FailureLog } from '../lib/failure-log.ts';
import type { Log } from '../lib/log.ts';
import { computeBackoff } from '../lib/retry.ts';
import { describeRemoteError } from '../sync/remote-error.ts';
import { fetchCommit, listRefs, pushRemote, type Remote } from '../sync/remote.ts';
import { type GitHubOptions, GitHubPulls } from './github-pulls.ts';
import { type HostEvent, readHostEvent } from './host-event.ts';
import { describeChange, mergeProposal } from './merge-proposal.ts';
import { type Proposal, toText } from './proposal.ts';
import { ProposalError } from './proposal-error.ts';
import type { HostDecision, Proposals } from './proposals.ts';
import { toSubjectPath } from './subject.ts';

export interface HostReviewOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly proposals: Proposals;
  readonly host: GitHost;
  /** The remote, as git takes it, and the short name of the branch there. */
  readonly remote: string;
  readonly branch: string;
  /** The address of the repository's page at the host. */
  readonly home: string;
  /** Null at a host that is used by git alone. */
  readonly github: Omit<GitHubOptions, 'signal'> | null;
  /** The public address of the service. */
  readonly baseUrl: string;
  readonly log: Log;
  /** Seconds after which an open proposal is looked at again; 300 by default. */
  readonly followSeconds?: number;
}

/** A proposal, and what is known of it at the host. That is found again from the remote after a restart. */
interface Entry {
  readonly proposal: Proposal;
  /** The commit of its pull request, and the title. */
  readonly commit: string;
  readonly title: string;
  /** Of its pull request; null where none was seen yet. */
  number: number | null;
  /** The last comment that an event had, and what an event said was decided. */
  comment: HostEvent | null;
  decision: HostDecision | null;
  /** When it is looked at again, by `performance.now()`, as a clock may be set back. */
  dueAt: number;
}

/** What the host has of a proposal. */
interface Seen {
  /** The commit that its pull request, or the branch of it, is at; undefined where there is neither. */
  readonly head: string | undefined;
  /** Whether that commit is a reviewer's. */
  readonly isReviewers: boolean;
  /** Whether the branch, if there is one, has no pull request, or one that was closed before the proposal was sent. */
  readonly lacksPull: boolean;
  readonly decision: HostDecision | null;
}

type HostStep =
  | { readonly kind: 'wait' | 'submit' | 'end' }
  | { readonly kind: 'take'; readonly decision: HostDecision };

/** Returns what is to be done about a proposal at the host. */
function planHostStep({ proposal: { state, text, closedAt }, commit }: Entry, seen: Seen): HostStep {
  const { decision, isReviewers } = seen;
  const isPresent = seen.head === commit;
  if (closedAt !== null) return { kind: isPresent ? 'end' : 'wait' };
  // What was decided about a former version is not about this one.
  if (decision !== null && (isPresent || isReviewers))
    return decision.state === state && decision.text === text ? { kind: 'wait' } : { kind: 'take', decision };
  const isMissing = seen.lacksPull || (!isPresent && !isReviewers);
  return { kind: state === 'waiting' && isMissing ? 'submit' : 'wait' };
}

/**
 * Has proposals reviewed at the Git host: each that waits becomes a pull request with one commit, and what is decided about
 * it there is taken over. One loop, apart from all requests, compares the proposals with the remote's refs; what fails is
 * retried, later each time. There is no store beside the refs: the same proposal is always the same commit.
 */
export class HostReview {
  /** The address of the repository's page at the host. */
  readonly home: string;
  readonly #options: HostReviewOptions;
  readonly #followMs: number;
  /** Between two rounds, and after each push. */
  readonly #pauseMs: number;
  readonly #abort = new AbortController();
  readonly #remote: Remote;
  readonly #pulls: GitHubPulls | null;
  readonly #failures: FailureLog;
  /** Ref of a proposal → what is known of it. */
  #entries: ReadonlyMap<string, Entry> = new Map();
  #wake = (): void => {};
  #running: Promise<void> | undefined;

  constructor(options: HostReviewOptions) {
    const { home, github, remote: address, log, proposals, followSeconds = 300 } = options;
    const { signal } = this.#abort;
    this.home = home;
    this.#options = options;
    this.#followMs = followSeconds * 1000;
    this.#pauseMs = Math.min(minPauseMs, this.#followMs);
    this.#remote = { address, stallSeconds: maxStallSeconds, signal };
    this.#pulls = github && new GitHubPulls({ ...github, signal });
    this.#failures = new FailureLog({
      log,
      failed: (message) =>
        `the Git host does not have all proposals: ${message}. They are safe in this clone, retrying in the background`,
      ended: 'the Git host has all proposals again',
    });
    proposals.subscribe(() => this.#wake());
  }

  /** What does not work at the host; null where all does. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** Starts the rounds. */
  start(): void {
    this.#running = this.#run();
  }

  /** Returns the address of the pull request of an open proposal; undefined where it has none yet. */
  findLink({ ref }: Pick<Proposal, 'ref'>): string | undefined {
    const number = this.#entries.get(ref)?.number ?? null;
    return number === null ? undefined : `${this.home}/${this.#options.host.pull}/${number}`;
  }

  /** Takes an event of the host's webhook; GitHub is asked what has happened. @param body of a genuine call */
  receive(body: Buffer): void {
    const event = readHostEvent(body);
    for (const entry of this.#entries.values()) {
      if (entry.number === null || entry.number !== event.number) continue;
      entry.dueAt = 0;
      if (event.text !== '') entry.comment = event;
      // Anybody may comment: the reason is what the one who has closed it wrote.
      const text = (entry.comment?.by === event.by && entry.comment?.text) || '';
      if (event.outcome !== null) entry.decision = { ...event.outcome, text };
    }
    this.#wake();
  }

  /** Stops. What is not at the host yet is brought there after the next start. */
  async close(): Promise<void> {
    this.#abort.abort();
    this.#wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    for (let failed = 0; !signal.aborted;) {
      const woken = new Promise<void>((resolve) => (this.#wake = resolve));
      const isDone = await this.round();
      failed = isDone ? 0 : failed + 1;
      const asked = (this.#pulls?.retryAt ?? 0) - performance.now();
      const backoff = computeBackoff(failed, this.#pauseMs, this.#followMs);
      const pauseMs = isDone ? this.#pauseMs : Math.max(asked, backoff);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (failed === 0)
        await Promise.race([woken, sleep(Math.min(roundMs, this.#followMs), undefined, { ref: false })]);
    }
  }

  /** Brings what is due to the host, and returns whether all of it is there. */
  async round(): Promise<boolean> {
    try {
      await this.#runRound();
      this.#failures.end();
      return true;
    } catch (error) {
      // What fetch throws says nothing; its cause does.
      const cause = (error instanceof TypeError && error.cause) || error;
      if (!this.#abort.signal.aborted) this.#failures.add(error, describeRemoteError(cause));
      return false;
    }
  }

  /** Brings what is due to the host. @throws {Error} the first failure; the proposal is the last one of the next round */
  async #runRound(): Promise<void> {
    const { proposals, repositoryOpener, host } = this.#options;
    // Behind the step that is being made: a proposal that is published at once is never seen open.
    await proposals.load();
    await proposals.closeAccepted();
    const { open } = proposals;
    const closed = proposals.listClosedSince(0);
    const repository = await repositoryOpener.open();
    const patterns = ['refs/heads/proposals/*', `${host.pullRefs}*/head`];
    const refs = await listRefs(repository, patterns, this.#remote);
    const ended = closed.filter((proposal) =>
      // A push cannot close it there: it becomes empty instead.
      host.review === 'agit'
        ? proposal.state === 'withdrawn'
        : refs.has(`refs/heads/${toBranch(proposal)}`) &&
          !proposals.find(proposal.subject, proposal.proposer.id),
    );
    const entries: Entry[] = [];
    let failure: unknown;
    for (const proposal of [...ended, ...open])
      await this.#describe(repository, proposal).then(
        (entry) => entries.push(entry),
        (error: unknown) => (failure ??= error),
      );
    this.#entries = new Map(entries.map((entry) => [entry.proposal.ref, entry]));
    for (const entry of entries.toSorted((a, b) => a.dueAt - b.dueAt)) {
      if (entry.dueAt > performance.now()) break;
      entry.dueAt = performance.now() + this.#followMs;
      await this.#bring(repository, entry, refs).catch((error: unknown) => {
        entry.dueAt = performance.now();
        throw error;
      });
    }
    if (failure !== undefined) throw failure;
  }

  /** Writes the commit of a pull request. The note is not in its message, where a host could act on what it says. */
  async #describe(repository: Repository, proposal: Proposal): Promise<Entry> {
    const { ref, subject, proposer, base, sentAt, version } = proposal;
    const known = this.#entries.get(ref);
    if (known?.proposal.version === version) return known;
    const merged = await mergeProposal(repository, base, proposal);
    const message = describeChange(subject, merged, [`Proposed-by: ${proposer.id}`], toInert);
    const tree = (await readTreeId(repository, version)) ?? '';
    const committer = `${repository.identity} ${Math.floor(sentAt / 1000)} +0000`;
    const parents = [base];
    const commit = await writeCommit(repository, { parents, tree, files: new Map(), message, committer });
    const title = message.slice(0, message.indexOf('\n')).slice(0, maxTitleLength);
    const number = known?.number ?? null;
    return { proposal, commit, title, number, comment: null, decision: null, dueAt: 0 };
  }

  async #bring(repository: Repository, entry: Entry, refs: ReadonlyMap<string, string>): Promise<void> {
    const { host, branch: target, baseUrl, proposals } = this.#options;
    const { proposal, commit, title } = entry;
    const pulls = this.#pulls;
    const branch = toBranch(proposal);
    const at = refs.get(`refs/heads/${branch}`);
    const pull = pulls && (await pulls.find(branch, proposal.sentAt));
    const numbers = [...refs]
      .filter(([ref, id]) => ref.startsWith(host.pullRefs) && (id === commit || id === at))
      .map(([ref]) => Number.parseInt(ref.slice(host.pullRefs.length), 10));
    // Anybody may make another one of the same commit later: the lowest number is ours.
    entry.number = pull?.number ?? numbers.toSorted((a, b) => a - b)[0] ?? entry.number;
    const head = at ?? pull?.head ?? refs.get(`${host.pullRefs}${entry.number}/head`);
    const decision = pulls === null ? entry.decision : (pull?.decision ?? null);
    const step = planHostStep(entry, {
      head,
      isReviewers: head !== undefined && !(await isOwnCommit(repository, head, this.#remote)),
      lacksPull: pulls !== null && pull === null,
      decision: decision && { ...decision, text: toText(decision.text) },
    });
    const texts = { title, body: formatBody(proposal, baseUrl + toSubjectPath(proposal.subject)) };
    const open = pull?.isOpen === true ? pull.number : null;
    const push = async (pushed: string | null): Promise<void> => {
      const options = pushOptions[host.review]({ ...texts, branch, target, isKnown: entry.number !== null });
      const change =
        host.review === 'agit'
          ? { ref: `refs/for/${target}`, commit: pushed ?? proposal.base }
          : { ref: `refs/heads/${branch}`, commit: pushed, lease: at ?? '' };
      await pushRemote(repository, [change], this.#remote, change.commit === null ? [] : options);
    };
    switch (step.kind) {
      case 'take': {
        const { commit: merged } = step.decision;
        // The commit may not be here yet, and the proposal may have been sent again or withdrawn since.
        if (merged === null || (await repository.objects.has(merged)))
          await proposals.decideAtHost(proposal, step.decision).catch(ignoreProposalError);
        break;
      }
      case 'submit':
        if (open !== null) await pulls?.write(open, texts);
        await push(commit);
        if (pulls && open === null)
          entry.number = await pulls.write(null, { ...texts, head: branch, base: target });
        await sleep(this.#pauseMs, undefined, { signal: this.#abort.signal });
        break;
      case 'end':
        if (open !== null) await pulls?.write(open, { state: 'closed' });
        await push(null);
        break;
      case 'wait':
        if (head === commit && entry.number === null && Date.now() - proposal.sentAt > maxUnseenMs)
          throw new Error(`it has made no pull request of ${branch}: delete that branch there`);
    }
    // The host may make the ref of a push later, and events are told by its number.
    if (pulls === null && entry.number === null) entry.dueAt = 0;
  }
}

/** Returns whether a commit at the remote is one that a service has made. Git here has pruned older ones. */
async function isOwnCommit(repository: Repository, id: string, remote: Remote): Promise<boolean> {
  if (!(await repository.objects.has(id))) await fetchCommit(repository, id, remote);
  const commit = await repository.objects.readOne(id);
  return commit?.content.includes(`\ncommitter ${repository.identity} `) ?? false;
}

function ignoreProposalError(error: unknown): void {
  if (!(error instanceof ProposalError)) throw error;
}

/**
 * The options of a push that makes a pull request or updates it. GitLab's are in
 * https://docs.gitlab.com/topics/git/commit/#push-options-for-merge-requests; it reads `\n` in a description as a line
 * break. Those of Forgejo and Gitea are in https://forgejo.org/docs/latest/user/agit-support/; a value with line breaks is
 * in Base64. They refuse to replace a commit without `force-push`: one that was not seen before may be a reviewer's.
 */
const pushOptions: Readonly<Record<GitHost['review'], (pull: PushedPull) => readonly string[]>> = {
  rest: () => [],
  'push-options': ({ target, title, body }) => [
    'merge_request.create',
    `merge_request.target=${target}`,
    `merge_request.title=${title}`,
    `merge_request.description=${body.replaceAll('\\n', '\\ n').replaceAll('\n', '\\n')}`,
    'merge_request.label=proposal',
  ],
  agit: ({ branch, title, body, isKnown }) => [
    `topic=${branch}`,
    `title=${title}`,
    `description={base64}${Buffer.from(body).toString('base64')}`,
    ...(isKnown ? ['force-push=true'] : []),
  ],
};

interface PushedPull extends Record<'branch' | 'target' | 'title' | 'body', string> {
  readonly isKnown: boolean;
}

/** Returns the branch at the remote for a proposal. */
function toBranch({ subject, proposer }: Proposal): string {
  return `proposals/${subject}-${proposer.id}`;
}

/** Returns the description of a pull request. What people wrote is in a block of code, where a host acts on no word of it. */
function formatBody({ proposer, text }: Proposal, address: string): string {
  const quoted = toText(`${proposer.name} (${proposer.id})\n\n${text}`);
  const fence = '`'.repeat(Math.max(2, ...[...quoted.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  const block = `${fence}text\n${quoted}\n${fence}`;
  return `Proposed on the site, with this note for the reviewers:\n\n${block}\n\nPage: ${address}\n\n${advice}`;
}

const advice = 'Merge it to accept the proposal. To decline it, say why in a comment and close it.';

/** Returns a name in which a host finds no mention, address or number of an issue: a merged `Fixes #1` would close it. */
function toInert(name: string): string {
  const fullWidthOffset = 0xfee0;
  return name.replace(/[@#:]|(?<=gh)-/gi, (c) => String.fromCharCode(c.charCodeAt(0) + fullWidthOffset));
}

/** Hosts refuse longer titles, which have a name of 64 characters and keys. */
const maxTitleLength = 250;

/** Milliseconds between two rounds, at least and at most. */
const minPauseMs = 1000;
const roundMs = 30_000;

/** Milliseconds until the host has made a ref of a push, at most. */
const maxUnseenMs = 600_000;
