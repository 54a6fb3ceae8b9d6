import { OperatorFault } from '../operator-fault.ts';
import { GitFailure, runGit } from './run-git.ts';

/** What a change goes from and to. Commit ids. */
export interface RevisionRange {
  /** The commit where the change left the revision that it was made for. */
  readonly base: string;
  readonly head: string;
}

/**
 * The range from where `head` (HEAD when it is not given) left the revision `base`.
 * @throws {OperatorFault} when there is no such revision here, no repository, or no git.
 */
export async function revisionRange(folder: string, base: string, head = 'HEAD'): Promise<RevisionRange> {
  const target = await commitOf(folder, base);
  const tip = await commitOf(folder, head);
  try {
    const fork = await runGit(folder, ['merge-base', target, tip]);
    return { base: fork.toString().trim(), head: tip };
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    if (await isShallow(folder)) throw new OperatorFault(shallowMessage(base));
    throw new OperatorFault(
      `${head} and ${JSON.stringify(base)} have no commit in common: give a revision that this branch came from`,
    );
  }
}

/** The user's word is an argument only here, behind the end of the options; from then on ids are. */
async function commitOf(folder: string, revision: string): Promise<string> {
  try {
    const args = ['rev-parse', '--verify', '--quiet', '--end-of-options', `${revision}^{commit}`];
    return (await runGit(folder, args)).toString().trim();
  } catch (error) {
    if (!(error instanceof GitFailure)) throw error;
    throw await revisionFault(folder, revision, error);
  }
}

async function revisionFault(folder: string, revision: string, failure: GitFailure): Promise<OperatorFault> {
  const shallow = await isShallow(folder);
  if (shallow === undefined) {
    return new OperatorFault(
      `git cannot read ${folder}: ${failure.detail || 'it is in no Git repository'}; --base needs a clone`,
    );
  }
  if (shallow) return new OperatorFault(shallowMessage(revision));
  return new OperatorFault(
    `${JSON.stringify(revision)} is no commit here: fetch it first, or give another revision such as origin/main`,
  );
}

function shallowMessage(revision: string): string {
  return `this clone is shallow and lacks what it shares with ${JSON.stringify(revision)}: fetch the whole history (git fetch --unshallow)`;
}

/** Undefined where there is no repository that can be read. */
async function isShallow(folder: string): Promise<boolean | undefined> {
  try {
    return (await runGit(folder, ['rev-parse', '--is-shallow-repository'])).toString().trim() === 'true';
  } catch (error) {
    if (error instanceof GitFailure) return undefined;
    throw error;
  }
}
