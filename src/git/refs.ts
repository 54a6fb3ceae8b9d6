import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { BotshelfError, codeOf } from '../lib/errors.ts';
import { fsyncFolders, listFoldersUpTo } from '../lib/files.ts';
import { retry } from '../lib/retry.ts';
import type { Repository } from './repository.ts';
import { GitError } from './run-git.ts';

/** The ref of the counts and token digests; ordinary clones do not fetch it. */
export const stateRef = 'refs/botshelf/state';

/** Returns the error for a ref that is at another commit than the caller planned on. */
export function createRefConflictError(ref: string): BotshelfError {
  return new BotshelfError('ref-conflict', `${ref} has moved since the change was planned`);
}

/**
 * Returns the commit that a ref is at; null if the ref does not exist. Git reports a ref that it cannot read as
 * missing, and a branch taken for an empty one would lose its files.
 * @throws {GitError}
 * @throws {Error} if the ref exists and cannot be read
 */
export async function readRef(repository: Repository, ref: string): Promise<string | null> {
  const found = (await repository.objects.readOne(ref))?.id;
  if (found !== undefined) return found;
  const { commonDir } = repository;
  const [loose, packed] = await Promise.all(
    [join(commonDir, ref), join(commonDir, 'packed-refs')].map(readIfThere),
  );
  if (loose !== undefined || packed?.includes(` ${ref}\n`))
    throw new Error(`${ref} cannot be read: try again, and run "git fsck" if it stays`);
  return null;
}

/**
 * Returns the checked-out commit, also of a detached HEAD; null before the first commit.
 * @throws as readRef does
 */
export async function readHead(repository: Repository): Promise<string | null> {
  const head = await readFile(join(repository.gitDir, 'HEAD'), 'utf8');
  const [, ref] = /^ref: (.+)\n$/.exec(head) ?? [];
  return ref === undefined ? head.trim() : await readRef(repository, ref);
}

/**
 * Returns the refs that match some patterns, or are below them, each with its commit. @throws {GitError}
 * @param options of `git for-each-ref`
 */
export async function listRefs(
  repository: Repository,
  patterns: readonly string[],
  options: readonly string[] = [],
): Promise<Map<string, string>> {
  const args = ['for-each-ref', '--format=%(refname) %(objectname)', ...options, ...patterns];
  const lines = (await repository.run(args)).split('\n').slice(0, -1);
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

async function readIfThere(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EISDIR'].includes(codeOf(error) ?? '')) return undefined;
    throw error;
  }
}

/** Ref → its current and its new commit; `from` is null if it must not exist yet, `to` if it is deleted. */
type RefUpdates = ReadonlyMap<string, { readonly from: string | null; readonly to: string | null }>;

/**
 * Moves refs in one transaction, not yet durably. Resolves once the first has moved, even if git fails: git moves one
 * after the other, so an error of the disk can stop it in between. The others are then retried once.
 * @throws {BotshelfError} ref-conflict, when one of them is at another commit: nothing has changed
 * @throws {GitError} when the first has not moved
 * @throws {BotshelfError} unknown-outcome
 */
export async function updateRefs(repository: Repository, updates: RefUpdates): Promise<void> {
  try {
    await runUpdateRef(repository, updates);
  } catch (error) {
    if (!(error instanceof GitError)) throw error;
    const missing = new Map(updates);
    let conflict: string | undefined;
    for (const [ref, { from, to }] of updates) {
      const now = await readAfterFailure(ref, error, async () => await readRef(repository, ref));
      if (now === to) missing.delete(ref);
      else if (now !== from) conflict ??= ref;
    }
    const [first = ''] = updates.keys();
    if (missing.size === updates.size && conflict !== undefined) throw createRefConflictError(conflict);
    if (missing.has(first)) throw error;
    if (missing.size > 0) await runUpdateRef(repository, missing).catch(() => {});
  }
}

async function runUpdateRef(repository: Repository, updates: RefUpdates): Promise<void> {
  const zeros = '0'.repeat(repository.hash === 'sha1' ? 40 : 64);
  const lines = [...updates].map(([ref, { from, to }]) =>
    to === null ? `delete ${ref}\0${from ?? zeros}\0` : `update ${ref}\0${to}\0${from ?? zeros}\0`,
  );
  await repository.run(['update-ref', '-z', '--stdin'], { input: lines.join('') });
}

/** Moves refs as updateRefs does, durably: resolves when they would survive a power loss. */
export async function moveRefs(repository: Repository, updates: RefUpdates): Promise<void> {
  await updateRefs(repository, updates);
  await fsyncRefs(
    repository,
    [...updates.keys()].flatMap((ref) => listRefFolders(repository, ref)),
  );
}

/** Makes names in folders of refs, and in other folders of Git, survive a power loss. @throws a system error */
export async function fsyncRefs({ refQueue }: Repository, folders: Iterable<string>): Promise<void> {
  await refQueue.run(async () => await fsyncFolders(folders));
}

/**
 * Moves refs from their own files into the file packed-refs. Git removes those files before that file has a durable name,
 * so a sync of their folder alone could lose the refs in a power loss: none is made meanwhile. Posts wait for it, so it has
 * the usual priority.
 * @throws {GitError}
 */
export async function packRefs(repository: Repository): Promise<void> {
  await repository.refQueue.run(async () => {
    try {
      await repository.run(['pack-refs', '--all', '--prune']);
    } finally {
      await fsyncFolders([repository.commonDir]);
    }
  });
}

/** Returns the folders in which the file of a ref may be new. */
export function listRefFolders({ commonDir }: Repository, ref: string): string[] {
  return listFoldersUpTo(commonDir, join(commonDir, ref));
}

/**
 * Reads the refs after a failed git, with retries: a commit that was made must never be reported as not made.
 * @throws {BotshelfError} unknown-outcome
 */
export async function readAfterFailure<T>(ref: string, failure: unknown, read: () => Promise<T>): Promise<T> {
  try {
    return await retry(read, { maxAttempts: 5, delay: (attempt) => 20 * 2 ** attempt });
  } catch {
    const message = `git failed, and ${ref} cannot be read: the change may or may not be saved`;
    throw new BotshelfError('unknown-outcome', message, { cause: failure });
  }
}
