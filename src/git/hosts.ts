/** The host and the repository path of a remote. */
export interface RemotePlace {
  readonly host: string;
  readonly path: string;
}

/**
 * Parses a remote into host and repository path, without user name, password, SSH port and `.git`; undefined if it is
 * at no host.
 */
export function parseRemote(remote: string): RemotePlace | undefined {
  const [, scpHost, scpPath] = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)(.+)$/.exec(remote) ?? [];
  const url = scpHost === undefined && URL.canParse(remote) ? new URL(remote) : undefined;
  if (url && !['https:', 'http:', 'ssh:', 'git:', 'git+ssh:'].includes(url.protocol)) return undefined;
  const host = scpHost ?? (url?.protocol.startsWith('http') ? url.host : url?.hostname);
  const path = (scpPath ?? url?.pathname ?? '').replace(/^\/+|(\.git)?(?<!\/)\/*$/g, '');
  return host !== undefined && /^[\w.-]+(\/[\w.~-]+)+$/.test(path)
    ? { host: host.toLowerCase(), path }
    : undefined;
}

/** https://docs.github.com/rest/pulls/pulls */
const gitHubApi: PullsApi = {
  root: (host) => (host === 'github.com' ? 'https://api.github.com' : `https://${host}/api/v3`),
  pulls: (repository) => `repos/${repository}/pulls`,
  list: 'state=all&sort=updated&direction=desc&per_page=20',
  change: 'PATCH',
  text: 'body',
  source: 'head',
  target: 'base',
  keys: { number: 'number', branch: 'head.ref', head: 'head.sha', from: 'head.repo.id', to: 'base.repo.id' },
};

/** The Git hosts that the program knows, by their folder in `catalogue-template/`. */
export const gitHosts = {
  github: {
    names: ['GitHub'],
    labels: ['github'],
    edit: 'edit',
    history: 'commits',
    commit: 'commit',
    pull: 'pull',
    create: 'new',
    fileName: 'filename',
    takesText: true,
    pipeline: '.github/workflows/catalogue.yml',
    hook: { proofs: { 'X-Hub-Signature-256': 'body' }, repository: 'repository.full_name' },
    api: gitHubApi,
  },
  gitlab: {
    names: ['GitLab'],
    labels: ['gitlab'],
    edit: '-/edit',
    history: '-/commits',
    commit: '-/commit',
    pull: '-/merge_requests',
    create: '-/new',
    fileName: 'file_name',
    takesText: false,
    pipeline: '.gitlab-ci.yml',
    hook: {
      proofs: { 'webhook-signature': 'standard', 'X-Gitlab-Token': 'secret' },
      repository: 'project.path_with_namespace',
    },
    // https://docs.gitlab.com/api/merge_requests/
    api: {
      root: (host) => `https://${host}/api/v4`,
      pulls: (repository) => `projects/${encodeURIComponent(repository)}/merge_requests`,
      list: 'state=all&order_by=updated_at&sort=desc&per_page=20',
      change: 'PUT',
      text: 'description',
      source: 'source_branch',
      target: 'target_branch',
      keys: {
        number: 'iid',
        branch: 'source_branch',
        head: 'sha',
        from: 'source_project_id',
        to: 'target_project_id',
      },
    },
  },
  // Gitea is the same, and signs as Gogs does.
  forgejo: {
    names: ['Codeberg', 'Forgejo', 'Gitea'],
    labels: ['forgejo', 'gitea', 'codeberg', 'git'],
    edit: '_edit',
    history: 'commits/branch',
    commit: 'commit',
    pull: 'pulls',
    create: '_new',
    fileName: 'filename',
    takesText: true,
    pipeline: '.forgejo/workflows/catalogue.yml',
    hook: {
      proofs: { 'X-Forgejo-Signature': 'body', 'X-Gitea-Signature': 'body', 'X-Gogs-Signature': 'body' },
      repository: 'repository.full_name',
    },
    // https://codeberg.org/api/swagger#/repository/repoListPullRequests
    api: {
      ...gitHubApi,
      root: (host) => `https://${host}/api/v1`,
      list: 'state=all&sort=recentupdate&limit=20',
      // `head.ref` changes when the branch is deleted.
      keys: { ...gitHubApi.keys, branch: 'head.label' },
    },
  },
} as const satisfies Readonly<Record<string, GitHost>>;

export type GitHostId = keyof typeof gitHosts;

/** The properties in which Git hosts differ. */
export interface GitHost {
  /** The name of its sites for people. */
  readonly names: readonly string[];
  /** The parts of a host name that stand for its software. */
  readonly labels: readonly string[];
  /** The paths of its pages below that of the repository, each before the branch. */
  readonly edit: string;
  readonly history: string;
  readonly create: string;
  /** The path of a commit's page, before its id. */
  readonly commit: string;
  /** The path of a pull request's page, before its number. */
  readonly pull: string;
  /** The parameter of the page that creates a file for its path. */
  readonly fileName: string;
  /** Whether that page takes the text of the file as `value`. */
  readonly takesText: boolean;
  /** The file that has the check of pull requests. */
  readonly pipeline: string;
  readonly hook: {
    /** The headers that prove that a call of its webhook is genuine. */
    readonly proofs: Readonly<Record<string, WebhookProof>>;
    /** The place of the repository's path in the body of a call. */
    readonly repository: string;
  };
  readonly api: PullsApi;
}

/** The requests about pull requests that the REST API of a host takes. All hosts take the token as `Bearer`. */
export interface PullsApi {
  /** Returns the usual address of the API at a host name. */
  readonly root: (host: string) => string;
  /** Returns the path of the pull requests of a repository. */
  readonly pulls: (repository: string) => string;
  /** The query that lists all of them, the last updated first. */
  readonly list: string;
  /** The method that changes title and text of one. */
  readonly change: 'PATCH' | 'PUT';
  /** The keys that are sent for the text, and for the names of the branches. */
  readonly text: string;
  readonly source: string;
  readonly target: string;
  /** The places of a pull request's number, its branch and commit, and the repositories it is from and to. */
  readonly keys: Readonly<Record<'number' | 'branch' | 'head' | 'from' | 'to', string>>;
}

/**
 * `body`: a signature of the body (HMAC with SHA-256), in hexadecimal digits. `standard`: a signature of ID, time and body
 * by the Standard Webhooks specification. `secret`: the secret itself.
 */
export type WebhookProof = 'body' | 'standard' | 'secret';

/** Reads JSON of a host at keys such as `head.sha`; undefined if they are not there. */
export function readKeys(json: unknown, keys: string): unknown {
  return keys
    .split('.')
    .reduce((value, key) => (value as Readonly<Record<string, unknown>> | null | undefined)?.[key], json);
}

/** Returns the name of the site at a host name, such as GitHub; null if it is not known. */
export function findHostName(hostname: string): string | null {
  const names = Object.values<GitHost>(gitHosts).flatMap((host) => host.names);
  return names.find((name) => hostname.split('.').includes(name.toLowerCase())) ?? null;
}

/** Guesses a host from its name. */
export function guessGitHost(hostname: string): GitHost | undefined {
  return Object.values<GitHost>(gitHosts).find(({ labels }) =>
    labels.some((label) => `.${hostname}`.includes(`.${label}.`)),
  );
}
