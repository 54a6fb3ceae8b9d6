import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { existsSync, readFileSync, statSync, closeSync, openSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { join } from 'node:path';
import { BotshelfError, UserError } from '../lib/errors.ts';

/** A git command failed or was killed. User names and passwords of addresses are removed. */
export class GitError extends BotshelfError {
  readonly command: string;
  /** The exit code; null when git was killed, negative when it could not be started. */
  readonly status: number | null;
  /** The standard error of git. */
  readonly stderr: string;
  /** Whether it was ended, or not started, because the service is stopping. */
  readonly isStopping: boolean;

  constructor(args: readonly string[], status: number | null, stderr: string, isStopping = false) {
    const command = removeCredentials(`git ${args.join(' ')}`);
    const end = status === null ? 'was killed' : `ended with ${status}`;
    const clean = removeCredentials(stderr);
    const said = clean.trim();
    super('git-failed', `${command} ${end}${said === '' ? '' : `: ${said}`}`);
    this.name = 'GitError';
    this.command = command;
    this.status = status;
    this.stderr = clean;
    this.isStopping = isStopping;
  }

  /** Why git could not be started, and what to do; undefined if it was. */
  get startFailure(): string | undefined {
    if (this.status === null || this.status >= 0) return undefined;
    return /\bspawn git ENOENT\b/.test(this.stderr)
      ? 'git cannot be run: install it, or put it on the PATH'
      : `git cannot be run (${this.reason}): look at the memory of this machine and the limits of this user`;
  }

  /** Why git refuses a repository that belongs to another user, and what to do; undefined if it failed for another reason. */
  get ownershipProblem(): string | undefined {
    const [, path] = /dubious ownership in repository at '(.+)'/.exec(this.stderr) ?? [];
    if (path === undefined) return undefined;
    const uid = process.geteuid?.() ?? 0;
    const owners = [path, join(path, '.git')].map((file) => statSync(file, { throwIfNoEntry: false })?.uid);
    const owner = owners.find((other) => other !== undefined && other !== uid) ?? uid;
    const [theirs, ours] = [formatUser(owner), formatUser(uid)];
    // Not for root: after a chown to root, the right user would be locked out.
    const other = uid === 0 ? '' : `, or change the owner of the folder (chown -R ${uid} ${path})`;
    return `${path} belongs to ${theirs}, and this runs as ${ours}: run it as ${theirs}${other}`;
  }

  /** The first line of git's standard error; may be empty. */
  get reason(): string {
    return (this.stderr.split('\n', 1)[0] ?? '').replace(/^fatal: /, '');
  }
}

/**
 * Whether git failed for this reason. Git has no error codes, so its messages, which are in English by `LC_ALL=C`, are the
 * only sign: nothing else decides by them.
 */
export function isGitFailure(error: unknown, failure: keyof typeof gitFailures): boolean {
  return error instanceof GitError && gitFailures[failure].test(error.stderr);
}

const gitFailures = {
  'disk-full': /no space left|out of diskspace|quota exceeded|file too large/i,
  'index-locked': /index\.lock/,
  'index-damaged':
    /index file (corrupt|smaller than expected)|unknown index entry format|malformed name field|broken index|sharedindex\S{0,80} index file open failed: No such file/,
  'ref-locked': /cannot lock ref|failed to update ref|atomic transaction failed/,
  'remote-moved': /\(stale info\)/,
};

/**
 * Returns a text without the user names and passwords of the addresses in it. Git repeats the address of a remote in
 * its errors, and a command has it among its arguments. Addresses that are percent-encoded as a whole are covered, and
 * passwords with characters that should be encoded: too much is removed rather than too little.
 */
export function removeCredentials(text: string): string {
  return text
    .replace(/:\/\/[^\s/]*@/g, '://')
    .replace(passwordWithSlash, '://')
    .replace(/%3A%2F%2F[^\s/]*%40/gi, '%3A%2F%2F');
}

/** An address in which no port follows the first colon. */
const passwordWithSlash = /:\/\/[^\s/:[\]]*:(?!\d{0,5}(?:[/?#'"]|\s|$))[^\s]*@/g;

/** Returns a user such as `alice (uid 1000)`. */
function formatUser(uid: number): string {
  const users = readPasswd().map((line) => line.split(':'));
  const [name] = users.find(([, , id]) => id === String(uid)) ?? [];
  return name === undefined ? `uid ${uid}` : `${name} (uid ${uid})`;
}

function readPasswd(): string[] {
  try {
    return readFileSync('/etc/passwd', 'utf8').split('\n');
  } catch {
    return [];
  }
}

/** Settings of every git command of the service: no code of the repository is run, and every write is synced. */
export const gitSettings: readonly string[] = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.fsync=objects,derived-metadata,reference,index',
  'core.fsyncMethod=fsync',
  'core.filesRefLockTimeout=1000',
  'core.packedRefsTimeout=1000',
  'commit.gpgSign=false',
  'gc.auto=0',
  'fetch.recurseSubmodules=false',
];

/**
 * An option of commands that compare trees or the work tree: Git then does not read `.gitmodules`, and so does not fail
 * if a program is written there.
 */
export const withoutModulesFile = '--ignore-submodules=none';

/** Seconds after which a command on the network that makes no progress has stalled. */
export const maxStallSeconds = 60;

/** Less than a byte a second is no progress. */
const networkSettings: readonly string[] = ['http.lowSpeedLimit=1', `http.lowSpeedTime=${maxStallSeconds}`];

/** Makes git read large objects in pieces, because one may not fit into memory. */
export const largeInPieces: readonly string[] = ['-c', 'core.bigFileThreshold=1m'];

/**
 * Returns the environment of every git command: that of this process, without variables that point git at another
 * repository or run a program (a service started from a Git hook has GIT_DIR set). Git then prompts for no password,
 * and takes no optional locks.
 */
export function createGitEnvironment(indexFile?: string): NodeJS.ProcessEnv {
  // oxlint-disable-next-line node/no-process-env -- handed on as it is; no setting is read from it
  const own = Object.entries(process.env).filter(
    ([name]) => !/^(GIT_|EDITOR$|VISUAL$|PAGER$|PREFIX$|SSH_ASKPASS$)/i.test(name),
  );
  const index = indexFile === undefined ? {} : { GIT_INDEX_FILE: indexFile };
  return { ...Object.fromEntries(own), ...gitVariables, ...index, LC_ALL: 'C' };
}

const gitVariables = { GIT_TERMINAL_PROMPT: '0', GIT_OPTIONAL_LOCKS: '0' };

/** One git command, run to its end. */
export interface GitCommand {
  readonly folder: string;
  readonly args: readonly string[];
  /** The standard input; never empty, because simple-git would leave git waiting. */
  readonly input?: string | Buffer;
  /** Another index than the work tree's own. */
  readonly indexFile?: string;
  /** An exit code other than 0 that is a success, such as 1 for "no". */
  readonly accepts?: number;
  /** Whether the command runs at the lowest priority, because it may take long. */
  readonly background?: boolean;
  /**
   * Set if the command connects to another machine: the seconds without output after which it is killed, with the
   * processes that it started. A transfer reports its progress with `--progress`.
   */
  readonly stallSeconds?: number;
  /** The file that its standard output is written to, instead of being returned. */
  readonly outputFile?: string;
}

export interface RunOptions {
  /** Kills a command with `background` or `stallSeconds`. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the standard output in pieces instead of the caller. An error that it throws ends git, and is rethrown. */
  readonly take?: ((piece: Buffer) => void) | undefined;
  /** Receives the last report of the progress, which `--progress` asks for. */
  readonly onProgress?: ((report: string) => void) | undefined;
}

/** What a command may have besides its folder and arguments. */
export type GitOptions = Omit<GitCommand, 'folder' | 'args'> & RunOptions;

/** Runs git. */
export interface GitClient {
  /** Whether commands that run are children of the process `pid`. */
  isParent(pid: number): boolean;
  /** As runGit does. */
  run(command: GitCommand, signal?: AbortSignal): Promise<string>;
  /** Called when the repository is closed; left out where others use it too. */
  close?(): void;
}

/** Runs git as a child of this process. */
export const directClient: GitClient = {
  isParent: (pid) => pid === process.pid,
  run: async (command, signal) => await runGit(command, { signal }),
};

/**
 * Runs git and returns its standard output, unless a file or `take` receives it. simple-git runs a short command to its
 * end. `runToEnd` runs a command that can be killed (`background`, `stallSeconds`), prints to a file or to `take`, or
 * reports its progress. In a service both run in the small process of git-runner.ts, because each start copies the page
 * tables of the parent; on the command line they run as children of the command.
 * @throws {GitError} when it fails or is killed, and what `take` throws
 */
export async function runGit(
  command: GitCommand,
  { signal, take, onProgress }: RunOptions = {},
): Promise<string> {
  const { args, background, stallSeconds, outputFile } = command;
  if (!background && stallSeconds === undefined && outputFile === undefined && !take && !onProgress)
    return await runSimpleGit(command);
  if (signal?.aborted) throw new GitError(args, null, '');
  const pieces: Buffer[] = [];
  const keep = (piece: Buffer): void => void pieces.push(piece);
  const file = outputFile === undefined ? undefined : openSync(outputFile, 'w');
  const write = file === undefined ? undefined : (piece: Buffer): void => writeFileSync(file, piece);
  try {
    await runToEnd(command, { signal, take: write ?? take ?? keep, onProgress });
  } finally {
    if (file !== undefined) closeSync(file);
  }
  return Buffer.concat(pieces).toString();
}

/** Starts a git that the caller reads and ends. */
export function spawnGit({
  folder,
  args,
  indexFile,
  stallSeconds,
}: Omit<GitCommand, 'input'>): ChildProcessWithoutNullStreams {
  const onNetwork = stallSeconds !== undefined;
  const settings = [...gitSettings, ...(onNetwork ? networkSettings : [])].flatMap((each) => ['-c', each]);
  // In a process group of its own, without a terminal: helpers such as ssh are killed with it and cannot prompt.
  const env = createGitEnvironment(indexFile);
  return spawn('git', [...settings, ...args], { cwd: folder, env, detached: onNetwork });
}

async function runSimpleGit({ folder, args, input, indexFile, accepts }: GitCommand): Promise<string> {
  if (input?.length === 0) throw new RangeError('an empty input leaves git waiting for more');
  // Imported here, because a service runs none of these commands itself.
  const { simpleGit } = await import('simple-git');
  // simple-git wraps the error that this function returns, so the error itself is kept here.
  let failure: GitError | undefined;
  const git = simpleGit({
    baseDir: folder,
    config: [...gitSettings],
    unsafe: { allowUnsafeHooksPath: true, allowUnsafeFsMonitor: true },
    completion: { onClose: true, onExit: false },
    allowEnvironment: ['GIT_INDEX_FILE', 'GIT_TERMINAL_PROMPT', 'GIT_OPTIONAL_LOCKS'],
    errors: (_, { exitCode, stdErr }) => {
      if (exitCode !== 0 && exitCode !== accepts)
        failure = new GitError(args, exitCode, Buffer.concat(stdErr).toString());
      return failure;
    },
    ...(input === undefined ? {} : { input: () => input }),
  });
  // If a command has printed nothing, simple-git waits 50 ms for more: an empty piece at the end avoids that.
  git.outputHandler((_command, stdout) => {
    stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
  });
  git.env(createGitEnvironment(indexFile));
  try {
    return await git.raw([...args]);
  } catch (error) {
    throw failure ?? error;
  }
}

async function runToEnd(
  command: GitCommand,
  { signal, take, onProgress }: RunOptions & { readonly take: (piece: Buffer) => void },
): Promise<void> {
  const { args, input, accepts = 0, background, stallSeconds } = command;
  const child = spawnGit(command);
  if (background) ifRunning(child.pid, (pid) => setPriority(pid, 19));
  let stderr = '';
  let failure: { readonly error: unknown } | undefined;
  const stop = (error: unknown): void => {
    failure ??= { error };
    if (stallSeconds === undefined) child.kill();
    else ifRunning(child.pid, (pid) => process.kill(-pid, 'SIGKILL'));
  };
  const abort = (): void => stop(new GitError(args, null, stderr));
  // Counted in steps: if this machine is too busy to run this process, git has had no time either.
  let silentSteps = 0;
  const countStep = (): void => {
    if (++silentSteps >= stallSteps)
      stop(new GitError(args, null, `git made no progress for ${stallSeconds} s`));
  };
  const timer = stallSeconds && setInterval(countStep, (stallSeconds * 1000) / stallSteps);
  signal?.addEventListener('abort', abort);
  child.stderr.on('data', (piece) => {
    silentSteps = 0;
    const text = stderr + String(piece);
    const report = onProgress && text.split(/[\r\n]/).findLast((line) => line.includes('%'));
    if (report !== undefined) onProgress?.(report);
    stderr = text.replace(progress, '').slice(-maxStderrLength);
  });
  child.stdout.on('data', (piece: Buffer) => {
    silentSteps = 0;
    if (failure !== undefined) return;
    try {
      take(piece);
    } catch (error) {
      stop(error);
    }
  });
  // A git that failed no longer reads; its exit code is reported.
  child.stdin.on('error', () => undefined);
  child.stdin.end(input);
  await new Promise<void>((resolve, reject) => {
    child.on('error', ({ message }) => {
      const isThere = existsSync(command.folder);
      reject(new GitError(args, isThere ? -1 : 128, isThere ? message : 'fatal: its folder does not exist'));
    });
    child.on('close', (status) => {
      if (failure !== undefined) reject(failure.error);
      else if (status === 0 || status === accepts) resolve();
      else reject(new GitError(args, status, stderr));
    });
  }).finally(() => {
    clearInterval(timer);
    signal?.removeEventListener('abort', abort);
  });
}

const maxStderrLength = 10_000;

/** Steps that `stallSeconds` are counted in. */
const stallSteps = 60;

/** A report of progress, which the next one overwrites, and the last report of each kind. */
const progress = /^.*\r(?=[^\n])|^.*, done\. *\n|^remote: Total \d.*\n/gm;

function ifRunning(pid: number | undefined, act: (pid: number) => void): void {
  if (pid === undefined) return;
  try {
    act(pid);
  } catch {
    // The process has ended already.
  }
}

/**
 * Runs git for a command of the command line and returns its standard output.
 * @param options with `explain`, which returns why git failed and the fix
 * @throws {GitError} without `explain`
 * @throws {UserError} if git is not installed, or the repository belongs to another user, and with `explain`
 */
export async function runCommandLineGit(
  folder: string,
  args: readonly string[],
  {
    take,
    onProgress,
    explain,
    ...options
  }: Omit<GitOptions, 'signal'> & {
    readonly explain?: (error: GitError) => string | Promise<string>;
  } = {},
): Promise<string> {
  try {
    return await runGit({ folder, args: [...largeInPieces, ...args], ...options }, { take, onProgress });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const problem = error.startFailure ?? error.ownershipProblem ?? (await explain?.(error));
    throw problem === undefined ? error : new UserError(problem);
  }
}

/**
 * Returns the start of a `git fetch` that fetches what it names and nothing else: no tags, no submodules, no maintenance, no
 * FETCH_HEAD, and no remote-tracking branch, whose lock a killed push may have left. The remote and what to fetch follow.
 * @param setting of Git for this command, such as `fetch.fsckObjects=true`
 */
export function fetchCommand(setting: string): readonly string[] {
  const options = '--no-tags --no-write-fetch-head --refmap= --no-recurse-submodules --no-auto-maintenance';
  return ['-c', setting, 'fetch', '--progress', ...options.split(' ')];
}
