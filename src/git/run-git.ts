import { spawn } from 'node:child_process';
import { OperatorFault } from '../operator-fault.ts';
import { codeOf } from '../system-error.ts';
import { withoutCredentials } from './credentials.ts';
import { gitEnvironment } from './git-process.ts';
import { ownershipFault } from './ownership.ts';

/** A git that ended with another code than 0. Nothing in it has the credentials of an address. */
export class GitFailure extends Error {
  /** Null when a signal ended it. */
  readonly code: number | null;
  /** The first line of what it said. */
  readonly detail: string;

  constructor(code: number | null, detail: string) {
    const clean = withoutCredentials(detail);
    super(`git ended with ${code ?? 'a signal'}: ${clean}`);
    this.name = 'GitFailure';
    this.code = code;
    this.detail = clean;
  }
}

/** A git that printed more than it was allowed to. */
export class TooMuchOutput extends Error {
  constructor(most: number) {
    super(`git printed more than ${most} bytes`);
    this.name = 'TooMuchOutput';
  }
}

export interface RunGitOptions {
  /** For its standard input. */
  readonly input?: string;
  /** It may print so many bytes. */
  readonly most?: number;
  /** Another exit code than 0 that is no failure. */
  readonly answers?: number;
}

/**
 * Runs git for the command line, which starts faster without simple-git, and gives what it printed.
 * @throws {GitFailure}
 * @throws {TooMuchOutput}
 * @throws {OperatorFault} when there is no git, or the repository belongs to another user.
 */
export async function runGit(
  folder: string,
  args: readonly string[],
  { input, most = Number.POSITIVE_INFINITY, answers = 0 }: RunGitOptions = {},
): Promise<Buffer> {
  const pieces: Buffer[] = [];
  let length = 0;
  await streamGit(
    folder,
    args,
    (piece) => {
      length += piece.length;
      if (length > most) throw new TooMuchOutput(most);
      pieces.push(piece);
    },
    input,
    answers,
  );
  return Buffer.concat(pieces);
}

/**
 * As runGit, but hands on what git prints piece by piece. What `take` throws ends git, and is thrown.
 */
export async function streamGit(
  folder: string,
  args: readonly string[],
  take: (piece: Buffer) => void,
  input = '',
  answers = 0,
): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const git = spawn('git', ['-C', folder, '--no-optional-locks', ...settings, ...args], {
      env: gitEnvironment(),
    });
    let said = '';
    let thrown: unknown;
    git.on('error', (error) =>
      reject(codeOf(error) === 'ENOENT' ? new OperatorFault('git is not on the PATH: install it') : error),
    );
    git.on('close', (code) => {
      if (thrown !== undefined) reject(thrown);
      else if (code === 0 || code === answers) resolve();
      else reject(failureOf(code, said));
    });
    git.stderr.on('data', (piece) => (said += String(piece).slice(0, 10_000 - said.length)));
    git.stdout.on('data', (piece: Buffer) => {
      if (thrown !== undefined) return;
      try {
        take(piece);
      } catch (error) {
        thrown = error;
        git.kill();
      }
    });
    // A git that has failed does not read on; its exit code tells.
    git.stdin.on('error', () => {});
    git.stdin.end(input);
  });
}

/** No program that the repository's configuration names is run; a large object is read in pieces. */
const settings = ['core.fsmonitor=false', 'core.hooksPath=/dev/null', 'core.bigFileThreshold=1m'].flatMap(
  (setting) => ['-c', setting],
);

function failureOf(code: number | null, said: string): Error {
  const fault = ownershipFault(said);
  return fault === undefined ? new GitFailure(code, firstLine(said)) : new OperatorFault(fault);
}

function firstLine(text: string): string {
  return (text.split('\n', 1)[0] ?? '').replace(/^fatal: /, '');
}
