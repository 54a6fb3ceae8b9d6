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

/**
 * The requests about pull requests that the REST API of GitHub takes: https://docs.github.com/rest/pulls/pulls. All hosts
 * take the token as `Bearer`.
 */
const gitHubApi = {
  /** Returns the usual address of the API at a host name. */
  root: (host: string): string =>
    host === 'github.com' ? 'https://api.github.com' : `https://${host}/api/v3`,
  /** Returns the path of the pull requests of a repository. */
  pulls: (repository: string): string => `repos/${repository}/pulls`,
  /** The query that lists all of them, the last updated first. */
  list: 'state=all&sort=updated&direction=desc&per_page=20',
  /** The method that changes title and text of one. */
  change: 'PATCH',
  /** The keys that are sent for the text, and for the names of the branches. */
  text: 'body',
  source: 'head',
  target: 'base',
  /** The places of a pull request's number, its branch and commit, and the repositories it is from and to. */
  keys: { number: 'number', branch: 'head.ref', head: 'head.sha', from: 'head.repo.id', to: 'base.repo.id' },
};

/** The Git hosts that the program knows, by their folder in `catalogue-template/`, each with the same properties. */
export const gitHosts = {
  github: {
    /** The name of its sites for people. */
    names: ['GitHub'],
    /** The parts of a host name that stand for its software. */
    labels: ['github'],
    /** The paths of its pages below that of the repository, each before the branch. */
    edit: 'edit',
    history: 'commits',
    create: 'new',
    /** The path of a commit's page, before its id. */
    commit: 'commit',
    /** The path of a pull request's page, before its number. */
    pull: 'pull',
    /** The parameter of the page that creates a file for its path. */
    fileName: 'filename',
    /** Whether that page takes the text of the file as `value`. */
    takesText: true,
    /** The file that has the check of pull requests. */
    pipeline: '.github/workflows/catalogue.yml',
    /** The headers that prove that a call of its webhook is genuine, and the place of the repository's path in its body. */
    hook: { proofs: { 'X-Hub-Signature-256': 'body' }, repository: 'repository.full_name' },
    api: gitHubApi,
  },
  gitlab: {
    names: ['GitLab'],
    labels: ['gitlab'],
    edit: '-/edit',
    history: '-/commits',
    create: '-/new',
    commit: '-/commit',
    pull: '-/merge_requests',
    fileName: 'file_name',
    takesText: false,
    pipeline: '.gitlab-ci.yml',
    hook: {
      proofs: { 'webhook-signature': 'standard', 'X-Gitlab-Token': 'secret' },
      repository: 'project.path_with_namespace',
    },
    // https://docs.gitlab.com/api/merge_requests/
    api: {
      root: (host: string): string => `https://${host}/api/v4`,
      pulls: (repository: string): string => `projects/${encodeURIComponent(repository)}/merge_requests`,
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
    create: '_new',
    commit: 'commit',
    pull: 'pulls',
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
      root: (host: string): string => `https://${host}/api/v1`,
      list: 'state=all&sort=recentupdate&limit=20',
      // `head.ref` changes when the branch is deleted.
      keys: { ...gitHubApi.keys, branch: 'head.label' },
    },
  },
} as const;

export type GitHostId = keyof typeof gitHosts;
type GitHost = (typeof gitHosts)[GitHostId];

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
  const names = Object.values(gitHosts).flatMap((host): readonly string[] => host.names);
  return names.find((name) => hostname.split('.').includes(name.toLowerCase())) ?? null;
}

/** Guesses a host from its name. */
export function guessGitHost(hostname: string): GitHost | undefined {
  return Object.values(gitHosts).find(({ labels }) =>
    labels.some((label) => `.${hostname}`.includes(`.${label}.`)),
  );
}
