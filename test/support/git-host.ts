import { existsSync, readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { gitHosts, type GitHostId } from '../../src/git/hosts.ts';
import type { HostPullsOptions } from '../../src/proposals/host-review.ts';
import { type GitServer, startGitServer } from './git-server.ts';
import { listenOnLoopback } from './loopback.ts';
import { type SharedRepository, sharedRepository } from './shared-repository.ts';

/** A Git host: a bare repository behind HTTP, and the REST API of its pull requests. */
export interface GitHostServer {
  readonly shared: SharedRepository;
  readonly server: GitServer;
  /** The address of the repository. */
  readonly remote: string;
  /** The API, as the service uses it. */
  readonly pullsOptions: HostPullsOptions;
  readonly pulls: TestPull[];
  /** Method and path of each request of the API. */
  readonly requests: string[];
  /** The handlers of the next requests, instead of the documented ones. */
  readonly faults: ((request: IncomingMessage, response: ServerResponse) => void)[];
  /** Adds a pull request. */
  add(branch: string, values?: Partial<TestPull>): TestPull;
  /** Closes a pull request, or says that it was merged as a commit. */
  end(pull: TestPull | undefined, merged?: string | null): void;
}

/** A pull request. */
export interface TestPull {
  readonly number: number;
  title: string;
  text: string;
  readonly branch: string;
  head: string;
  readonly isOfFork: boolean;
  endedAt: string | null;
  updatedAt: string;
  isMerged: boolean;
  mergeCommit: string | null;
}

export const hostToken = 'token_that_nobody_may_see';

/** Starts a host whose repository `list` has these files. */
export async function startGitHost(
  kind: GitHostId,
  files: Readonly<Record<string, string>>,
): Promise<GitHostServer> {
  const shared = sharedRepository(files);
  // An address at a host has two names in its path.
  const root = dirname(shared.folder);
  const name = `${basename(root)}/shared.git`;
  const server = await startGitServer(dirname(root), [name]);
  const pulls: TestPull[] = [];
  let time = 0;
  /** No two changes have the same time: lists have one order. */
  const now = (): string => new Date((time = Math.max(Date.now(), time + 1))).toISOString();
  // Without git, which takes long to start on a busy machine.
  const readTip = (branch: string): string => {
    const file = join(shared.folder, 'refs/heads', branch);
    return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
  };
  const end: GitHostServer['end'] = (pull, merged) => {
    const isMerged = merged !== undefined;
    if (pull)
      Object.assign(pull, { endedAt: now(), updatedAt: now(), isMerged, mergeCommit: merged ?? null });
  };
  const add: GitHostServer['add'] = (branch, values) => {
    const more = { title: '', text: '', isOfFork: false, endedAt: null, isMerged: false, mergeCommit: null };
    const pull = { number: pulls.length + 1, branch, head: '', updatedAt: now(), ...more, ...values };
    pulls.push(pull);
    return pull;
  };
  /** Follows the branches: one that is deleted closes its pull request. */
  const follow = (): void => {
    for (const pull of pulls.filter(({ endedAt, isOfFork }) => endedAt === null && !isOfFork)) {
      const tip = readTip(pull.branch);
      if (tip === '') end(pull);
      else pull.head = tip;
    }
  };
  const state = { pulls, requests: [] as string[], faults: [] as GitHostServer['faults'] };
  const api = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      state.requests.push(`${request.method} ${request.url}`);
      const fault = state.faults.shift();
      if (fault) return fault(request, response);
      follow();
      const { status, json } = respond(request, text);
      return response.writeHead(status).end(JSON.stringify(json));
    });
  });
  const { order, write, show, ...dialect } = dialects[kind];
  const repository = name.replace('.git', '');
  const path = dialect.path(repository);
  const respond = ({ method, url = '', headers }: IncomingMessage, text: string): TestResponse => {
    if (headers.authorization !== `Bearer ${hostToken}`) return refuse(401, 'Bad credentials');
    if (method !== 'GET' && headers['content-type'] !== 'application/json') return refuse(415, 'No JSON');
    const { pathname, search, searchParams } = new URL(url, 'http://localhost');
    if (!pathname.startsWith(path)) return refuse(404, 'Not Found');
    const pull = pulls.find(({ number }) => pathname === `${path}/${number}`);
    const showOne = (one: TestPull): object => show(one, readTip(one.branch));
    if (method === 'GET' && search.startsWith(`?${order}&`)) {
      const sorted = pulls.toReversed().toSorted((a, b) => (a.updatedAt < b.updatedAt ? 1 : -1));
      const start = (Number(searchParams.get('page')) - 1) * 20;
      return { status: 200, json: sorted.slice(start, start + 20).map(showOne) };
    }
    const keys = JSON.parse(text || '{}') as Record<string, string>;
    const { title = '', [write.text]: body = '', [write.source]: branch = '' } = keys;
    if (method === write.change && pull) {
      Object.assign(pull, { title, text: body, updatedAt: now() });
      return { status: 200, json: showOne(pull) };
    }
    if (method !== 'POST' || keys[write.target] !== 'main' || readTip(branch) === '')
      return refuse(422, 'Validation Failed');
    if (pulls.some((one) => one.branch === branch && one.endedAt === null && !one.isOfFork))
      return refuse(409, 'There is one');
    return { status: 201, json: showOne(add(branch, { title, text: body, head: readTip(branch) })) };
  };
  const { port } = await listenOnLoopback(api);
  return Object.assign(state, {
    shared,
    server,
    remote: `${server.address}/${name}`,
    pullsOptions: { api: gitHosts[kind].api, root: `http://127.0.0.1:${port}`, repository, token: hostToken },
    add,
    end,
  });
}

interface TestResponse {
  readonly status: number;
  readonly json: unknown;
}

function refuse(status: number, message: string): TestResponse {
  return { status, json: { message } };
}

/** The requests of a host's API and its form of a pull request, by its own documentation. */
interface Dialect {
  readonly path: (repository: string) => string;
  /** The query of a list, the last updated first. */
  readonly order: string;
  readonly write: Readonly<Record<'change' | 'text' | 'source' | 'target', string>>;
  /** @param tip the commit of the branch; empty if it is deleted */
  show(pull: TestPull, tip: string): object;
}

const likeGitHub = {
  path: (repository: string) => `/repos/${repository}/pulls`,
  write: { change: 'PATCH', text: 'body', source: 'head', target: 'base' },
};

function showLikeGitHub(pull: TestPull, head: object): object {
  return {
    number: pull.number,
    state: pull.endedAt === null ? 'open' : 'closed',
    updated_at: pull.updatedAt,
    closed_at: pull.endedAt,
    merged_at: pull.isMerged ? pull.endedAt : null,
    merge_commit_sha: pull.mergeCommit,
    // A fork that was deleted is null.
    head: { ...head, repo: pull.isOfFork ? null : { id: 1 } },
    base: { repo: { id: 1 } },
  };
}

const dialects: Readonly<Record<GitHostId, Dialect>> = {
  github: {
    ...likeGitHub,
    order: 'state=all&sort=updated&direction=desc&per_page=20',
    show: (pull) =>
      showLikeGitHub(pull, { label: `people:${pull.branch}`, ref: pull.branch, sha: pull.head }),
  },
  gitlab: {
    path: (repository) => `/projects/${repository.replace('/', '%2F')}/merge_requests`,
    order: 'state=all&order_by=updated_at&sort=desc&per_page=20',
    write: { change: 'PUT', text: 'description', source: 'source_branch', target: 'target_branch' },
    show: (pull) => ({
      iid: pull.number,
      state: pull.endedAt === null ? 'opened' : pull.isMerged ? 'merged' : 'closed',
      updated_at: pull.updatedAt,
      closed_at: pull.isMerged ? null : pull.endedAt,
      merged_at: pull.isMerged ? pull.endedAt : null,
      merge_commit_sha: pull.mergeCommit,
      squash_commit_sha: null,
      sha: pull.head,
      source_branch: pull.branch,
      source_project_id: pull.isOfFork ? 2 : 1,
      target_project_id: 1,
    }),
  },
  forgejo: {
    ...likeGitHub,
    order: 'state=all&sort=recentupdate&limit=20',
    // An ended pull request shows the current commit of its branch.
    show: (pull, tip) =>
      showLikeGitHub(pull, {
        label: pull.branch,
        ref: tip === '' ? `refs/pull/${pull.number}/head` : pull.branch,
        sha: tip || pull.head,
      }),
  },
};
