import { UserError } from '../../user-error.ts';
import { ownershipFault } from './ownership.ts';
import { GitError } from './git-error.ts';
import { type GitCommand, runGit, type RunOptions } from './run-git.ts';
import { largeInPieces } from './settings.ts';

export interface CommandLineGitOptions
  extends Pick<GitCommand, 'input' | 'accepts'>, Pick<RunOptions, 'take'> {}

/**
 * Runs git for a command of the command line and returns what it printed.
 * @throws {GitError}
 * @throws {UserError} when there is no git, or the repository belongs to another user.
 */
export async function runCommandLineGit(
  folder: string,
  args: readonly string[],
  { take, ...options }: CommandLineGitOptions = {},
): Promise<string> {
  try {
    return await runGit({ folder, args: [...largeInPieces, ...args], ...options }, { take });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (error.notStarted) throw new UserError('git is not on the PATH: install it');
    const fault = ownershipFault(error.stderr);
    throw fault === undefined ? error : new UserError(fault);
  }
}
