import { statSync } from 'node:fs';
import { join } from 'node:path';
import { isError } from '../lib/errors.ts';
import {
  type NewFile,
  importCommit,
  toPackFolder,
  type RefCommit,
  writeHistory,
} from '../git/commit-files.ts';
import { CommitEvents } from '../git/branch-feed.ts';
import { diffTrees, listFiles, findTreeEntries } from '../git/history.ts';
import { removeLeftovers, wasKilled } from '../git/maintenance.ts';
import { computeBlobId } from '../git/objects.ts';
import {
  createRefConflictError,
  listRefFolders,
  readRef,
  type Repository,
  type RepositoryOpener,
  stateRef,
  toUnavailableError,
  updateRefs,
} from '../git/repository.ts';
import { fsyncFolders } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { retry } from '../lib/retry.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import { isOfDay } from './state.ts';

/** The shards of a state in Git, `<ab>/<cd>.json` → text, and their commit. */
export interface StateTree {
  /** The commit at the tip; null while the ref does not exist. */
  readonly commit: string | null;
  readonly files: ReadonlyMap<string, string>;
}

/**
 * Where the state is committed: `refs/botshelf/state` of the catalogue's repository.
 * Only the tip is read. Each commit has the one before as its parent.
 */
export interface StateRef {
  /**
   * Returns the shards at the tip; none while the ref does not exist.
   * @param known a commit that was read before: shards that are the same in it may be left out
   */
  read(known?: string): Promise<StateTree>;

  /**
   * Commits `files` (path → whole new text) on top of `onto`, durably, but no file of a day that `onto` has one of. Returns
   * the new commit; `onto` where the tree would be the same, without a commit.
   * @throws {BotshelfError} ref-conflict, when the tip is not `onto`: read, merge and retry
   */
  commit(onto: string | null, files: ReadonlyMap<string, string>, subject: string): Promise<string | null>;

  /**
   * Returns a text that changes whenever the tip may have moved. It costs a stat or two, starts no process and never
   * throws.
   */
  peek(): string;
}

/**
 * Creates the state ref of a repository. Its methods throw unavailable if the repository cannot be used.
 * @param commits where each commit is published
 */
export function createStateRef(
  repositoryOpener: RepositoryOpener,
  log: Log,
  commits: CommitEvents = new CommitEvents(log),
): StateRef {
  const using = async <T>(work: (repository: Repository) => Promise<T>): Promise<T> => {
    try {
      return await work(await repositoryOpener.open());
    } catch (error) {
      throw isError(error, 'ref-conflict') ? error : toUnavailableError(error);
    }
  };
  /**
   * Whether the last commit may not survive a power loss: the fsync of its folders failed, or the process before this one
   * may have ended without it.
   */
  let isUnsynced = true;
  const sync = async (repository: Repository): Promise<void> => {
    await fsyncFolders([toPackFolder(repository), ...listRefFolders(repository, stateRef)]);
    isUnsynced = false;
  };
  return {
    read: async (known) => await using(async (repository) => await readState(repository, known)),
    commit: async (onto, files, subject) =>
      await using(async (repository) => {
        const changed = await findChangedFiles(repository, onto, files);
        if (changed.size === 0) {
          if ((await readRef(repository, stateRef)) !== onto) throw createRefConflictError(stateRef);
          if (isUnsynced) await sync(repository);
          return onto;
        }
        const change: RefCommit = {
          ref: stateRef,
          onto,
          message: `${subject}\n`,
          urgent: false,
          files: changed,
        };
        const commit = await retry(async () => await importCommit(repository, change), {
          maxAttempts,
          isRetriable: wasKilled,
          repair: async (error) => (await removeLeftovers(repository, error, log)) > 0,
        });
        isUnsynced = true;
        await sync(repository);
        commits.publish({ ref: 'state', commit });
        return commit;
      }),
    peek: () => readRefVersions(repositoryOpener.opened),
  };
}

/** Attempts before a commit fails because git is killed each time. */
const maxAttempts = 8;

async function readState(repository: Repository, known: string | undefined): Promise<StateTree> {
  const commit = await readRef(repository, stateRef);
  const isRead = commit === null || commit === known;
  const blobs = isRead ? new Map<string, string>() : await listBlobs(repository, commit, known);
  const objects = await repository.objects.read([...blobs.values()]);
  const files = [...blobs.keys()].map((path, i): [string, string] => {
    const object = objects[i];
    if (object === undefined) throw new Error(`${path} of the state is too large to read: run "git fsck"`);
    return [path, object.content.toString()];
  });
  return { commit, files: new Map(files) };
}

async function listBlobs(
  repository: Repository,
  commit: string,
  known: string | undefined,
): Promise<Map<string, string>> {
  if (known !== undefined && (await repository.objects.has(known))) {
    const files = await diffTrees(repository, known, commit);
    return new Map(
      files.flatMap(({ path, after }) => (after === null || isOfDay(path) ? [] : [[path, after.id]])),
    );
  }
  const files = await listFiles(repository, commit);
  return new Map(files.flatMap(({ path, id }) => (isOfDay(path) ? [] : [[path, id]])));
}

async function findChangedFiles(
  repository: Repository,
  onto: string | null,
  files: ReadonlyMap<string, string>,
): Promise<RefCommit['files']> {
  const old = await findTreeEntries(repository, onto, [...files.keys()]);
  const changed = new Map<string, NewFile>();
  const compare = ([path, text]: readonly [string, string]): void => {
    const content = Buffer.from(text);
    const id = computeBlobId(content, repository.hash);
    if (old.get(path)?.id !== id && !(isOfDay(path) && old.has(path)))
      changed.set(path, { mode: '100644', content });
  };
  await forEachInSlices(files, compare, 'service');
  return changed;
}

function readRefVersions(repository: Repository | undefined): string {
  if (repository === undefined) return '';
  return [stateRef, 'packed-refs']
    .map((name) => computeFileVersion(join(repository.commonDir, name)))
    .join(' ');
}

function computeFileVersion(path: string): string {
  try {
    const stat = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stat === undefined ? '-' : `${stat.ino}.${stat.size}.${stat.mtimeNs}.${stat.ctimeNs}`;
  } catch {
    return '?';
  }
}

/**
 * Prunes the history of the state ref: replaces it with a line of the tip and the commits since `since`, with their trees.
 * Returns the number of removed commits; undefined, without a change, where the ref moves at the same time. Content history
 * is never pruned.
 * @param since in seconds since the epoch
 * @throws {GitError}
 */
export async function pruneHistory(repository: Repository, since: number): Promise<number | undefined> {
  const tip = await readRef(repository, stateRef);
  if (tip === null) return 0;
  const pruned = await writePrunedHistory(repository, tip, since);
  if (pruned === undefined) return 0;
  try {
    await updateRefs(repository, new Map([[stateRef, { from: tip, to: pruned.commit }]]));
  } catch (error) {
    if (isError(error, 'ref-conflict')) return undefined;
    throw error;
  }
  return pruned.removed;
}

/**
 * Writes the pruned history of a state, on no ref. Its first commit is a new one, so it shares none with the history that was
 * pruned. Returns its last commit and the number of removed commits; undefined if pruning removes none.
 * @throws {GitError}
 */
export async function writePrunedHistory(
  repository: Repository,
  tip: string,
  since: number,
): Promise<{ readonly commit: string; readonly removed: number } | undefined> {
  const format = '--format=%T%x09%ct%x09%cn <%ce>%x09%s';
  const lines = (await repository.run(['log', '--first-parent', format, tip])).split('\n').slice(0, -1);
  const history = lines.map((line) => {
    const [tree = '', time = '', identity = '', ...subject] = line.split('\t');
    const committer = `${identity} ${time} +0000`;
    return { tree, time: Number(time), committer, message: `${subject.join('\t')}\n`, files: new Map() };
  });
  const end = history.findIndex(({ time }, i) => i > 0 && time < since);
  if (end === -1) return undefined;
  const commit = await writeHistory(repository, history.slice(0, end).toReversed());
  return { commit, removed: history.length - end };
}
