import type { RepositoryOpener } from './repository.ts';

/** The remote, branch and folder that the catalogue is shared by. */
export interface Origin {
  /** The URL of the remote `origin`, as Git has it: https, ssh or `git@host:path`. */
  readonly remote: string;
  /** The short name of the branch that is checked out. */
  readonly branch: string;
  /** Where the catalogue is in the repository: empty, or with a slash at its end. */
  readonly prefix: string;
}

/** Reads the origin of the catalogue's repository; null where it has none, or is no repository. */
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
  const path = (scpPath ?? url?.pathname ?? '').replace(/^\/+|(\.git)?\/*$/g, '');
  return host !== undefined && /^[\w.-]+(\/[\w.~-]+)+$/.test(path)
    ? { host: host.toLowerCase(), path }
    : undefined;
}

/** Returns where a remote is that is given by its name, or by its URL; undefined if it is at no host. */
export async function readRemotePlace(
  repositoryOpener: RepositoryOpener,
  remote: string,
): Promise<RemotePlace | undefined> {
  const named = repositoryOpener
    .open()
    .then(async (repository) => await repository.run(['remote', 'get-url', remote]));
  return parseRemote((await named.catch(() => remote)).trim());
}
