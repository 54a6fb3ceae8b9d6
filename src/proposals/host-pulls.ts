import { type PullsApi, readKeys } from '../git/hosts.ts';
import { createBoundedFetch } from '../lib/bounded-fetch.ts';
import { ExplainedError } from '../lib/errors.ts';
import { parseRetryAfter } from './notifications.ts';

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
export interface HostPull {
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
export class HostPulls {
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

  /** Returns the last pull request of a branch, unless it ended before a time. */
  find(branch: string, since: number): HostPull | undefined {
    const pull = this.#lastByBranch.get(branch);
    return (pull?.endedAt ?? since) < since ? undefined : pull;
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
    throw new ExplainedError(`${method} of its pull requests has the response ${status} ${said}`);
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

/** Milliseconds for which a host is left alone after it has limited or refused us. */
const refusedMs = 60_000;
const maxShownLength = 300;
