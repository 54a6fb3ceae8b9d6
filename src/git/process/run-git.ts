import { GitError } from './git-error.ts';
import { createGitEnvironment, gitSettings } from './settings.ts';
import { streamGit } from './spawn-git.ts';

/** One git command, run to its end. */
export interface GitCommand {
  readonly folder: string;
  readonly args: readonly string[];
  /** Its standard input; never empty, as simple-git would leave git waiting. */
  readonly input?: string | Buffer;
  /** Another index than the work tree's own. */
  readonly indexFile?: string;
  /** An exit code other than 0 that is a success, such as 1 for "no". */
  readonly accepts?: number;
  /** Whether it runs at the lowest priority, as it may take long. */
  readonly background?: boolean;
  /** Set where it connects to another machine: the seconds after which it is killed, with the processes it started. */
  readonly timeLimit?: number;
  /** The file that its standard output is written to, instead of being returned. */
  readonly outputFile?: string;
}

export interface RunOptions {
  /** Kills a command with `background` or `timeLimit`. */
  readonly signal?: AbortSignal | undefined;
  /** Receives the standard output in pieces, instead of its being returned. What it throws ends git, and is thrown. */
  readonly take?: ((piece: Buffer) => void) | undefined;
}

/** Runs git. */
export interface GitClient {
  /** The parent process of the commands. */
  readonly pid: number | undefined;
  /** As runGit does. */
  run(command: GitCommand, signal?: AbortSignal): Promise<string>;
}

/**
 * Runs git as a child of this process. Each start copies the page tables of this process: a service of a gigabyte uses
 * git-runner.ts.
 */
export const directClient: GitClient = {
  pid: process.pid,
  run: async (command, signal) => await runGit(command, { signal }),
};

/**
 * Runs git and returns its standard output.
 * @throws {GitError} when it fails or is killed.
 */
export async function runGit(command: GitCommand, options: RunOptions = {}): Promise<string> {
  const { background, timeLimit, outputFile } = command;
  const isOrdinary = !background && timeLimit === undefined && outputFile === undefined && !options.take;
  return await (isOrdinary ? runSimpleGit(command) : streamGit(command, options));
}

async function runSimpleGit({ folder, args, input, indexFile, accepts }: GitCommand): Promise<string> {
  if (input?.length === 0) throw new RangeError('an empty input leaves git waiting for more');
  // Imported here only: git-runner.ts runs the ordinary commands of the service.
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
  // simple-git waits 50 ms for more of a command that has printed nothing: an empty piece at the end is something.
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
