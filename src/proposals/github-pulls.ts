import { createBoundedFetch } from '../lib/bounded-fetch.ts';
import { ExplainedError } from '../lib/errors.ts';
import { parseRetryAfter } from './notifications.ts';
import type { HostDecision } from './proposals.ts';

export interface GitHubOptions {
  /** The address of the API, without a slash at its end. */
  readonly api: string;
  /** The repository, such as `octocat/list`. */
  readonly repository: string;
  readonly token: string;
  readonly signal: AbortSignal;
  /** Milliseconds until the last byte of a response arrives; 10 s by default. */
  readonly timeoutMs?: number;
}

/** A pull request as it is at the host. */
export interface FoundPull {
  readonly number: number;
  /** The commit of its branch. */
  readonly head: string;
  readonly isOpen: boolean;
  readonly decision: HostDecision | null;
}

/**
 * The pull requests of a repository at GitHub, as https://docs.github.com/rest/pulls/pulls documents them. It waits as
 * https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api asks. Call its methods one at a
 * time; all throw where the host refuses a request or cannot be reached.
 */
export class GitHubPulls {
  readonly #options: GitHubOptions;
  readonly #fetch: ReturnType<typeof createBoundedFetch>;
  /** When the host may be asked again, by `performance.now()`. */
  retryAt = 0;

  constructor(options: GitHubOptions) {
    this.#options = options;
    this.#fetch = createBoundedFetch({ time: options.timeoutMs ?? 10_000, bytes: maxResponseBytes });
  }

  /** Returns the last pull request of a branch, with what was decided. @param since ignores one that was closed before */
  async find(branch: string, since: number): Promise<FoundPull | null> {
    const [owner = ''] = this.#options.repository.split('/');
    const query = new URLSearchParams({ head: `${owner}:${branch}`, state: 'all', per_page: '1' });
    const [pull] = (await this.#request('GET', `pulls?${query.toString()}`)) as readonly Pull[];
    if (pull === undefined || (pull.closed_at !== null && Date.parse(pull.closed_at) < since)) return null;
    const isOpen = pull.closed_at === null;
    return { number: pull.number, head: pull.head.sha, isOpen, decision: await this.#readDecision(pull) };
  }

  /** Creates a pull request, or changes keys of the one with this number. Returns its number. */
  async write(number: number | null, keys: Readonly<Record<string, string>>): Promise<number> {
    const changed =
      number === null
        ? this.#request('POST', 'pulls', keys)
        : this.#request('PATCH', `pulls/${number}`, keys);
    return ((await changed) as Pull).number;
  }

  async #readDecision({ number, head, ...pull }: Pull): Promise<HostDecision | null> {
    if (pull.merged_at !== null) return { state: 'accepted', text: '', commit: pull.merge_commit_sha };
    const since = pull.closed_at && new Date(Date.parse(pull.closed_at) - reasonMs).toISOString();
    const path = since ? `issues/${number}/comments?since=${since}` : `pulls/${number}/reviews`;
    // Anybody may write to a public repository.
    const written = ((await this.#request('GET', path)) as readonly Written[]).filter(
      ({ author_association: by }) => ['OWNER', 'MEMBER', 'COLLABORATOR'].includes(by),
    );
    if (since) return { state: 'declined', text: written.at(-1)?.body ?? '', commit: null };
    const asked = written.findLast((one) => one.state === 'CHANGES_REQUESTED' && one.commit_id === head.sha);
    return asked ? { state: 'changes-asked', text: asked.body ?? '', commit: null } : null;
  }

  async #request(method: string, path: string, body?: object): Promise<unknown> {
    const { api, repository, token, signal } = this.#options;
    const response = await this.#fetch(`${api}/repos/${repository}/${path}`, {
      method,
      redirect: 'manual',
      signal,
      headers: {
        Accept: 'application/vnd.github+json',
        Authorization: `Bearer ${token}`,
        'User-Agent': 'Botshelf',
        'X-GitHub-Api-Version': '2022-11-28',
      },
      ...(body && { body: JSON.stringify(body) }),
    });
    // An error may repeat the token.
    const text = (await response.text()).replaceAll(token, '…');
    if (response.ok) return JSON.parse(text) as unknown;
    this.retryAt = performance.now() + readDelay(response);
    const said = JSON.stringify(text.slice(0, maxShownLength));
    throw new ExplainedError(
      `${method} ${path.replace(/\?.*/, '')} has the response ${response.status} ${said}`,
    );
  }
}

/** Returns for how long the host is not asked again: as its headers say, else a minute where it limits or refuses us. */
function readDelay({ status, headers }: Response): number {
  const after = parseRetryAfter(headers.get('Retry-After'));
  if (after !== undefined || ![401, 403, 429].includes(status)) return after ?? 0;
  const reset = Number(headers.get('X-RateLimit-Reset')) * 1000 - Date.now();
  return headers.get('X-RateLimit-Remaining') === '0' ? Math.min(reset, maxDelayMs) : 60_000;
}

/** The keys that are read of a pull request. */
interface Pull {
  readonly number: number;
  readonly closed_at: string | null;
  readonly merged_at: string | null;
  readonly merge_commit_sha: string | null;
  readonly head: { readonly sha: string };
}

/** The keys that are read of a comment or a review. */
interface Written {
  readonly body: string | null;
  readonly author_association: string;
  readonly state?: string;
  readonly commit_id?: string;
}

/** Thirty comments, or a pull request, which has the whole description of two repositories. */
const maxResponseBytes = 256 * 1024;

/** Comments from so long before a pull request was closed may be the reason. */
const reasonMs = 3_600_000;

const maxDelayMs = 3_600_000;
const maxShownLength = 300;
