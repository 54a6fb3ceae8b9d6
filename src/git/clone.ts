import { join } from 'node:path';
import { messageOf, UserError } from '../lib/errors.ts';
import { removeUnfinishedWrites } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { BranchFeed, CommitEvents } from './branch-feed.ts';
import { GitRunner } from './git-runner.ts';
import { type InstanceLock, isIndexLocked, takeCloneLock, takeInstanceLock } from './locks.ts';
import { Maintenance, type MaintenanceOptions } from './maintenance.ts';
import { type Origin, readOrigin, readRemotePlace, type RemotePlace } from './remotes.ts';
import { RepositoryOpener } from './repository.ts';
import type { GitClient } from './run-git.ts';

/** The clone that a service has for itself. */
export interface Clone {
  readonly repositoryOpener: RepositoryOpener;
  /** The folder for what is not in Git. */
  readonly var: string;
  /** Whether a person edits the catalogue in the clone. */
  readonly isEdited: boolean;
  /** Each commit of this service. */
  readonly commits: CommitEvents;
  /** The commits on the branch, by any committer. */
  readonly branch: BranchFeed;
  /** Null if there is none. */
  readonly origin: Origin | null;
  /** The place of the remote that the clone is synchronised with; undefined if it is not at a host. */
  readonly remotePlace: RemotePlace | undefined;
  /** Whether a git may be writing files of the work tree now. */
  readonly isGitWriting: () => boolean;
  /** Keeps Git fast from now on. @param prune as in MaintenanceOptions */
  maintain(prune: MaintenanceOptions['prune']): Maintenance;
  /** Releases the locks. */
  close(): Promise<void>;
}

interface CloneOptions {
  readonly config: {
    readonly var: string;
    /** The remote that the clone is synchronised with, or null. */
    readonly remote: { readonly remote: string } | null;
    readonly dev: boolean;
    readonly demo: object | null;
  };
  readonly repositoryOpener: RepositoryOpener;
  readonly log: Log;
}

/**
 * Returns the opener of a clone. If `git` is left out, git runs from a separate process, which ends with the opener.
 */
export function createOpener(catalogue: string, git: GitClient = new GitRunner()): RepositoryOpener {
  return new RepositoryOpener(catalogue, git);
}

/**
 * Takes the locks of a clone and of `var`, and removes what a crash left there.
 * @throws {UserError} when another service has one of them, or `var` cannot be used
 */
export async function openClone({ config, repositoryOpener, log }: CloneOptions): Promise<Clone> {
  const { var: folder, remote } = config;
  const isEdited = config.dev || config.demo !== null;
  const lock = await lockVar(folder);
  try {
    await removeUnfinishedWrites(folder);
    const cloneLock = await takeCloneLock(repositoryOpener, log);
    const commits = new CommitEvents(log);
    return {
      repositoryOpener,
      var: folder,
      isEdited,
      isGitWriting: () => repositoryOpener.opened !== undefined && isIndexLocked(repositoryOpener.opened),
      commits,
      branch: new BranchFeed({ file: join(folder, 'branch'), repositoryOpener, isEdited, log }),
      origin: await readOrigin(repositoryOpener),
      remotePlace: remote ? await readRemotePlace(repositoryOpener, remote.remote) : undefined,
      maintain: (prune) => {
        const maintenance = new Maintenance({ repositoryOpener, log, prune });
        commits.subscribe(() => maintenance.packAdded());
        return maintenance;
      },
      close: async () => {
        await cloneLock?.release();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw error;
  }
}

/** Takes the lock of `var`. @throws {UserError} when a service has it, or the folder cannot be used */
export async function lockVar(folder: string): Promise<InstanceLock> {
  return await takeInstanceLock(folder).catch((error: unknown) => {
    if (error instanceof UserError) throw error;
    throw new UserError(
      `${folder} cannot be used: ${messageOf(error)}. Set BOTSHELF_VAR to a writable folder`,
    );
  });
}
