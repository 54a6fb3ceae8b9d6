import { setTimeout as sleep } from 'node:timers/promises';
import { toInert } from '../bot/commit-message.ts';
import { writeCommit } from '../git/commit-files.ts';
import { type GitHostId, gitHosts, guessGitHost, readKeys, type RemotePlace } from '../git/hosts.ts';
import { maxStallSeconds } from '../git/run-git.ts';
import { readTreeId } from '../git/trees.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { BotshelfError, UserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { createBoundedFetch } from '../lib/network.ts';
import { type Failure, FailureLog, computeBackoff } from '../lib/retry.ts';
import { describeRemoteError, fetchCommit, listRemoteRefs, pushRemote, type Remote } from '../sync/remote.ts';
import { describeChange, mergeProposal } from './merged-proposal.ts';
import { parseRetryAfter } from './notifications.ts';
import { isSentByBot, ProposalError, type Proposal, toText, toSubjectPath } from './proposal.ts';
import type { HostDecision, Proposals } from './proposals.ts';

interface HostReviewOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly proposals: Proposals;
  readonly pulls: HostPullsOptions;
  /** The URL of the remote, as git accepts it. */
  readonly remote: string;
  /** The short name of the branch there; null for the name of the checked-out branch. */
  readonly branch: string | null;
  /** The address of the repository's page at the host, and the address of a pull request before its number. */
  readonly home: string;
  readonly pullPage: string;
  /** The public address of the service. */
  readonly baseUrl: string;
  readonly log: Log;
  /** Milliseconds between rounds; 60 s by default. */
  readonly roundMs?: number;
}

/** The state of a proposal at the host. */
interface Entry {
  readonly proposal: Proposal;
  /** The commit and the title of its pull request. */
  readonly commit: string;
  readonly title: string;
  /** When sending to the host last failed, by `performance.now()`; 0 by default. */
  failedAt: number;
}

/**
 * Sends proposals to the Git host for review. Each waiting proposal becomes a branch with one commit and a pull
 * request; the decision made there is applied here. One loop, separate from all requests, compares the proposals with
 * the remote's branches and the host's pull requests; failures are retried with growing delays. Nothing else is
 * stored: the same proposal is always the same commit.
 */
export class HostReview {
  /** The address of the repository's page at the host. */
  readonly home: string;
  readonly #options: HostReviewOptions;
  readonly #roundMs: number;
  /** The pause between rounds, and after each push. */
  readonly #pauseMs: number;
  readonly #abort = new AbortController();
  readonly #pulls: HostPulls;
  readonly #failures: FailureLog;
  /** Ref of a proposal → its state at the host. */
  #entries: ReadonlyMap<string, Entry> = new Map();
  #running: Promise<void> | undefined;
  /** Starts a round soon. */
  wake = (): void => {};

  constructor(options: HostReviewOptions) {
    const { home, pulls, log, proposals, roundMs = 60_000 } = options;
    this.home = home;
    this.#options = options;
    this.#roundMs = roundMs;
    this.#pauseMs = Math.min(minPauseMs, roundMs);
    this.#pulls = new HostPulls(pulls, this.#abort.signal);
    this.#failures = new FailureLog({
      log,
      failed: (message) =>
        `the Git host does not have all proposals: ${message}. They are safe in this clone, retrying in the background`,
      ended: 'the Git host has all proposals again',
    });
    proposals.subscribe(() => this.wake());
  }

  /** The problem at the host; null if everything works. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  start(): void {
    this.#running = this.#run();
  }

  /** Returns the address of a proposal's pull request; undefined if there was no such request yet. */
  findLink(proposal: Proposal): string | undefined {
    const pull = this.#pulls.find(toBranch(proposal), proposal.sentAt);
    return pull && `${this.#options.pullPage}/${pull.number}`;
  }

  /** Stops. Proposals that were not sent yet are sent after the next start. */
  async close(): Promise<void> {
    this.#abort.abort();
    this.wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { signal } = this.#abort;
    for (let failed = 0; !signal.aborted;) {
      const woken = new Promise<void>((resolve) => (this.wake = resolve));
      const isDone = await this.round();
      failed = isDone ? 0 : failed + 1;
      const backoff = computeBackoff(failed, this.#pauseMs, 5 * this.#roundMs);
      const pauseMs = isDone ? this.#pauseMs : Math.max(this.#pulls.retryAt - performance.now(), backoff);
      await sleep(pauseMs, undefined, { signal, ref: false }).catch(() => {});
      if (failed === 0) await Promise.race([woken, sleep(this.#roundMs, undefined, { ref: false })]);
    }
  }

  /** Sends due proposals to the host. Returns whether all of them are there. */
  async round(): Promise<boolean> {
    try {
      await this.#runRound();
      this.#failures.end();
      return true;
    } catch (error) {
      // `fetch` throws a generic TypeError; the useful error is its cause.
      const cause = (error instanceof TypeError && error.cause) || error;
      if (!this.#abort.signal.aborted) this.#failures.add(error, describeRemoteError(cause));
      return false;
    }
  }

  /** Sends due proposals to the host. @throws {Error} the first failure; its proposal is the last one of the next round */
  async #runRound(): Promise<void> {
    const { proposals, repositoryOpener, remote: address } = this.#options;
    // Waits for the current step, so that a proposal that is published immediately is never seen as open.
    await proposals.load();
    await proposals.closeAccepted();
    const { list } = proposals;
    const repository = await repositoryOpener.open();
    const { signal } = this.#abort;
    const remote = { repository, address, stallSeconds: maxStallSeconds, signal };
    const refs = await listRemoteRefs(remote, ['refs/heads/proposals/*']);
    if (list.open.length > 0) await this.#pulls.update();
    const ended = list
      .listClosedSince(0)
      .filter((proposal) => refs.has(toRef(proposal)) && !list.find(proposal.subject, proposal.proposer.id));
    const entries: Entry[] = [];
    let failure: unknown;
    for (const proposal of [...ended, ...list.open])
      await this.#describe(repository, proposal).then(
        (entry) => entries.push(entry),
        (error: unknown) => (failure ??= error),
      );
    this.#entries = new Map(entries.map((entry) => [entry.proposal.ref, entry]));
    for (const entry of entries.toSorted((a, b) => a.failedAt - b.failedAt))
      await this.#bring(remote, entry, refs.get(toRef(entry.proposal))).catch((error: unknown) => {
        entry.failedAt = performance.now();
        throw error;
      });
    if (failure !== undefined) throw failure;
  }

  /** Writes the commit of a pull request. Its message does not contain the note, because a host could act on the text. */
  async #describe(repository: Repository, proposal: Proposal): Promise<Entry> {
    const { ref, base, sentAt, version } = proposal;
    const known = this.#entries.get(ref);
    if (known?.proposal.version === version) return known;
    const merged = await mergeProposal(repository, base, proposal);
    const message = describeChange(proposal, merged, null);
    const tree = await readTreeId(repository, version);
    const committer = `${repository.identity} ${Math.floor(sentAt / 1000)} +0000`;
    const commit = await writeCommit(repository, { parents: [base], tree, message, committer });
    const title = message.slice(0, message.indexOf('\n')).slice(0, maxTitleLength);
    return { proposal, commit, title, failedAt: 0 };
  }

  /** @param at the commit of its branch at the remote; undefined without a branch */
  async #bring(remote: Remote, { proposal, commit, title }: Entry, at: string | undefined): Promise<void> {
    const { repository } = remote;
    const { baseUrl, proposals } = this.#options;
    const push = async (pushed: string | null): Promise<void> => {
      const change = { ref: toRef(proposal), commit: pushed, lease: at ?? '' };
      await pushRemote(remote, [change]);
    };
    if (proposal.closedAt !== null) {
      // Hosts close the pull request when its branch is deleted.
      if (at === commit) await push(null);
      return;
    }
    const isReviewers = async (id: string): Promise<boolean> =>
      id !== commit && !(await isOwnCommit(remote, id));
    const branch = toBranch(proposal);
    const pull = this.#pulls.find(branch, proposal.sentAt);
    const isOpen = pull?.endedAt === null;
    if (pull && !isOpen) {
      const { merged } = pull;
      // The merge may not have been fetched yet.
      if (merged !== null && !(await repository.objects.has(merged))) return;
      // A decision counts only for the version that it was made about.
      if (pull.head === commit || (await isReviewers(pull.head))) {
        const decision: HostDecision =
          merged === null
            ? { state: 'declined', text: this.findLink(proposal) ?? '', commit: null }
            : { state: 'accepted', text: '', commit: merged };
        // The proposal may have been sent again or withdrawn since.
        await proposals.decideAtHost(proposal, decision).catch(ignoreProposalError);
        return;
      }
    }
    if (proposal.state !== 'waiting' || (isOpen && at === commit)) return;
    if (at !== undefined && (await isReviewers(at))) {
      if (isOpen) return;
      throw new Error(
        `${branch} has commits of a reviewer and no pull request: delete the branch on the host to retry`,
      );
    }
    const description = formatBody(proposal, baseUrl + toSubjectPath(proposal.subject));
    if (isOpen) await this.#pulls.change(pull.number, title, description);
    if (at !== commit) await push(commit);
    const target = this.#options.branch ?? repository.branch().replace('refs/heads/', '');
    if (!isOpen) await this.#pulls.create(branch, target, title, description);
    await sleep(this.#pauseMs, undefined, { signal: this.#abort.signal });
  }
}

/** Returns whether a service made a commit of the remote. The local repository may have pruned older ones. */
async function isOwnCommit(remote: Remote, id: string): Promise<boolean> {
  const { repository } = remote;
  if (!(await repository.objects.has(id))) await fetchCommit(remote, id);
  const commit = await repository.objects.readOne(id);
  return commit?.content.includes(`\ncommitter ${repository.identity} `) ?? false;
}

function ignoreProposalError(error: unknown): void {
  if (!(error instanceof ProposalError)) throw error;
}

/** Returns the name of a proposal's branch at the remote. */
function toBranch({ subject, proposer }: Proposal): string {
  return `proposals/${subject}-${proposer.id}`;
}

function toRef(proposal: Proposal): string {
  return `refs/heads/${toBranch(proposal)}`;
}

/**
 * Returns the description of a pull request. Text of people is in an inert block of code, because the message of a
 * squashed merge repeats the description.
 */
function formatBody(proposal: Proposal, address: string): string {
  const { proposer, text } = proposal;
  const quoted = toInert(toText(`${proposer.name} (${proposer.id})\n\n${text}`));
  const fence = '`'.repeat(Math.max(2, ...[...quoted.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  const block = `${fence}text\n${quoted}\n${fence}`;
  if (isSentByBot(proposal)) return `Sent by the bot itself:\n\n${block}\n\nPage: ${address}\n\n${advice}`;
  return `Proposed on the site, with this note for the reviewers:\n\n${block}\n\nPage: ${address}\n\n${advice}`;
}

const advice = 'Merge it to accept the proposal. To decline it, say why in a comment and close it.';

/** Hosts refuse longer titles. A title has a name of at most 64 characters, and keys. */
const maxTitleLength = 250;

/** Minimum milliseconds between rounds. */
const minPauseMs = 1000;

export interface HostPullsOptions {
  readonly api: (typeof gitHosts)[GitHostId]['api'];
  /** The address of the API, without a final slash. */
  readonly root: string;
  /** The repository, such as `people/list`. */
  readonly repository: string;
  readonly token: string;
  /** Milliseconds until a response must be complete; 10 s by default. */
  readonly timeoutMs?: number;
}

/** A pull request as last read. */
interface HostPull {
  readonly number: number;
  /** The commit of its branch. */
  readonly head: string;
  /** When the pull request was merged or closed, in milliseconds since the epoch; null while it is open. */
  readonly endedAt: number | null;
  /** The commit of the merge; null if not merged. */
  readonly merged: string | null;
}

/**
 * The pull requests between branches of a repository at a Git host. Call its methods one at a time. The asynchronous
 * ones throw if the host refuses a request or cannot be reached.
 */
class HostPulls {
  readonly #options: HostPullsOptions;
  readonly #signal: AbortSignal;
  readonly #fetch: ReturnType<typeof createBoundedFetch>;
  /** Branch → its last pull request. */
  readonly #lastByBranch = new Map<string, HostPull>();
  /** The time of the last update that was read, in milliseconds since the epoch by the host's clock. */
  #readUntil = -Infinity;
  /** When requests to the host may continue, by `performance.now()`. */
  retryAt = 0;

  constructor(options: HostPullsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#fetch = createBoundedFetch({ time: options.timeoutMs ?? 10_000, bytes: maxResponseBytes });
  }

  /** Returns the last pull request of a branch; undefined if it ended before `since`. */
  find(branch: string, since: number): HostPull | undefined {
    const pull = this.#lastByBranch.get(branch);
    return (pull?.endedAt ?? Infinity) <= since ? undefined : pull;
  }

  /** Reads the pull requests that were updated since the last call; the first time all of them, up to a limit. */
  async update(): Promise<void> {
    let newest = this.#readUntil;
    for (let page = 1; page <= maxPages; page++) {
      const pulls = await this.#request('GET', `?${this.#options.api.list}&page=${page}`);
      const times = (pulls as readonly ListedPull[]).map((pull) => {
        this.#add(pull);
        return Date.parse(pull.updated_at);
      });
      newest = Math.max(newest, ...times);
      if ((times.at(-1) ?? -Infinity) < this.#readUntil || times.length === 0) break;
    }
    this.#readUntil = newest;
  }

  async create(branch: string, targetBranch: string, title: string, description: string): Promise<void> {
    const { source, target, text } = this.#options.api;
    const keys = { title, [text]: description, [source]: branch, [target]: targetBranch };
    this.#add((await this.#request('POST', '', keys)) as ListedPull);
  }

  async change(number: number, title: string, description: string): Promise<void> {
    const { change, text } = this.#options.api;
    await this.#request(change, `/${number}`, { title, [text]: description });
  }

  #add(pull: ListedPull): void {
    const { keys } = this.#options.api;
    const number = Number(readKeys(pull, keys.number));
    const branch = String(readKeys(pull, keys.branch));
    const head = String(readKeys(pull, keys.head));
    // In a fork, anybody can create a branch of that name.
    const isOfFork = readKeys(pull, keys.from) !== readKeys(pull, keys.to);
    if (isOfFork || number < (this.#lastByBranch.get(branch)?.number ?? 0)) return;
    const { state, merged_at, closed_at, merge_commit_sha, squash_commit_sha } = pull;
    const endedAt = ['closed', 'merged'].includes(state) ? Date.parse(merged_at ?? closed_at ?? '') : null;
    // Without a merge commit, the branch was fast-forwarded.
    const merged = merged_at === null ? null : (merge_commit_sha ?? squash_commit_sha ?? head);
    this.#lastByBranch.set(branch, { number, head, endedAt, merged });
  }

  async #request(method: string, path: string, keys?: object): Promise<unknown> {
    const { api, root, repository, token } = this.#options;
    const response = await this.#fetch(`${root}/${api.pulls(repository)}${path}`, {
      method,
      redirect: 'manual',
      signal: this.#signal,
      headers: {
        Accept: 'application/json',
        Authorization: `Bearer ${token}`,
        'Content-Type': 'application/json',
        'User-Agent': 'Botshelf',
      },
      ...(keys && { body: JSON.stringify(keys) }),
    });
    // An error may contain the token.
    const text = (await response.text()).replaceAll(token, '…');
    if (response.ok) return JSON.parse(text) as unknown;
    const { status, headers } = response;
    const isRefused = [401, 403, 429].includes(status);
    this.retryAt =
      performance.now() + (parseRetryAfter(headers.get('Retry-After')) ?? (isRefused ? refusedMs : 0));
    const said = JSON.stringify(text.slice(0, maxShownLength));
    throw new BotshelfError(
      'request-failed',
      `${method} of its pull requests has the response ${status} ${said}`,
    );
  }
}

/** The keys of a pull request that are the same at all hosts. */
interface ListedPull {
  readonly state: string;
  readonly updated_at: string;
  readonly merged_at: string | null;
  readonly closed_at: string | null;
  readonly merge_commit_sha: string | null;
  readonly squash_commit_sha?: string | null;
}

/** Enough for twenty pull requests with texts of 64 Ki characters, and whole descriptions of two repositories each. */
const maxResponseBytes = 8 * 1024 * 1024;

/** Maximum number of pages that are read per round. */
const maxPages = 100;

/** Milliseconds without requests after a host has refused one or limited the rate. */
const refusedMs = 60_000;
const maxShownLength = 300;

/** The settings for the review of proposals at the Git host. */
export interface HostReviewConfig {
  readonly proposals: 'site' | 'host' | 'off';
  readonly remote: { readonly remote: string; readonly branch: string | null } | null;
  /** The way to send proposals to the host. */
  readonly hostReview: {
    /** Null to detect the kind from the host name. */
    readonly kind: GitHostId | null;
    /** The address of the host's API without a final slash; null for the default. */
    readonly api: string | null;
    /** The token for the API, a secret. */
    readonly token: string | null;
  };
  readonly baseUrl: string;
}

/**
 * Creates the review at the Git host; null if proposals are reviewed elsewhere.
 * @param place the place of the remote
 * @throws {UserError} if the settings do not name a known host
 */
export function createHostReview(
  { proposals: way, remote, hostReview: { kind, api: root, token }, baseUrl }: HostReviewConfig,
  place: RemotePlace | undefined,
  proposals: Proposals | null,
  repositoryOpener: RepositoryOpener,
  log: Log,
): HostReview | null {
  if (way !== 'host' || remote === null || token === null || proposals === null) return null;
  const host = kind === null ? guessGitHost(place?.host ?? '') : gitHosts[kind];
  if (place === undefined || host === undefined)
    throw new UserError(
      'BOTSHELF_PROPOSALS is host, but BOTSHELF_REMOTE does not show which software its host has: set BOTSHELF_HOST_KIND, and a remote with an address such as https://git.example.org/people/list',
    );
  const home = `https://${place.host}/${place.path}`;
  return new HostReview({
    repositoryOpener,
    proposals,
    pulls: { api: host.api, root: root ?? host.api.root(place.host), repository: place.path, token },
    remote: remote.remote,
    branch: remote.branch,
    home,
    pullPage: `${home}/${host.pull}`,
    baseUrl,
    log,
  });
}
