import { simpleGit } from 'simple-git';
import { GitExit } from './git-exit.ts';
import { gitEnvironment, gitSettings, runInBackground } from './git-process.ts';

/** One git command, run to its end. */
export interface GitCommand {
  readonly folder: string;
  readonly args: readonly string[];
  /** For its standard input; never empty, as simple-git would leave git waiting for it. */
  readonly input?: string | Buffer;
  /** Another index than the work tree's own. */
  readonly indexFile?: string;
  /** An exit code other than 0 that is an answer too, such as 1 for "no". */
  readonly answers?: number;
  /** Whether it may take long: it runs at the lowest priority, without input, and its output is thrown away. */
  readonly background?: boolean;
}

/** Runs git. */
export interface GitClient {
  /** The process that the commands are children of. */
  readonly pid: number | undefined;
  /**
   * Runs a command and gives its standard output.
   * @param signal - kills one that runs in the background
   * @throws {GitExit} when it fails or is killed.
   */
  run(command: GitCommand, signal?: AbortSignal): Promise<Buffer>;
}

/**
 * Runs git as a child of this process. That costs a copy of this process's page tables: a process of a gigabyte
 * has a small one do it (git-runner.ts).
 */
export const directClient: GitClient = { pid: process.pid, run: runHere };

async function runHere(
  { folder, args, input, indexFile, answers, background }: GitCommand,
  signal?: AbortSignal,
): Promise<Buffer> {
  if (background) {
    await runInBackground(folder, args, signal);
    return Buffer.alloc(0);
  }
  if (input?.length === 0) throw new RangeError('an empty input leaves git waiting for more');
  // simple-git wraps what its error plugin gives, so what is known of the failure is kept beside it.
  let failure: GitExit | undefined;
  const git = simpleGit({
    baseDir: folder,
    config: [...gitSettings],
    unsafe: { allowUnsafeHooksPath: true, allowUnsafeFsMonitor: true },
    completion: { onClose: true, onExit: false },
    allowEnvironment: ['GIT_INDEX_FILE'],
    errors: (_, { exitCode, stdErr }) => {
      if (exitCode !== 0 && exitCode !== answers)
        failure = new GitExit(args, exitCode, Buffer.concat(stdErr).toString());
      return failure;
    },
    ...(input === undefined ? {} : { input: () => input }),
  });
  // simple-git waits 50 ms for more of a command that has printed nothing: an empty piece at the end is something.
  git.outputHandler((_command, stdout) => {
    stdout.once('end', () => stdout.emit('data', Buffer.alloc(0)));
  });
  const environment = gitEnvironment();
  git.env(indexFile === undefined ? environment : { ...environment, GIT_INDEX_FILE: indexFile });
  try {
    const [command, ...rest] = args;
    if (command === 'cat-file' && rest[0] === '--batch') return await git.binaryCatFile([...rest]);
    return Buffer.from(await git.raw([...args]));
  } catch (error) {
    throw failure ?? error;
  }
}
