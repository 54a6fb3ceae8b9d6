import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { createDiskFullError, isUnavailable, stopping, toWriteError } from '../bot/errors.ts';
import { BotshelfError, codeOf, isError, messageOf } from '../lib/errors.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { type HashName, ObjectReader } from './objects.ts';
import { GitError, isGitFailure, directClient, type GitClient, type GitOptions } from './run-git.ts';

/** The Git repository of the catalogue. The service runs git in it through `run` alone. */
export interface Repository {
  /** The top of the work tree. Absolute. */
  readonly folder: string;
  /** Where the catalogue is below the top: empty, or with a slash at its end. */
  readonly prefix: string;
  /** The folder of HEAD and the index. In a linked worktree it is not `commonDir`. */
  readonly gitDir: string;
  /** The folder that all work trees share: objects, refs, packed-refs. */
  readonly commonDir: string;
  readonly hash: HashName;
  /** The author and committer of the service's commits, `name <address>`. */
  readonly identity: string;
  /** The folder for files that are not complete yet. It may not exist. */
  readonly staging: string;
  readonly objects: ObjectReader;
  /** Runs syncs of names of refs, and what packs refs, one after the other: see `packRefs`. */
  readonly refQueue: SerialQueue;

  /** Returns whether a git process with this parent was started by this service. */
  isOwn(parent: number): boolean;

  /**
   * Runs one git command and returns its standard output.
   * @throws {GitError} when it fails or is killed
   */
  run(args: readonly string[], options?: Omit<GitOptions, 'take' | 'onProgress'>): Promise<string>;

  /**
   * Returns the branch that is checked out now, such as `refs/heads/main`.
   * @throws {BotshelfError} unavailable, if no branch is checked out
   */
  branch(): string;
}

/**
 * Opens the repository of the catalogue's folder, which may be any folder of its work tree.
 * @throws {BotshelfError} unavailable, without a repository that takes commits
 */
export async function openRepository(
  catalogue: string,
  client: GitClient = directClient,
): Promise<Repository> {
  const found = client.run({ folder: catalogue, args: findRepository.split(' ') });
  const output = await found.catch((error: unknown) => {
    throw toNoRepositoryError(catalogue, error);
  });
  const [inside, gitDir = '', commonDir = '', hash, prefix = ''] = output.split('\n');
  if (inside !== 'true')
    throw createNoRepositoryError(`${catalogue} is a bare repository, which has no files`);
  const folder = `${realpathSync(catalogue)}/`.slice(0, -prefix.length - 1);
  return {
    folder,
    prefix,
    gitDir,
    commonDir,
    hash: hash === 'sha256' ? 'sha256' : 'sha1',
    identity: await readIdentity(folder, client),
    staging: join(gitDir, 'botshelf/staging'),
    objects: new ObjectReader(folder),
    refQueue: new SerialQueue(),
    isOwn: (parent) => parent === process.pid || client.isParent(parent),
    run: async (args, { signal, ...options } = {}) => await client.run({ folder, args, ...options }, signal),
    branch: () => readBranch(gitDir),
  };
}

const findRepository =
  'rev-parse --path-format=absolute --is-inside-work-tree --absolute-git-dir --git-common-dir --show-object-format --show-prefix';

/** Returns the checked-out branch, or undefined. */
export function findBranch(repository: Repository): string | undefined {
  try {
    return repository.branch();
  } catch {
    return undefined;
  }
}

/** @throws {BotshelfError} unavailable, while a merge, rebase, cherry-pick or revert of a person is in progress */
export function ensureNoOperation({ gitDir }: Pick<Repository, 'gitDir'>): void {
  const marker = markerFiles.find((name) => existsSync(join(gitDir, name)));
  if (marker !== undefined) {
    throw new BotshelfError(
      'unavailable',
      `a merge, rebase or similar is in progress in the clone (${marker}): finish it, then the branch can move`,
    );
  }
}

const markerFiles = ['MERGE_HEAD', 'CHERRY_PICK_HEAD', 'REVERT_HEAD', 'rebase-merge', 'rebase-apply'];

/** Opens the repository when it is first needed, and again after a failure or when it was replaced. */
export class RepositoryOpener {
  readonly #catalogue: string;
  readonly #client: GitClient;
  #opened: Repository | undefined;
  #reason: string | undefined;
  #opening: Promise<Repository> | undefined;
  #isClosed = false;
  #wasOpen = false;

  constructor(catalogue: string, client: GitClient = directClient) {
    this.#catalogue = catalogue;
    this.#client = client;
  }

  get opened(): Repository | undefined {
    return this.#opened;
  }

  /** Returns why nothing can be committed now; undefined when commits can be made. Retries to open the repository. */
  unavailableReason(): string | undefined {
    if (this.#opened === undefined) {
      this.open().catch(() => {});
      return this.#reason;
    }
    const { folder, gitDir, commonDir } = this.#opened;
    try {
      this.#opened.branch();
      for (const path of [folder, gitDir, join(commonDir, 'objects'), join(commonDir, 'refs/heads')])
        accessSync(path, constants.W_OK);
      return undefined;
    } catch (error) {
      return toUnavailableError(error).message;
    }
  }

  /** @throws {BotshelfError} unavailable */
  async open(): Promise<Repository> {
    if (this.#opened && !statSync(join(this.#opened.gitDir, 'HEAD'), { throwIfNoEntry: false })) {
      this.#end();
    }
    return this.#opened ?? (await (this.#opening ??= this.#open()));
  }

  /** Returns the hash of the repository's ids; SHA-1 without a repository. */
  async hash(): Promise<HashName> {
    const repository = await this.open().catch(() => undefined);
    return repository?.hash ?? 'sha1';
  }

  /** Called once for concurrent callers: each opened repository keeps a git running, and `close` ends only one. */
  async #open(): Promise<Repository> {
    try {
      if (this.#isClosed) throw new BotshelfError('unavailable', stopping);
      const opened = await openRepository(this.#catalogue, this.#client);
      if (this.#isClosed) throw new BotshelfError('unavailable', stopping);
      this.#opened = opened;
      this.#wasOpen = true;
      this.#reason = undefined;
      return opened;
    } catch (error) {
      const isDeleted = this.#wasOpen && isError(error, 'no-repository');
      const reason = isDeleted ? toDeletedError(this.#catalogue, error) : error;
      this.#reason = messageOf(reason);
      throw reason;
    } finally {
      this.#opening = undefined;
    }
  }

  /** Ends the running git and starts no other, which would keep this process alive. */
  close(): void {
    this.#isClosed = true;
    this.#end();
    this.#client.close?.();
  }

  #end(): void {
    this.#opened?.objects.close();
    this.#opened = undefined;
  }
}

/** Returns the error for a failed write to Git: its message says what an operator has to do. */
export function toUnavailableError(error: unknown): BotshelfError {
  if (isUnavailable(error)) return error;
  if (error instanceof GitError) {
    if (isGitFailure(error, 'disk-full')) return createDiskFullError(error);
    const failed = `git could not write (${findLastLine(error.stderr) || error.message}): look at the disk and the repository`;
    return new BotshelfError('write-failed', error.startFailure ?? failed, { cause: error });
  }
  if (isError(error, 'unknown-outcome')) return new BotshelfError('unavailable', unknown, { cause: error });
  if (isError(error, 'ref-conflict')) return new BotshelfError('unavailable', tooFast, { cause: error });
  return toWriteError(error);
}

const unknown = 'git failed, and it is not known whether the change was saved: send it again';

const tooFast = 'the branch moves faster than a change can be committed: send it again';

/** Returns the last line, without the names of temporary files, which change at each try. */
function findLastLine(text: string): string {
  return (text.trim().split('\n').at(-1) ?? '').replaceAll(/\btmp_\w+/g, 'tmp');
}

function toNoRepositoryError(catalogue: string, error: unknown): BotshelfError {
  const {
    startFailure,
    ownershipProblem,
    stderr = messageOf(error),
  } = error instanceof GitError ? error : {};
  if (startFailure !== undefined) return new BotshelfError('no-git', startFailure, { cause: error });
  if (ownershipProblem !== undefined)
    return new BotshelfError('wrong-user', ownershipProblem, { cause: error });
  if (!existsSync(`${catalogue}/.`)) return createNoRepositoryError(`${catalogue} is not a folder`, error);
  const none = `${catalogue} is in no Git repository that can be written to (${findLastLine(stderr)})`;
  return createNoRepositoryError(none, error, 'run "git init" there');
}

/** @param fix what the operator can do, other than serve another folder */
function createNoRepositoryError(problem: string, cause?: unknown, fix?: string): BotshelfError {
  const other = 'set BOTSHELF_CATALOGUE to a clone';
  const message = `${problem}: ${fix === undefined ? other : `${fix}, or ${other}`}`;
  return new BotshelfError('no-repository', message, { cause });
}

/**
 * Reads the identity that the repository configures itself: a maintainer's personal one is not put on owners' edits.
 */
async function readIdentity(folder: string, client: GitClient): Promise<string> {
  const args = ['config', '--local', '-z', '--get-regexp', String.raw`^user\.(name|email)$`];
  const entries = (await client.run({ folder, args, accepts: 1 })).split('\0').map((entry) => {
    const [key = '', ...lines] = entry.split('\n');
    return [key, lines.join('').replace(/[<>]/g, '').trim()] as const;
  });
  const { 'user.name': name = 'Botshelf', 'user.email': email = 'botshelf@localhost' } =
    Object.fromEntries(entries);
  return `${name} <${email}>`;
}

/** Returns the error for a repository that was deleted while it is used: “git init” would begin an unrelated history. */
function toDeletedError(path: string, cause: unknown): BotshelfError {
  return createNoRepositoryError(
    `the repository ${path} was deleted`,
    cause,
    'stop the service, clone it again and start',
  );
}

function readBranch(gitDir: string): string {
  let head: string;
  try {
    head = readFileSync(join(gitDir, 'HEAD'), 'utf8');
  } catch (error) {
    throw codeOf(error) === 'ENOENT' ? toDeletedError(gitDir, error) : toUnavailableError(error);
  }
  const branch = /^ref: (refs\/heads\/.+)\n$/.exec(head)?.[1];
  if (branch === 'refs/heads/.invalid') {
    throw new BotshelfError(
      'unavailable',
      'the repository keeps its refs in a reftable, which is not supported: run "git refs migrate --ref-format=files"',
    );
  }
  if (branch === undefined) {
    throw new BotshelfError(
      'unavailable',
      'HEAD is on no branch: finish the rebase, or run "git switch <branch>"',
    );
  }
  return branch;
}
