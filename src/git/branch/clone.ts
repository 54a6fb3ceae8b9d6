import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { BotshelfError, codeOf, isError, messageOf, UserError } from '../../lib/errors.ts';
import { removeUnfinishedWrites } from '../../lib/files.ts';
import type { Log } from '../../lib/log.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import { BranchFeed } from './feed.ts';
import { GitRunner } from '../git-runner.ts';
import { askHolder, type InstanceLock, type Respond, takeInstanceLock } from './instance-lock.ts';
import { isIndexLocked, isIndexMissing } from './git-index.ts';
import { Maintenance, type MaintenanceOptions } from '../maintenance.ts';
import { parseRemote, type RemotePlace } from '../hosts.ts';
import { type Repository, RepositoryOpener, toUnavailableError } from '../repository.ts';
import { type GitClient, withoutModulesFile } from '../run-git.ts';

/** The clone that a service has for itself. */
export interface Clone {
  readonly repositoryOpener: RepositoryOpener;
  /** The folder for data that is not in Git. */
  readonly var: string;
  /** Whether a person edits the catalogue in the clone. */
  readonly isEdited: boolean;
  /** The commits on the branch, by any committer, and those of this service. */
  readonly branch: BranchFeed;
  /** Null without a remote `origin`. */
  readonly origin: Origin | null;
  /** The place of the remote that the clone is synchronised with; undefined if it is not at a host. */
  readonly remotePlace: RemotePlace | undefined;
  /** Whether a git may be writing files of the work tree now. */
  readonly isGitWriting: () => boolean;
  /** Keeps Git fast from now on. @param prune as in MaintenanceOptions */
  maintain(prune: MaintenanceOptions['prune']): Maintenance;
  /** Starts to respond to requests of commands, one at a time. Closing it ends that, after the current request. */
  serveRequests(respond: Respond): { close(): Promise<void> };
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
    const requests = new SerialQueue();
    let serve: Respond | undefined;
    const respond: Respond = async (request) => await requests.run(async () => await serve?.(request));
    const cloneLock = await takeCloneLock(repositoryOpener, log, respond);
    const branch = new BranchFeed({ file: join(folder, 'branch'), repositoryOpener, isEdited, log });
    return {
      repositoryOpener,
      var: folder,
      isEdited,
      isGitWriting: () => repositoryOpener.opened !== undefined && isIndexLocked(repositoryOpener.opened),
      branch,
      origin: await readOrigin(repositoryOpener),
      remotePlace: remote ? await readRemotePlace(repositoryOpener, remote.remote) : undefined,
      maintain: (prune) => {
        const maintenance = new Maintenance({ repositoryOpener, log, prune });
        branch.onPublished(() => maintenance.packAdded());
        return maintenance;
      },
      serveRequests: (to) => {
        serve = to;
        return {
          close: async () => {
            serve = undefined;
            await requests.run(async () => {});
          },
        };
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
    const remote = await readRemoteUrl(repository, 'origin');
    const branch = repository.branch().replace('refs/heads/', '');
    return { remote, branch, prefix: repository.prefix };
  } catch {
    return null;
  }
}

/** Returns the place of a remote, given by name or URL; undefined if it is not at a host. */
export async function readRemotePlace(
  repositoryOpener: RepositoryOpener,
  remote: string,
): Promise<RemotePlace | undefined> {
  const named = repositoryOpener.open().then(async (repository) => await readRemoteUrl(repository, remote));
  return parseRemote(await named.catch(() => remote));
}

/** Returns the URL of a remote, given by name. @throws {GitError} if there is no such remote */
export async function readRemoteUrl(repository: Repository, remote: string): Promise<string> {
  return (await repository.run(['remote', 'get-url', remote])).trim();
}

/**
 * Returns the files of a folder that differ from HEAD in the index or the work tree, new files too. Takes a second for
 * 150,000 files, at the lowest priority.
 * @param folder relative to the top of the repository
 * @param signal ends it
 * @throws {BotshelfError} unavailable, without an index, because every file would seem to differ
 * @throws {GitError}
 */
export async function listUncommittedFiles(
  repository: Repository,
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  if (await isIndexMissing(repository)) {
    const message = `Git's index is missing in ${repository.folder}: start the service there, which rebuilds it, or run "git reset"`;
    throw new BotshelfError('unavailable', message);
  }
  const output = await repository.run([...status, '--', folder], { background: true, signal });
  return output
    .split('\0')
    .slice(0, -1)
    .map((entry) => entry.slice('XY '.length));
}

const status = '--literal-pathspecs status --porcelain -z --untracked-files=all --no-renames'
  .split(' ')
  .concat(withoutModulesFile);

/**
 * Takes the lock of the clone itself, because two services with different folders `var/` would remove each other's locks
 * as stale. Returns undefined without a repository that this process can write to.
 * @throws {BotshelfError} already-running, while a running process has it
 * @throws {UserError} if the file system has no sockets
 * @throws a system error
 */
export async function takeCloneLock(
  repositoryOpener: RepositoryOpener,
  log: Log,
  respond: Respond,
): Promise<InstanceLock | undefined> {
  let repository: Repository;
  try {
    repository = await repositoryOpener.open();
  } catch (error) {
    log.debug({}, `the clone has no lock: ${toUnavailableError(error).message}`);
    return undefined;
  }
  try {
    return await takeInstanceLock(repository.gitDir, { shown: repository.folder, respond });
  } catch (error) {
    if (!['EROFS', 'EACCES', 'EPERM'].includes(codeOf(error) ?? '')) throw error;
    log.warn({}, toUnavailableError(error).message);
    return undefined;
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

/**
 * Runs `work` of a command as the only writer of a clone. If a service is the writer, sends it `request` and returns
 * its response instead. Signals that end a process wait for `work`, so that none leaves index and work tree behind the
 * branch.
 * @throws {UserError} if neither is possible; nothing was done
 * @throws {BotshelfError} unknown-outcome, if no response came
 * @throws what `work` throws
 */
export async function writeAlone(
  { gitDir, folder: shown }: Repository,
  request: string,
  work: () => Promise<string>,
): Promise<string> {
  const deadline = performance.now() + maxWaitMs;
  for (;;) {
    const lock = await takeInstanceLock(gitDir, { shown, isBrief: true }).catch((error: unknown) => {
      if (!isError(error, 'already-running'))
        throw codeOf(error) === undefined ? error : toUnavailableError(error);
    });
    if (lock) return await withoutSignals(work, lock);
    const { holder, response, isTaken } = await askHolder(gitDir, request);
    const service = `the botshelf that runs on ${shown} (${holder})`;
    if (response !== undefined) return response;
    if (isTaken) throw new BotshelfError('unknown-outcome', `${service} ended, or sent no response in time`);
    if (holder !== undefined && performance.now() > deadline)
      throw new UserError(
        `${service} took no change for ${maxWaitMs / 1000} s: try again, and restart it if it is of an earlier version`,
      );
    await sleep(100);
  }
}

/** Milliseconds in which a service can start or stop. */
const maxWaitMs = 30_000;

/** Ends `lock` after `work`, and then this process if a signal came meanwhile. */
async function withoutSignals<T>(work: () => Promise<T>, lock: InstanceLock): Promise<T> {
  let received: NodeJS.Signals | undefined;
  const keep = (signal: NodeJS.Signals): void => void (received = signal);
  for (const signal of endSignals) process.on(signal, keep);
  try {
    return await work();
  } finally {
    await lock.release();
    for (const signal of endSignals) process.off(signal, keep);
    if (received !== undefined) process.kill(process.pid, received);
  }
}

const endSignals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
