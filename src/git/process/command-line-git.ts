import { UserError } from '../../lib/errors.ts';
import { findOwnershipProblem, GitError } from './git-error.ts';
import { type GitCommand, runGit, type RunOptions } from './run-git.ts';
import { largeInPieces } from './settings.ts';

/**
 * Runs git for a command of the command line and returns its standard output.
 * @throws {GitError}
 * @throws {UserError} where git is not installed, or the repository belongs to another user
 */
export async function runCommandLineGit(
  folder: string,
  args: readonly string[],
  {
    take,
    ...options
  }: Pick<GitCommand, 'input' | 'indexFile' | 'accepts' | 'stallSeconds'> & Pick<RunOptions, 'take'> = {},
): Promise<string> {
  try {
    return await runGit({ folder, args: [...largeInPieces, ...args], ...options }, { take });
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    if (error.notStarted) throw new UserError('git is not on the PATH: install it');
    const problem = findOwnershipProblem(error.stderr);
    throw problem === undefined ? error : new UserError(problem);
  }
}
