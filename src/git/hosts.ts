/** The Git hosts that the program knows, by the folder of `catalogue-template/` that has the check of pull requests. */
export const gitHosts = {
  github: {
    names: ['GitHub'],
    labels: ['github'],
    edit: 'edit',
    history: 'commits',
    commit: 'commit',
    pull: 'pull',
    pullRefs: 'refs/pull/',
    review: 'rest',
    create: 'new',
    fileName: 'filename',
    takesText: true,
    pipeline: '.github/workflows/catalogue.yml',
    proofs: { 'X-Hub-Signature-256': 'body' },
  },
  gitlab: {
    names: ['GitLab'],
    labels: ['gitlab'],
    edit: '-/edit',
    history: '-/commits',
    commit: '-/commit',
    pull: '-/merge_requests',
    pullRefs: 'refs/merge-requests/',
    review: 'push-options',
    create: '-/new',
    fileName: 'file_name',
    takesText: false,
    pipeline: '.gitlab-ci.yml',
    proofs: { 'webhook-signature': 'standard', 'X-Gitlab-Token': 'secret' },
  },
  // Gitea is the same.
  forgejo: {
    names: ['Codeberg', 'Forgejo', 'Gitea'],
    labels: ['forgejo', 'gitea', 'codeberg', 'git'],
    edit: '_edit',
    history: 'commits/branch',
    commit: 'commit',
    pull: 'pulls',
    pullRefs: 'refs/pull/',
    review: 'agit',
    create: '_new',
    fileName: 'filename',
    takesText: true,
    pipeline: '.forgejo/workflows/catalogue.yml',
    proofs: { 'X-Forgejo-Signature': 'body', 'X-Gitea-Signature': 'body' },
  },
} as const satisfies Readonly<Record<string, GitHost>>;

export type GitHostId = keyof typeof gitHosts;

export interface GitHost {
  /** What people call its sites. */
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
  /** The refs of its pull requests, before `<number>/head`. */
  readonly pullRefs: string;
  /**
   * How a program makes a pull request. `rest`: a branch and the REST API of GitHub. `push-options`: a branch, pushed with
   * the options of GitLab. `agit`: a push to `refs/for/<branch>`.
   */
  readonly review: 'rest' | 'push-options' | 'agit';
  /** The parameter of the page that creates a file for its path. */
  readonly fileName: string;
  /** Whether that page takes the text of the file as `value`. */
  readonly takesText: boolean;
  /** The file that has the check of pull requests. */
  readonly pipeline: string;
  /** The headers that prove that a call of its webhook is genuine. */
  readonly proofs: Readonly<Record<string, WebhookProof>>;
}

/**
 * `body`: a signature of the body (HMAC with SHA-256), in hexadecimal digits. `standard`: one of ID, time and body by the
 * Standard Webhooks specification. `secret`: the secret itself.
 */
export type WebhookProof = 'body' | 'standard' | 'secret';

/** Returns what people call the site at a host name, such as GitHub; null where it is not known. */
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
