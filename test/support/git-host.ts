import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { basename, dirname, join } from 'node:path';
import { gitHosts, type GitHostId } from '../../src/git/hosts.ts';
import { type GitServer, startGitServer } from './git-server.ts';
import { listenOnLoopback } from './loopback.ts';
import { type SharedRepository, sharedRepository } from './shared-repository.ts';

/** A Git host: a bare repository behind HTTP, which makes refs of pull requests of what is pushed to it. */
export interface GitHostServer {
  readonly shared: SharedRepository;
  readonly server: GitServer;
  /** The address of the repository. */
  readonly remote: string;
  /** The options of all pushes, one a line. */
  options(): string[];
  /** The refs that were pushed. */
  pushed(): string[];
  /** Has the next push refused. */
  refuseOnce(): void;
}

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
  const inside = (name: string): string => join(shared.folder, name);
  const lines = (name: string): string[] =>
    existsSync(inside(name)) ? readFileSync(inside(name), 'utf8').split('\n').slice(0, -1) : [];
  shared.git('config', 'receive.advertisePushOptions', 'true');
  const hook = (name: string, text: string): void => {
    writeFileSync(inside(`hooks/${name}`), `#!/bin/sh\n${text}`);
    chmodSync(inside(`hooks/${name}`), 0o755);
  };
  hook(
    'pre-receive',
    `if [ -f refuse ]; then rm refuse; echo "proposals are closed today" >&2; exit 1; fi
i=0; topic=; force=
while [ "$i" -lt "\${GIT_PUSH_OPTION_COUNT:-0}" ]; do
  eval "option=\\$GIT_PUSH_OPTION_$i"
  case "$option" in topic=*) topic=\${option#topic=} ;; force-push=true) force=yes ;; esac
  i=$((i + 1))
done
pull=pull-$(echo "$topic" | tr / _)
while read old new ref; do
  case "$ref" in refs/for/*) ;; *) continue ;; esac
  [ -f "$pull" ] && [ -z "$force" ] || continue
  git merge-base --is-ancestor "refs/pull/$(cat "$pull")/head" "$new" && continue
  echo "request force-push push option" >&2; exit 1
done
`,
  );
  hook('post-receive', postReceive(gitHosts[kind].pullRefs, kind === 'github'));
  return {
    shared,
    server,
    remote: `${server.address}/${name}`,
    options: () => lines('options'),
    pushed: () => lines('pushed'),
    refuseOnce: () => writeFileSync(inside('refuse'), ''),
  };
}

/** Records push options, and makes `<pullRefs>N/head` of a push, as hosts do. At GitHub only the API makes a new one. */
function postReceive(pullRefs: string, isMadeByApi: boolean): string {
  return `while read old new ref; do
  echo "$ref" >> pushed
  i=0; topic=; create=${isMadeByApi ? '' : 'no'}
  while [ "$i" -lt "\${GIT_PUSH_OPTION_COUNT:-0}" ]; do
    eval "option=\\$GIT_PUSH_OPTION_$i"
    printf '%s\\n' "$option" >> options
    case "$option" in
      topic=*) topic=\${option#topic=}; create=yes ;;
      merge_request.create) create=yes ;;
    esac
    i=$((i + 1))
  done
  case "$ref" in
    refs/for/*) key=$topic; git update-ref -d "$ref" ;;
    refs/heads/proposals/*) key=\${ref#refs/heads/} ;;
    *) continue ;;
  esac
  pull=pull-$(echo "$key" | tr / _)
  if [ -z "$(echo "$new" | tr -d 0)" ]; then rm -f "$pull"; continue; fi
  if [ ! -f "$pull" ]; then
    [ "$create" = yes ] || continue
    number=$(($(cat last 2>/dev/null || echo 0) + 1))
    echo "$number" > last; echo "$number" > "$pull"
  fi
  git update-ref "${pullRefs}$(cat "$pull")/head" "$new"
done
`;
}

/** A pull request at GitHub, as its API has it. */
export interface TestPull {
  readonly number: number;
  title: string;
  body: string;
  readonly branch: string;
  state: 'open' | 'closed';
  merged: boolean;
  merge_commit_sha: string | null;
  readonly comments: object[];
  readonly reviews: object[];
}

/** The API of GitHub, as far as https://docs.github.com/rest/pulls/pulls has what is used. */
export interface GitHubServer {
  readonly api: string;
  readonly pulls: TestPull[];
  /** Method and path of each request. */
  readonly requests: string[];
  /** What it does with the next requests, instead of what is documented. */
  readonly faults: ((request: IncomingMessage, response: ServerResponse) => void)[];
}

export const githubToken = 'github_pat_that_nobody_may_see';

/** Starts the API for the repository. */
export async function startGitHub({ shared }: GitHostServer): Promise<GitHubServer> {
  const state: Omit<GitHubServer, 'api'> = { pulls: [], requests: [], faults: [] };
  const server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      state.requests.push(`${request.method} ${request.url}`);
      const fault = state.faults.shift();
      if (fault) return fault(request, response);
      const body = text === '' ? {} : (JSON.parse(text) as Record<string, never>);
      const { status, json } = respond(state as GitHubServer, shared, request, body);
      return response.writeHead(status).end(JSON.stringify(json));
    });
  });
  const { port } = await listenOnLoopback(server);
  return Object.assign(state, { api: `http://127.0.0.1:${port}` });
}

function respond(
  state: GitHubServer,
  shared: SharedRepository,
  { method, url = '', headers }: IncomingMessage,
  body: Record<string, never>,
): { readonly status: number; readonly json: unknown } {
  if (headers.authorization !== `Bearer ${githubToken}`)
    return { status: 401, json: { message: 'Bad credentials' } };
  const { pathname, searchParams } = new URL(url, 'http://localhost');
  const [, , owner = '', , what, id = '', part] = pathname.split('/');
  // A push to the branch of a closed pull request does not change it.
  for (const { branch, number, state: now } of state.pulls) {
    const file = join(shared.folder, `pull-${branch.replace('/', '_')}`);
    if (now === 'closed' && existsSync(file) && readFileSync(file, 'utf8').trim() === String(number))
      rmSync(file);
  }
  const pull = state.pulls.find(({ number }) => number === Number(id));
  const show = (shown: TestPull): object => ({
    ...shown,
    comments: undefined,
    closed_at: shown.state === 'closed' ? new Date().toISOString() : null,
    merged_at: shown.merged ? new Date().toISOString() : null,
    merged: undefined,
    head: { ref: shown.branch, sha: shared.git('rev-parse', `refs/pull/${shown.number}/head`) },
    reviews: undefined,
  });
  const isThere = (branch: string | null): TestPull | undefined =>
    state.pulls.find((one) => one.state === 'open' && `${owner}:${one.branch}` === branch);
  switch (`${method} ${what}${part === undefined ? '' : `/${part}`}`) {
    case 'GET pulls': {
      if (id !== '') return pull ? { status: 200, json: show(pull) } : { status: 404, json: notFound };
      const last = state.pulls.findLast(({ branch }) => `${owner}:${branch}` === searchParams.get('head'));
      return { status: 200, json: last ? [show(last)] : [] };
    }
    case 'POST pulls': {
      const {
        title,
        body: text,
        head: branch,
      } = body as unknown as Record<'title' | 'body' | 'head', string>;
      if (isThere(`${owner}:${branch}`)) return { status: 422, json: { message: 'Validation Failed' } };
      const number = state.pulls.length + 1;
      const made: TestPull = {
        number,
        title,
        body: text,
        branch,
        state: 'open',
        merged: false,
        merge_commit_sha: null,
        comments: [],
        reviews: [],
      };
      shared.git('update-ref', `refs/pull/${number}/head`, `refs/heads/${branch}`);
      writeFileSync(join(shared.folder, `pull-${branch.replace('/', '_')}`), String(number));
      state.pulls.push(made);
      return { status: 201, json: show(made) };
    }
    case 'PATCH pulls':
      return pull ? { status: 200, json: show(Object.assign(pull, body)) } : { status: 404, json: notFound };
    case 'GET pulls/reviews':
      return { status: 200, json: pull?.reviews ?? [] };
    case 'GET issues/comments':
      return searchParams.get('since') === null
        ? { status: 404, json: notFound }
        : { status: 200, json: pull?.comments ?? [] };
    default:
      return { status: 404, json: notFound };
  }
}

const notFound = { message: 'Not Found' };
