import { botsFolder, gitkeep } from '../catalogue/page/layout.ts';
import { type Clone, writeAlone } from '../git/branch/clone.ts';
import { type FilesCommit, toNewFile, writeCommit } from '../git/commit-files.ts';
import { Committer, type CommitterOptions } from '../git/branch/committer.ts';
import { isAncestor } from '../git/history.ts';
import { type Repository, type RepositoryOpener, toUnavailableError } from '../git/repository.ts';
import { readRef } from '../git/refs.ts';
import { BotshelfError, isError, UserError } from '../lib/errors.ts';
import { replayCommand } from './integration.ts';
import type { DroppedEdit } from './merge-files.ts';

/** The outcome of the commit of a command. */
interface CommandOutcome {
  readonly droppedEdits: readonly DroppedEdit[];
  /** The reason why the commit was not made. */
  readonly error?: string;
  /** Whether the commit may have been made despite an error. */
  readonly isUnknown?: boolean;
}

/**
 * Commits files to the checked-out branch for a command. A service that runs in the clone does it; without one this
 * process does, with the lock of the clone. If the branch has moved since the plan, the change is merged with it by
 * key. Returns the edits that this set aside, once the change is served.
 * @param plan returns the files to commit onto a tip, which is null before the first commit
 * @throws what `plan` throws
 * @throws {UserError} if the commit was not made, or that is not known
 */
export async function commitForCommand(
  clone: Pick<CommitterOptions<never>, 'repositoryOpener' | 'var' | 'log'>,
  plan: (tip: string | null) => Promise<FilesCommit>,
): Promise<readonly DroppedEdit[]> {
  const { repositoryOpener } = clone;
  const repository = await repositoryOpener.open();
  const tip = await readRef(repository, repository.branch());
  const planned = await plan(tip);
  if (planned.files.size === 0) return [];
  // Times of commits are in seconds.
  const time = new Date().toISOString().replace(/\.\d+/, '');
  const parents = tip === null ? [] : [tip];
  const id = await writeCommit(repository, { parents, ...planned }).catch((error: unknown) => {
    throw new UserError(`${toUnavailableError(error).message}\n${notMade}`, { cause: error });
  });
  const work = async (): Promise<string> => {
    const committer = new Committer({ ...clone, editor: noEdits, maxLockWaitMs: 20_000 });
    const outcome = await takeCommit(committer, repositoryOpener, id);
    await committer.close();
    return JSON.stringify(outcome);
  };
  const response = writeAlone(repository, `commit ${id}`, work);
  const { droppedEdits, error, isUnknown } = await response.then(
    (text) => JSON.parse(text) as CommandOutcome,
    toOutcome,
  );
  if (error === undefined) return droppedEdits;
  const after = `It may have been made: "git log --since=${time} --stat" shows it then. To run it again does no harm.`;
  throw new UserError(`${error}\n${isUnknown ? after : notMade}`);
}

/** The end of a message of a command that changed nothing. */
export const notMade = 'This change was not made.';

const noEdits = { edit: (text: string | null) => text, describe: () => '' };

/** @throws an error that is no BotshelfError */
function toOutcome(error: unknown): CommandOutcome {
  if (!(error instanceof BotshelfError)) throw error;
  return { droppedEdits: [], error: error.message, isUnknown: isError(error, 'unknown-outcome') };
}

interface CommandServiceOptions extends Pick<Clone, 'repositoryOpener' | 'branch'> {
  readonly committer: Pick<Committer<never>, 'moveOrBegin'>;
  readonly config: { readonly readOnly: object | null };
}

/** Returns the function with which a service makes the commits of commands. */
export function serveCommands(options: CommandServiceOptions): Parameters<Clone['serveRequests']>[0] {
  const { repositoryOpener, branch, committer, config } = options;
  return async (request) => {
    const [, id] = /^commit ([0-9a-f]{40,64})$/.exec(request) ?? [];
    const fault = config.readOnly ? readOnlyAdvice : otherVersion;
    const outcome =
      id === undefined || config.readOnly
        ? { droppedEdits: [], error: fault }
        : await takeCommit(committer, repositoryOpener, id);
    await branch.handled();
    return JSON.stringify(outcome);
  };
}

/** The reason why commands change nothing in a read-only copy: the next fetch would remove their commits. */
export const readOnlyAdvice = 'a read-only copy cannot be changed: run this where the original is';

const otherVersion = 'the service that runs here is of another version: restart it';

/** Moves the branch to a commit of a command, or to a replay of it on the tip. */
async function takeCommit(
  committer: CommandServiceOptions['committer'],
  repositoryOpener: RepositoryOpener,
  id: string,
): Promise<CommandOutcome> {
  let droppedEdits: readonly DroppedEdit[] = [];
  let made: string | undefined;
  try {
    await committer.moveOrBegin(async (repository, tip) => {
      const merge = await replayCommand(repository, id, tip);
      const commit = await keepFolder(repository, merge.commit);
      [made, droppedEdits] = [commit, merge.droppedEdits];
      return commit === tip ? undefined : { commit, refs: new Map(), refusesEdits: true };
    });
    return { droppedEdits };
  } catch (error) {
    const { message } = isError(error, 'edit-conflict') ? error : toUnavailableError(error);
    const repository = repositoryOpener.opened;
    const isMade = made && repository && (await isAncestor(repository, made, 'HEAD').catch(() => true));
    return { droppedEdits: [], error: message, isUnknown: isMade || isError(error, 'unknown-outcome') };
  }
}

/** Returns a commit, or one after it with the file that keeps `bots/` in Git, if it has no bot. @throws {GitError} */
async function keepFolder(repository: Repository, commit: string): Promise<string> {
  const folder = `${repository.prefix}${botsFolder}`;
  if (await repository.objects.has(`${commit}:${folder}`)) return commit;
  const files = new Map([[`${folder}/${gitkeep}`, toNewFile('')]]);
  return await writeCommit(repository, { parents: [commit], files, message: `Keep ${folder}/\n` });
}
