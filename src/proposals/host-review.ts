import { setTimeout as sleep } from 'node:timers/promises';
import { formatCommitMessage } from '../bot/commit-message.ts';
import { writeCommit } from '../git/commit/fast-import.ts';
import { readTreeId } from '../git/history.ts';
import type { GitHost } from '../git/hosts.ts';
import { readRef } from '../git/refs.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { type Failure, FailureLog } from '../lib/failure-log.ts';
import type { Log } from '../lib/log.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { describeRemoteError } from '../sync/remote-error.ts';
import { listRefs, pushRemote, type Remote, remoteRefs } from '../sync/remote.ts';
import { Schedule } from '../sync/schedule.ts';
import { type GitHubPulls, HostError, type PullRequest } from './github-pulls.ts';
import { type HostEvent, readHostEvent } from './host-event.ts';
import { describeChange, mergeProposal } from './merge-proposal.ts';
import { type Proposal, toText } from './proposal.ts';
import { ProposalError } from './proposal-error.ts';
import { type HostDecision, maxNoteLength, type Proposals } from './proposals.ts';

export interface HostReviewOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly proposals: Proposals;
  readonly host: GitHost;
  /** The remote, as git takes it, and the branch there; null is the one of the name that is checked out here. */
  readonly remote: string;
  readonly branch: string | null;
  /** The address of the repository's page at the host. */
  readonly home: string;
  /** Null at a host that is used by git alone. */
  readonly pulls: GitHubPulls | null;
  /** The public address of the service. */
  readonly baseUrl: string;
  readonly log: Log;
  /** Seconds after which an open proposal is looked at again; 300 by default. */
  readonly followSeconds?: number;
}

/** What is known of an open proposal at the host. It is found again from the remote's refs after a restart. */
interface Entry {
  readonly version: string;
  readonly commit: string;
  readonly title: string;
  /** Of its pull request; null where none was seen yet. */
  number: number | null;
  /** The state of the pull request that was read last. */
  etag: string | null;
  /** The last comment that an event had, and what an event said was decided. */
  comment: HostEvent | null;
  decision: HostDecision | null;
  isSent: boolean;
  /** When it is looked at again; milliseconds since the epoch. */
  dueAt: number;
}

/** The remote's refs. */
interface Listing {
  /** Ref → commit. */
  readonly refs: ReadonlyMap<string, string>;
  /** The commit of a pull request → its number. */
  readonly numbers: ReadonlyMap<string, number>;
}

/**
 * Has proposals reviewed at the Git host: each that waits becomes a pull request with one commit, and what is decided about
 * it there is taken over. It works in rounds, apart from all requests; what fails is retried, later each time. There is no
 * store beside the refs: the same proposal is always the same commit, which is looked for at the remote.
 */
export class HostReview {
  readonly #options: HostReviewOptions;
  readonly #followMs: number;
  readonly #abort = new AbortController();
  readonly #queue = new SerialQueue();
  readonly #schedule: Schedule;
  readonly #failures: FailureLog;
  /** Ref of an open proposal → what is known of it. */
  readonly #entries = new Map<string, Entry>();
  /** Refs of closed proposals of which nothing is left to do at the host. */
  readonly #ended = new Set<string>();
  #failedRounds = 0;
  #notBefore = 0;

  constructor(options: HostReviewOptions) {
    this.#options = options;
    this.#followMs = (options.followSeconds ?? 300) * 1000;
    this.#failures = new FailureLog({
      log: options.log,
      failed: (message) =>
        `the Git host does not have all proposals: ${message}. They are safe in this clone, retrying in the background`,
      ended: 'the Git host has all proposals again',
    });
    const round = async (): Promise<void> => await this.#runScheduled();
    this.#schedule = new Schedule({ syncSeconds: 0, pushSeconds: 0 }, () => void this.#queue.run(round));
    options.proposals.subscribe(() => this.#schedule.runIn(gatherMs));
  }

  /** The address of the repository's page at the host. */
  get home(): string {
    return this.#options.home;
  }

  /** What does not work at the host; null where all does. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** Starts the rounds. */
  start(): void {
    this.#schedule.runIn(0);
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
      if (this.#options.pulls !== null) continue;
      if (event.kind === 'commented') entry.comment = event;
      if (event.kind === 'merged') entry.decision = { state: 'accepted', text: '', commit: event.commit };
      // Anybody may comment: the reason is what the one who has closed it wrote.
      const text = (entry.comment?.by === event.by && entry.comment?.text) || '';
      if (event.kind === 'closed') entry.decision = { state: 'declined', text, commit: null };
    }
    this.#schedule.runIn(minPauseMs);
  }

  /** Stops. What is not at the host yet is brought there after the next start. */
  async close(): Promise<void> {
    this.#schedule.stop();
    this.#abort.abort();
    this.#options.pulls?.close();
    await this.#queue.run(async () => {});
  }

  async #runScheduled(): Promise<void> {
    const waitMs = this.#notBefore - Date.now();
    if (waitMs > 0) this.#schedule.runIn(waitMs);
    if (waitMs > 0 || this.#abort.signal.aborted) return;
    try {
      await this.#runRound();
      this.#failures.end();
      this.#failedRounds = 0;
      const due = Math.min(...[...this.#entries.values()].map(({ dueAt }) => dueAt - Date.now()));
      this.#schedule.runIn(Math.max(minPauseMs, Math.min(due, this.#followMs)));
    } catch (error) {
      if (this.#abort.signal.aborted) return;
      this.#failures.add(error, describeRemoteError(error));
      const asked = error instanceof HostError ? (error.retryAfterMs ?? 0) : 0;
      const delayMs = Math.max(asked, Math.min(1000 * 2 ** this.#failedRounds++, this.#followMs));
      this.#notBefore = Date.now() + delayMs;
      this.#schedule.runIn(delayMs);
    }
  }

  /** Brings what is due to the host. @throws {Error} the first failure; one of a single proposal stops no other */
  async #runRound(): Promise<void> {
    const { proposals, repositoryOpener } = this.#options;
    // Behind the step that is being made: a proposal that is published at once is never seen open.
    await proposals.load();
    await proposals.closeAccepted();
    const { open } = proposals;
    const closed = proposals.listClosedSince(0);
    const refs = new Set(open.map(({ ref }) => ref));
    for (const ref of this.#entries.keys()) if (!refs.has(ref)) this.#entries.delete(ref);
    const repository = await repositoryOpener.open();
    const listing = await this.#list(repository);
    const due = open.filter(({ ref, version }) => {
      const known = this.#entries.get(ref);
      return known?.version !== version || known.dueAt <= Date.now();
    });
    const failures: unknown[] = [];
    for (const proposal of due.slice(0, maxPerRound)) {
      const known = this.#entries.get(proposal.ref);
      const entry =
        known?.version === proposal.version ? known : await this.#describe(repository, proposal, known);
      this.#entries.set(proposal.ref, entry);
      entry.dueAt = Date.now() + this.#followMs;
      try {
        await this.#bring(repository, proposal, entry, listing);
      } catch (error) {
        failures.push(error);
        entry.dueAt = 0;
        const isGeneral = error instanceof HostError && error.retryAfterMs !== null;
        if (isGeneral || this.#abort.signal.aborted) break;
      }
    }
    if (failures.length === 0) await this.#endClosed(repository, closed, listing);
    for (const failure of failures) throw failure;
  }

  async #list(repository: Repository): Promise<Listing> {
    const { pullRefs } = this.#options.host;
    const target = `refs/heads/${this.#target(repository)}`;
    const refs = await listRefs(
      repository,
      [target, 'refs/heads/proposals/*', `${pullRefs}*/head`],
      this.#remote,
    );
    const numbers = [...refs]
      .filter(([ref]) => ref.startsWith(pullRefs))
      .map(([ref, commit]) => [commit, Number.parseInt(ref.slice(pullRefs.length), 10)] as const);
    // Anybody may make another one of the same commit later: the lowest number is ours.
    return { refs, numbers: new Map(numbers.toSorted(([, a], [, b]) => b - a)) };
  }

  /** Writes the commit of a pull request. The note is not in its message, where a host could act on what it says. */
  async #describe(repository: Repository, proposal: Proposal, known?: Entry): Promise<Entry> {
    const { bot, proposer, base, sentAt, version } = proposal;
    const change = describeChange(bot, await mergeProposal(repository, base, proposal));
    const edited = { ...change, name: toInert(change.name) };
    const message = formatCommitMessage([edited], [`Proposed-by: ${proposer.id}`]);
    const tree = (await readTreeId(repository, version)) ?? '';
    const committer = `${repository.identity} ${Math.floor(sentAt / 1000)} +0000`;
    const commit = await writeCommit(repository, {
      parents: [base],
      tree,
      files: new Map(),
      message,
      committer,
    });
    const fresh = { number: null, etag: null, comment: null, decision: null, isSent: false };
    const title = message.slice(0, message.indexOf('\n')).slice(0, maxTitleLength);
    return { ...(known?.commit === commit ? known : fresh), version, commit, title, dueAt: 0 };
  }

  async #bring(repository: Repository, proposal: Proposal, entry: Entry, listing: Listing): Promise<void> {
    const { host, pulls } = this.#options;
    const { refs, numbers } = listing;
    const branch = refs.get(`refs/heads/${toBranch(proposal)}`);
    const own = numbers.get(entry.commit);
    entry.number = own ?? numbers.get(branch ?? '') ?? entry.number;
    const isWaiting = proposal.state === 'waiting';
    const isPushed = branch === entry.commit || own !== undefined || (host.review === 'agit' && entry.isSent);
    // Commits that are not known here are those of a reviewer, and stay.
    const isOurs = branch === undefined || (await repository.objects.has(branch));
    if (entry.decision !== null) {
      if (await this.#take(repository, proposal, entry.decision)) entry.decision = null;
    } else if (isWaiting && !isPushed && isOurs) {
      await this.#submit(repository, proposal, entry, branch ?? '');
    } else if (pulls !== null && entry.number !== null) {
      // Until the host has made refs of a push, the number is that of the pull request before.
      const heads = [entry.commit, branch];
      const { etag, decision } = await pulls.read(entry.number, heads, entry.etag);
      if (decision === null || (await this.#take(repository, proposal, decision))) entry.etag = etag;
    } else if (pulls !== null && isWaiting && isPushed) {
      await this.#submit(repository, proposal, entry, null);
    } else if (host.review === 'push-options' && own !== undefined && branch === undefined) {
      // Where the branch was merged, the merge may not be here yet.
      const tip = refs.get(`refs/heads/${this.#target(repository)}`);
      if (tip === (await readRef(repository, remoteRefs.branch)))
        await this.#take(repository, proposal, { state: 'declined', text: '', commit: null });
    } else if (host.review === 'push-options' && own === undefined && isWaiting && isPushed) {
      if (Date.now() - proposal.sentAt > maxUnseenMs)
        throw new Error(`it has made no merge request of ${toBranch(proposal)}: delete that branch there`);
    }
  }

  /** Makes a pull request of a proposal, or updates it. @param lease where its branch is; null where it is pushed */
  async #submit(
    repository: Repository,
    proposal: Proposal,
    entry: Entry,
    lease: string | null,
  ): Promise<void> {
    const { pulls, baseUrl } = this.#options;
    const body = formatBody(proposal, `${baseUrl}/bots/${proposal.bot}`);
    const target = this.#target(repository);
    const pull = { branch: toBranch(proposal), target, title: entry.title, body };
    const push = async (): Promise<void> => {
      if (lease !== null) await this.#push(repository, pull, entry.commit, lease);
    };
    await (pulls === null ? push() : pulls.submit(pull, push));
    entry.isSent = true;
    entry.dueAt = Date.now() + Math.min(settleMs, this.#followMs);
    await sleep(pauseMs, undefined, { signal: this.#abort.signal });
  }

  /** @param commit null to delete the branch */
  async #push(
    repository: Repository,
    pull: PullRequest,
    commit: string | null,
    lease: string,
  ): Promise<void> {
    const { review } = this.#options.host;
    const isAgit = review === 'agit';
    const ref = isAgit ? `refs/for/${pull.target}` : `refs/heads/${pull.branch}`;
    const options = commit === null ? [] : pushOptions[review](pull);
    await pushRemote(repository, [{ ref, commit, ...(!isAgit && { lease }) }], this.#remote, options);
  }

  /** Closes the pull requests of proposals that had ended before the remote was listed, and deletes their branches. */
  async #endClosed(
    repository: Repository,
    closed: readonly Proposal[],
    { refs, numbers }: Listing,
  ): Promise<void> {
    const { proposals, pulls, host } = this.#options;
    for (const proposal of closed) {
      const { ref, bot, proposer, base, state } = proposal;
      const branch = toBranch(proposal);
      const at = refs.get(`refs/heads/${branch}`);
      // A push cannot close it there: it becomes empty instead.
      const isEmptied = host.review === 'agit' && state === 'withdrawn';
      if (this.#ended.has(ref) || proposals.find(bot, proposer.id) || !(isEmptied || at !== undefined))
        continue;
      const { commit, title } = await this.#describe(repository, proposal);
      const target = this.#target(repository);
      const pull = { branch, target, title, body: '' };
      const number = numbers.get(commit);
      if (isEmptied && number !== undefined) await this.#push(repository, pull, base, '');
      if (at === commit && state !== 'accepted' && number !== undefined) await pulls?.end(number);
      if (at === commit) await this.#push(repository, pull, null, commit);
      this.#ended.add(ref);
    }
  }

  /** Takes a decision over. Returns whether it is done with: the commit that it names may not be here yet. */
  async #take(repository: Repository, proposal: Proposal, decision: HostDecision): Promise<boolean> {
    const text = toText(decision.text).slice(0, maxNoteLength);
    if (decision.state === proposal.state && text === proposal.text) return true;
    if (decision.commit !== null && !(await repository.objects.has(decision.commit))) return false;
    try {
      await this.#options.proposals.decideAtHost(proposal, { ...decision, text });
    } catch (error) {
      // It was sent again or withdrawn since.
      if (!(error instanceof ProposalError)) throw error;
    }
    return true;
  }

  #target(repository: Repository): string {
    return this.#options.branch ?? repository.branch().replace('refs/heads/', '');
  }

  get #remote(): Remote {
    return { address: this.#options.remote, timeLimit: gitSeconds, signal: this.#abort.signal };
  }
}

/**
 * The options of a push that makes a pull request or updates it. GitLab's are in
 * https://docs.gitlab.com/topics/git/commit/#push-options-for-merge-requests; it reads `\n` in a description as a line
 * break. Those of Forgejo and Gitea are in https://forgejo.org/docs/latest/user/agit-support/; a value with line breaks is
 * in Base64.
 */
const pushOptions: Readonly<Record<GitHost['review'], (pull: PullRequest) => readonly string[]>> = {
  rest: () => [],
  'push-options': ({ target, title, body }) => [
    'merge_request.create',
    `merge_request.target=${target}`,
    `merge_request.title=${title}`,
    `merge_request.description=${body.replaceAll('\\n', '\\ n').replaceAll('\n', '\\n')}`,
    'merge_request.label=proposal',
  ],
  agit: ({ branch, title, body }) => [
    `topic=${branch}`,
    `title=${title}`,
    `description={base64}${Buffer.from(body).toString('base64')}`,
    'force-push=true',
  ],
};

/** Returns the branch at the remote for a proposal. */
function toBranch({ bot, proposer }: Proposal): string {
  return `proposals/${bot}-${proposer.id}`;
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

/** Proposals that are looked at in a round. */
const maxPerRound = 50;

/** Seconds after which a git command that connects to the remote is killed. */
const gitSeconds = 120;

/** Milliseconds after a step until the next round. */
const gatherMs = 50;

/** Milliseconds between two rounds, and between two requests that change something, as GitHub asks for. */
const minPauseMs = 1000;
const pauseMs = 1000;

/** Milliseconds until the host has made refs of a push, as a rule and at most. */
const settleMs = 5000;
const maxUnseenMs = 600_000;
