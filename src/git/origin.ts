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
