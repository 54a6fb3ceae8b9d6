import { createBoundedFetch } from '../lib/bounded-fetch.ts';
import { ExplainedError, messageOf } from '../lib/errors.ts';
import { parseRetryAfter } from './notifications.ts';
import type { HostDecision } from './proposals.ts';

export interface GitHubOptions {
  /** The address of the API, without a slash at its end. */
  readonly api: string;
  /** The repository, such as `octocat/list`. */
  readonly repository: string;
  readonly token: string;
  /** Milliseconds until the last byte of a response arrives; 10 s by default. */
  readonly timeoutMs?: number;
}

/** A pull request from a branch of the repository. */
export interface PullRequest {
  readonly branch: string;
  readonly target: string;
  readonly title: string;
  readonly body: string;
}

/** The host refused a request, or could not be reached. */
export class HostError extends ExplainedError {
  /** Milliseconds in which it is not asked again; null where it refused this request only. */
  readonly retryAfterMs: number | null;

  constructor(message: string, retryAfterMs: number | null, cause?: unknown) {
    super(message, { cause });
    this.name = 'HostError';
    this.retryAfterMs = retryAfterMs;
  }
}

/**
 * The pull requests of a repository at GitHub, as https://docs.github.com/rest/pulls/pulls documents them. It waits as
 * https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api asks. Call its methods one at a
 * time; all throw a HostError.
 */
export class GitHubPulls {
  readonly #options: GitHubOptions;
  readonly #fetch: ReturnType<typeof createBoundedFetch>;
  readonly #abort = new AbortController();

  constructor(options: GitHubOptions) {
    this.#options = options;
    this.#fetch = createBoundedFetch({ time: options.timeoutMs ?? 10_000, bytes: maxResponseBytes });
  }

  /** Creates the pull request of a branch, or gives the open one new texts. @param push pushes the branch */
  async submit({ branch, target, title, body }: PullRequest, push: () => Promise<void>): Promise<void> {
    const [owner = ''] = this.#options.repository.split('/');
    const query = new URLSearchParams({ head: `${owner}:${branch}`, base: target, per_page: '1' });
    const [open] = (await this.#request('GET', `pulls?${query.toString()}`)).json as readonly Pull[];
    if (open !== undefined) await this.#request('PATCH', `pulls/${open.number}`, { title, body });
    await push();
    if (open !== undefined) return;
    const made = await this.#request('POST', 'pulls', { title, body, head: branch, base: target });
    if ((await this.#request('GET', `labels/${label}`)).status === 200)
      await this.#request('POST', `issues/${(made.json as Pull).number}/labels`, { labels: [label] });
  }

  async end(number: number): Promise<void> {
    await this.#request('PATCH', `pulls/${number}`, { state: 'closed' });
  }

  /** Ends the request that is being made, and makes no other. */
  close(): void {
    this.#abort.abort();
  }

  /**
   * Returns what reviewers decided, and the ETag of the present state; no decision where that is `known`.
   * @param heads the commits that the pull request may have
   */
  async read(
    number: number,
    heads: readonly (string | undefined)[],
    known: string | null,
  ): Promise<{ readonly etag: string | null; readonly decision: HostDecision | null }> {
    const { status, etag, json } = await this.#request('GET', `pulls/${number}`, undefined, known);
    if (status === 304) return { etag: known, decision: null };
    const pull = json as Pull;
    if (!heads.includes(pull.head.sha)) return { etag: null, decision: null };
    if (pull.merged)
      return { etag, decision: { state: 'accepted', text: '', commit: pull.merge_commit_sha } };
    const isClosed = pull.state === 'closed';
    const path = isClosed
      ? `issues/${number}/comments?per_page=1&page=${Math.max(1, pull.comments)}`
      : `pulls/${number}/reviews?per_page=${maxReviews}`;
    // Anybody may write to a public repository.
    const written = ((await this.#request('GET', path)).json as readonly Written[]).filter(
      ({ author_association: by }) => ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(by),
    );
    const last = isClosed
      ? written.at(-1)
      : written.findLast((one) => one.state === 'CHANGES_REQUESTED' && one.commit_id === pull.head.sha);
    if (!isClosed && last === undefined) return { etag, decision: null };
    const state = isClosed ? 'declined' : 'changes-asked';
    return { etag, decision: { state, text: last?.body ?? '', commit: null } };
  }

  /** Sends a request. A status 304, or 404 of a label, is no error. */
  async #request(
    method: string,
    path: string,
    body?: object,
    known: string | null = null,
  ): Promise<{ readonly status: number; readonly etag: string | null; readonly json: unknown }> {
    const { api, repository, token } = this.#options;
    try {
      const response = await this.#fetch(`${api}/repos/${repository}/${path}`, {
        method,
        redirect: 'manual',
        signal: this.#abort.signal,
        headers: {
          Accept: 'application/vnd.github+json',
          Authorization: `Bearer ${token}`,
          'User-Agent': 'Botshelf',
          'X-GitHub-Api-Version': '2022-11-28',
          ...(known !== null && { 'If-None-Match': known }),
        },
        ...(body && { body: JSON.stringify(body) }),
      });
      const { ok, status, headers } = response;
      const text = await response.text();
      if (ok || status === 304 || (status === 404 && path.startsWith('labels/')))
        return { status, etag: headers.get('ETag'), json: JSON.parse(text || 'null') };
      const said = JSON.stringify(text.slice(0, maxShownLength).replaceAll(token, '…'));
      throw new HostError(
        `${method} ${path.replace(/\?.*/, '')} has the response ${status} ${said}`,
        readDelay(status, headers),
      );
    } catch (error) {
      if (error instanceof HostError) throw error;
      const cause = error instanceof TypeError ? (error.cause ?? error) : error;
      throw new HostError(`${new URL(api).host} does not respond correctly: ${messageOf(cause)}`, 0, cause);
    }
  }
}

/** Returns for how long the host is not asked again: as its headers say, else a minute where it limits or refuses us. */
function readDelay(status: number, headers: Headers): number | null {
  const after = parseRetryAfter(headers.get('Retry-After'));
  if (after !== undefined) return after;
  if (status >= 500) return 0;
  if (![401, 403, 429].includes(status)) return null;
  const isSpent = headers.get('X-RateLimit-Remaining') === '0';
  const reset = Number(headers.get('X-RateLimit-Reset')) * 1000 - Date.now();
  return isSpent ? Math.min(Math.max(reset, 0), maxDelayMs) : 60_000;
}

/** The keys that are read of a pull request. */
interface Pull {
  readonly number: number;
  readonly state: 'open' | 'closed';
  readonly merged: boolean;
  readonly merge_commit_sha: string | null;
  readonly comments: number;
  readonly head: { readonly sha: string };
}

/** The keys that are read of a comment or a review. */
interface Written {
  readonly body: string | null;
  readonly author_association: string;
  readonly state?: string;
  readonly commit_id?: string;
}

/** The label of the pull requests, where the repository has it. */
const label = 'proposal';

/** A pull request has the whole description of two repositories. */
const maxResponseBytes = 256 * 1024;

/** Reviews of a pull request that are looked at. */
const maxReviews = 30;

const maxDelayMs = 3_600_000;
const maxShownLength = 300;
