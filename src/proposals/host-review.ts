import { setTimeout as sleep } from 'node:timers/promises';
import { toInert } from '../bot/commit-message.ts';
import { writeCommit } from '../git/commit-files.ts';
import { readTreeId } from '../git/history.ts';
import { type GitHostId, type PullsApi, readKeys, gitHosts, guessGitHost } from '../git/hosts.ts';
import type { RemotePlace } from '../git/hosts.ts';
import { maxStallSeconds } from '../git/run-git.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { BotshelfError, UserError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { createBoundedFetch } from '../lib/network.ts';
import { type Failure, FailureLog, computeBackoff } from '../lib/retry.ts';
import { describeRemoteError, fetchCommit, listRefs, pushRemote, type Remote } from '../sync/remote.ts';
import { describeChange, mergeProposal } from './merged-proposal.ts';
import { parseRetryAfter } from './notifications.ts';
import { ProposalError, type Proposal, toText, toSubjectPath } from './proposal.ts';
import type { HostDecision, Proposals } from './proposals.ts';

interface HostReviewOptions {
  readonly repositoryOpener: RepositoryOpener;
  readonly proposals: Proposals;
  readonly pulls: HostPullsOptions;
  /** The remote, as git takes it. */
  readonly remote: string;
  /** The short name of the branch there; null for the one with the name of the checked-out branch. */
  readonly branch: string | null;
  /** The address of the repository's page at the host, and of a pull request's, before its number. */
  readonly home: string;
  readonly pullPage: string;
  /** The public address of the service. */
  readonly baseUrl: string;
  readonly log: Log;
  /** Milliseconds between two rounds; 60 s by default. */
  readonly roundMs?: number;
}

/** A proposal as it is at the host. */
interface Entry {
  readonly proposal: Proposal;
  /** The commit of its pull request, and the title. */
  readonly commit: string;
  readonly title: string;
  /** When it last could not be sent to the host, by `performance.now()`; 0 by default. */
  failedAt: number;
}

/**
 * Sends proposals to the Git host for review: each waiting proposal becomes a branch with one commit and its pull
 * request, and the decision made there is applied here. One loop, apart from all requests, compares the proposals with
 * the remote's branches and the host's pull requests; what fails is retried, later each time. There is no store next to
 * these: the same proposal is always the same commit.
 */
export class HostReview {
  /** The address of the repository's page at the host. */
  readonly home: string;
  readonly #options: HostReviewOptions;
  readonly #roundMs: number;
  /** Between two rounds, and after each push. */
  readonly #pauseMs: number;
  readonly #abort = new AbortController();
  readonly #remote: Remote;
  readonly #pulls: HostPulls;
  readonly #failures: FailureLog;
  /** Ref of a proposal → what it is at the host. */
  #entries: ReadonlyMap<string, Entry> = new Map();
  #running: Promise<void> | undefined;
  /** Starts a round soon. */
  wake = (): void => {};

  constructor(options: HostReviewOptions) {
    const { home, pulls, remote: address, log, proposals, roundMs = 60_000 } = options;
    const { signal } = this.#abort;
    this.home = home;
    this.#options = options;
    this.#roundMs = roundMs;
    this.#pauseMs = Math.min(minPauseMs, roundMs);
    this.#remote = { address, stallSeconds: maxStallSeconds, signal };
    this.#pulls = new HostPulls(pulls, signal);
    this.#failures = new FailureLog({
      log,
      failed: (message) =>
        `the Git host does not have all proposals: ${message}. They are safe in this clone, retrying in the background`,
      ended: 'the Git host has all proposals again',
    });
    proposals.subscribe(() => this.wake());
  }

  /** What does not work at the host; null if all does. */
  get failure(): Failure | null {
    return this.#failures.current;
  }

  /** Starts the rounds. */
  start(): void {
    this.#running = this.#run();
  }

  /** Returns the address of the pull request of a proposal; undefined if none was seen. */
  findLink(proposal: Proposal): string | undefined {
    const pull = this.#pulls.find(toBranch(proposal), proposal.sentAt);
    return pull && `${this.#options.pullPage}/${pull.number}`;
  }

  /** Stops. Proposals that are not at the host yet are sent after the next start. */
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

  /** Sends due proposals to the host, and returns whether all of them are there. */
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

  /**
   * Sends due proposals to the host. @throws {Error} the first failure; that proposal is the last one of the next round
   */
  async #runRound(): Promise<void> {
    const { proposals, repositoryOpener } = this.#options;
    // Behind the step that is being made: a proposal that is published at once is never seen open.
    await proposals.load();
    await proposals.closeAccepted();
    const { open } = proposals;
    const repository = await repositoryOpener.open();
    const refs = await listRefs(repository, ['refs/heads/proposals/*'], this.#remote);
    if (open.length > 0) await this.#pulls.update();
    const ended = proposals
      .listClosedSince(0)
      .filter(
        (proposal) => refs.has(toRef(proposal)) && !proposals.find(proposal.subject, proposal.proposer.id),
      );
    const entries: Entry[] = [];
    let failure: unknown;
    for (const proposal of [...ended, ...open])
      await this.#describe(repository, proposal).then(
        (entry) => entries.push(entry),
        (error: unknown) => (failure ??= error),
      );
    this.#entries = new Map(entries.map((entry) => [entry.proposal.ref, entry]));
    for (const entry of entries.toSorted((a, b) => a.failedAt - b.failedAt))
      await this.#bring(repository, entry, refs.get(toRef(entry.proposal))).catch((error: unknown) => {
        entry.failedAt = performance.now();
        throw error;
      });
    if (failure !== undefined) throw failure;
  }

  /** Writes the commit of a pull request. The note is not in its message, where a host could act on what it says. */
  async #describe(repository: Repository, proposal: Proposal): Promise<Entry> {
    const { ref, subject, proposer, base, sentAt, version } = proposal;
    const known = this.#entries.get(ref);
    if (known?.proposal.version === version) return known;
    const merged = await mergeProposal(repository, base, proposal);
    const message = describeChange(subject, merged, [`Proposed-by: ${proposer.id}`]);
    const tree = (await readTreeId(repository, version)) ?? '';
    const committer = `${repository.identity} ${Math.floor(sentAt / 1000)} +0000`;
    const parents = [base];
    const commit = await writeCommit(repository, { parents, tree, files: new Map(), message, committer });
    const title = message.slice(0, message.indexOf('\n')).slice(0, maxTitleLength);
    return { proposal, commit, title, failedAt: 0 };
  }

  /** @param at the commit of its branch at the remote; undefined if there is none */
  async #bring(
    repository: Repository,
    { proposal, commit, title }: Entry,
    at: string | undefined,
  ): Promise<void> {
    const { baseUrl, proposals } = this.#options;
    const push = async (pushed: string | null): Promise<void> => {
      const change = { ref: toRef(proposal), commit: pushed, lease: at ?? '' };
      await pushRemote(repository, [change], this.#remote);
    };
    if (proposal.closedAt !== null) {
      // Hosts close the pull request of a branch that is deleted.
      if (at === commit) await push(null);
      return;
    }
    const isReviewers = async (id: string): Promise<boolean> =>
      id !== commit && !(await isOwnCommit(repository, id, this.#remote));
    const branch = toBranch(proposal);
    const pull = this.#pulls.find(branch, proposal.sentAt);
    const isOpen = pull?.endedAt === null;
    if (pull && !isOpen) {
      const { merged } = pull;
      // The merge may not be here yet.
      if (merged !== null && !(await repository.objects.has(merged))) return;
      // What was decided about a former version is not about this one.
      if (pull.head === commit || (await isReviewers(pull.head))) {
        const decision: HostDecision =
          merged === null
            ? { state: 'declined', text: this.findLink(proposal) ?? '', commit: null }
            : { state: 'accepted', text: '', commit: merged };
        // It may have been sent again or withdrawn since.
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

/** Returns whether a commit at the remote is one that a service has made. Git here has pruned older ones. */
async function isOwnCommit(repository: Repository, id: string, remote: Remote): Promise<boolean> {
  if (!(await repository.objects.has(id))) await fetchCommit(repository, id, remote);
  const commit = await repository.objects.readOne(id);
  return commit?.content.includes(`\ncommitter ${repository.identity} `) ?? false;
}

function ignoreProposalError(error: unknown): void {
  if (!(error instanceof ProposalError)) throw error;
}

/** Returns the branch at the remote for a proposal. */
function toBranch({ subject, proposer }: Proposal): string {
  return `proposals/${subject}-${proposer.id}`;
}

function toRef(proposal: Proposal): string {
  return `refs/heads/${toBranch(proposal)}`;
}

/**
 * Returns the description of a pull request. What people wrote is in a block of code, and inert, because a squashed merge has
 * it in its message.
 */
function formatBody({ proposer, text }: Proposal, address: string): string {
  const quoted = toInert(toText(`${proposer.name} (${proposer.id})\n\n${text}`));
  const fence = '`'.repeat(Math.max(2, ...[...quoted.matchAll(/`+/g)].map(([run]) => run.length)) + 1);
  const block = `${fence}text\n${quoted}\n${fence}`;
  return `Proposed on the site, with this note for the reviewers:\n\n${block}\n\nPage: ${address}\n\n${advice}`;
}

const advice = 'Merge it to accept the proposal. To decline it, say why in a comment and close it.';

/** Hosts refuse longer titles, which have a name of 64 characters and keys. */
const maxTitleLength = 250;

/** Milliseconds between two rounds, at least. */
const minPauseMs = 1000;

export interface HostPullsOptions {
  readonly api: PullsApi;
  /** The address of the API, without a slash at its end. */
  readonly root: string;
  /** The repository, such as `people/list`. */
  readonly repository: string;
  readonly token: string;
  /** Milliseconds until the last byte of a response arrives; 10 s by default. */
  readonly timeoutMs?: number;
}

/** A pull request as it was last seen. */
interface HostPull {
  readonly number: number;
  /** The commit of its branch. */
  readonly head: string;
  /** When it was merged or closed, in milliseconds since the epoch; null while it is open. */
  readonly endedAt: number | null;
  /** The commit that merged it; null if it is not merged. */
  readonly merged: string | null;
}

/**
 * The pull requests between branches of a repository at a Git host. Call its methods one at a time; those that are
 * asynchronous throw if the host refuses a request or cannot be reached.
 */
class HostPulls {
  readonly #options: HostPullsOptions;
  readonly #signal: AbortSignal;
  readonly #fetch: ReturnType<typeof createBoundedFetch>;
  /** Branch → its last pull request. */
  readonly #lastByBranch = new Map<string, HostPull>();
  /** The last update that was read, by the host's clock in milliseconds since the epoch. */
  #readUntil = -Infinity;
  /** When the host may be asked again, by `performance.now()`. */
  retryAt = 0;

  constructor(options: HostPullsOptions, signal: AbortSignal) {
    this.#options = options;
    this.#signal = signal;
    this.#fetch = createBoundedFetch({ time: options.timeoutMs ?? 10_000, bytes: maxResponseBytes });
  }

  /** Returns the last pull request of a branch, unless it had ended by a time. */
  find(branch: string, since: number): HostPull | undefined {
    const pull = this.#lastByBranch.get(branch);
    return (pull?.endedAt ?? Infinity) <= since ? undefined : pull;
  }

  /** Reads the pull requests that were updated since the last call; all of them the first time, up to a bound. */
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
    // In a fork anybody can give a branch that name.
    const isOfFork = readKeys(pull, keys.from) !== readKeys(pull, keys.to);
    if (isOfFork || number < (this.#lastByBranch.get(branch)?.number ?? 0)) return;
    const { state, merged_at, closed_at, merge_commit_sha, squash_commit_sha } = pull;
    const endedAt = ['closed', 'merged'].includes(state) ? Date.parse(merged_at ?? closed_at ?? '') : null;
    // One that was merged without a commit of its own is fast-forwarded.
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
    // An error may repeat the token.
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

/** What a pull request has under the same keys at all hosts. */
interface ListedPull {
  readonly state: string;
  readonly updated_at: string;
  readonly merged_at: string | null;
  readonly closed_at: string | null;
  readonly merge_commit_sha: string | null;
  readonly squash_commit_sha?: string | null;
}

/** Twenty pull requests with texts of 64 Ki characters, and the whole description of two repositories each. */
const maxResponseBytes = 8 * 1024 * 1024;

/** Pages of pull requests that are read at once. */
const maxPages = 100;

/** Milliseconds without requests after a host has refused one, or limited us. */
const refusedMs = 60_000;
const maxShownLength = 300;

/** The settings that say whether and where proposals are reviewed at the Git host. */
export interface HostReviewConfig {
  readonly proposals: 'site' | 'host' | 'off';
  readonly remote: { readonly remote: string; readonly branch: string | null } | null;
  /** How proposals reach the host. */
  readonly hostReview: {
    /** Null if it is guessed from the name of the host. */
    readonly kind: GitHostId | null;
    /** The address of the host's API, without a slash at its end; null for the usual one. */
    readonly api: string | null;
    /** The token for that API, a secret. */
    readonly token: string | null;
  };
  readonly baseUrl: string;
}

/**
 * Creates the review at the Git host; null if proposals are reviewed elsewhere.
 * @param place where the remote is
 * @throws {UserError} if the settings do not say which host it is
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
