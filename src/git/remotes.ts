import { UserError } from '../lib/errors.ts';
import { runCommandLineGit, GitError, maxStallSeconds as stallSeconds } from './run-git.ts';
import type { RepositoryOpener } from './repository.ts';

/** The remote, branch and folder that the catalogue is shared by. */
export interface Origin {
  /** The URL of the remote `origin` in Git's form: https, ssh or `git@host:path`. */
  readonly remote: string;
  /** The short name of the branch that is checked out. */
  readonly branch: string;
  /** Where the catalogue is in the repository: empty, or with a slash at its end. */
  readonly prefix: string;
}

/** Reads the origin of the catalogue's repository; null without an origin or a repository. */
export async function readOrigin(repositoryOpener: RepositoryOpener): Promise<Origin | null> {
  try {
    const repository = await repositoryOpener.open();
    const remote = await repository.run(['remote', 'get-url', 'origin']);
    const branch = repository.branch().replace('refs/heads/', '');
    return { remote: remote.trim(), branch, prefix: repository.prefix };
  } catch {
    return null;
  }
}

export interface RemotePlace {
  readonly host: string;
  readonly path: string;
}

/**
 * Parses a remote into host and repository path, without user name, password, SSH port and `.git`; undefined for one that
 * is at no host.
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

/** Returns the place of a remote, given by name or URL; undefined if it is not at a host. */
export async function readRemotePlace(
  repositoryOpener: RepositoryOpener,
  remote: string,
): Promise<RemotePlace | undefined> {
  const named = repositoryOpener
    .open()
    .then(async (repository) => await repository.run(['remote', 'get-url', remote]));
  return parseRemote((await named.catch(() => remote)).trim());
}

/**
 * Fetches a commit that no branch of the clone has, such as that of a pull request, with its history. It moves no ref, runs
 * no hook and checks nothing out. A partial clone leaves out the same objects as before.
 * @param remote a remote's name, or an address
 * @param id the whole id of the commit
 * @throws {UserError} if it cannot be fetched, or has broken objects
 */
export async function fetchCommit(folder: string, remote: string, id: string): Promise<void> {
  if (!/^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(id))
    throw new UserError(
      `${JSON.stringify(id)} is not the id of a commit: --fetch needs all 40 digits in --head`,
    );
  try {
    await runCommandLineGit(folder, [...fetch, '--', remote, id], { stallSeconds });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    throw new UserError(
      `commit ${id} cannot be fetched from ${JSON.stringify(remote)}, or has broken objects: ${error.stderr.trim() || 'git was killed'}`,
    );
  }
}

/**
 * Fetches in one request the objects that a partial clone lacks of these. Without it, git fetches each of them when it is
 * read, one after the other.
 * @param revisions lists of arguments of `git rev-list`: commits, or trees with `--` and paths that are taken literally
 * @throws {GitError}
 */
export async function fetchMissing(
  folder: string,
  ...revisions: readonly (readonly string[])[]
): Promise<void> {
  const remote = await findPromisorRemote(folder);
  if (remote === undefined) return;
  const lists = await Promise.all(
    revisions.map(async (args) => await runCommandLineGit(folder, [...listMissing, ...args])),
  );
  const missing = new Set(lists.flatMap((list) => [...list.matchAll(/^\?(.+)$/gm)].map(([, id = '']) => id)));
  if (missing.size === 0) return;
  const input = [...missing].map((id) => `${id}\n`).join('');
  await runCommandLineGit(folder, [...fetchObjects, '--', remote], { input, stallSeconds });
}

/** Returns the remote that a partial clone fetches from; undefined for any other clone. */
async function findPromisorRemote(folder: string): Promise<string | undefined> {
  const query = ['config', '--bool', '--get-regexp', String.raw`^remote\..*\.promisor$`];
  const lines = await runCommandLineGit(folder, query, { accepts: 1 });
  return /^remote\.(.+)\.promisor true$/m.exec(lines)?.[1];
}

const fetch = fetchCommand('fetch.fsckObjects=true');

/** Skips the negotiation of history, because only objects are needed. */
const fetchObjects = ['-c', 'fetch.negotiationAlgorithm=noop', ...fetch, '--filter=blob:none', '--stdin'];

const listMissing = ['--literal-pathspecs', 'rev-list', '--objects', '--no-object-names', '--missing=print'];

/**
 * Returns the start of a `git fetch` that fetches what it names and nothing else: no tags, no submodules, no maintenance, no
 * FETCH_HEAD, and no remote-tracking branch, whose lock a killed push may have left. The remote and what to fetch follow.
 * @param setting of Git for this command, such as `fetch.fsckObjects=true`
 */
export function fetchCommand(setting: string): readonly string[] {
  return [
    '-c',
    setting,
    'fetch',
    '--progress',
    '--no-tags',
    '--no-write-fetch-head',
    '--refmap=',
    '--no-recurse-submodules',
    '--no-auto-maintenance',
  ];
}
