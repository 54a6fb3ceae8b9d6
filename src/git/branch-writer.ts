import { BotshelfError, messageOf } from '../lib/errors.ts';
import { fsyncFolders } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { retry } from '../lib/retry.ts';
import type { CommitEvents, FileEdit, Editor, BranchMove } from './branch-feed.ts';
import { diffTrees, findTreeEntries, type FileChange, type GitFile } from './history.ts';
import { waitForOrphans, wasKilled } from './maintenance.ts';
import { computeBlobId, maxObjectBytes } from './objects.ts';
import { listRefFolders, readRef, updateRefs, type Repository } from './repository.ts';
import type { Inspection } from './checkout.ts';
import { unmerged } from './git-index.ts';
import type { UpdatePlan, WorkTree } from './work-tree.ts';
import { importCommit, toPackFolder, type NewFile } from './commit-files.ts';

interface BranchWriterOptions<E extends FileEdit> {
  readonly editor: Editor<E>;
  readonly commits: CommitEvents;
  readonly log: Log;
}

export interface BatchResult extends Pick<BatchPlan, 'outcomes'> {
  /** Null if nothing had to be committed. */
  readonly commit: string | null;
  /** Set if the disk did not confirm the commit: a power loss may undo it. */
  readonly durabilityError: BotshelfError | undefined;
}

/** Moves the checked-out branch, and the work tree with it. Call its methods one at a time, with the work tree locked. */
export class BranchWriter<E extends FileEdit> {
  readonly repository: Repository;
  readonly workTree: WorkTree;
  readonly #options: BranchWriterOptions<E>;
  /** Folders of Git in which a name may not survive a power loss, because their fsync failed. */
  readonly #unsynced = new Set<string>();

  constructor(repository: Repository, workTree: WorkTree, options: BranchWriterOptions<E>) {
    this.repository = repository;
    this.workTree = workTree;
    this.#options = options;
  }

  /**
   * Makes one commit of many edits.
   * @throws {BotshelfError} ref-conflict, {GitError} or a system error: nothing was committed
   * @throws {BotshelfError} unknown-outcome
   */
  async commitBatch(edits: readonly E[]): Promise<BatchResult> {
    const { repository, workTree } = this;
    const branch = repository.branch();
    const tip = await readRef(repository, branch);
    const paths = [...new Set(edits.map(({ path }) => repository.prefix + path))];
    const [seen, entries] = await Promise.all([
      workTree.inspect(paths, true),
      findTreeEntries(repository, tip, paths),
    ]);
    const current = paths.map((path) => {
      const file = readCurrentFile(path, entries.get(path) ?? null, seen, workTree.failureOf(path));
      return [path, file] as const;
    });
    const plan = planBatch(edits, new Map(current), repository, this.#options.editor);
    const { changes, files, contents, message, outcomes } = plan;
    if (changes.length === 0) return { outcomes, commit: null, durabilityError: await this.#confirm() };
    const commit = await this.#advance(
      { branch, changes, contents, seen },
      async () => await importCommit(repository, { ref: branch, onto: tip, message, urgent: true, files }),
    );
    return { outcomes, commit, durabilityError: await this.#confirm() };
  }

  /**
   * Moves the branch to an existing commit, and other refs with it.
   * @param tip the present tip of the branch
   * @throws as commitBatch does, and {BotshelfError} unavailable, when the disk did not confirm it
   */
  async moveBranch(tip: string, { commit, refs, contents }: BranchMove): Promise<void> {
    const { repository, workTree } = this;
    const branch = repository.branch();
    const changes = await diffTrees(repository, tip, commit);
    const paths = changes.map(({ path }) => path);
    const seen = await workTree.inspect(paths, false);
    const updates = new Map<string, { from: string | null; to: string | null }>();
    updates.set(branch, { from: tip, to: commit });
    for (const [ref, to] of refs) updates.set(ref, { from: await readRef(repository, ref), to });
    await this.#advance({ branch, changes, seen, ...(contents && { contents }) }, async () => {
      await updateRefs(repository, updates).catch(async (error: unknown) => {
        if (!wasKilled(error)) throw error;
        // A git whose runner was killed continues, and may have moved them after they were read.
        await waitForOrphans(repository);
        await updateRefs(repository, updates);
      });
      return commit;
    });
    // Synced after those of the branch: a power loss must not leave a proposal accepted that the branch does not have.
    for (const ref of refs.keys())
      for (const folder of listRefFolders(repository, ref)) this.#unsynced.add(folder);
    const durabilityError = await this.#confirm();
    if (durabilityError) throw durabilityError;
  }

  /**
   * Moves the branch and updates the work tree. Once the branch has moved nothing is undone: what fails after that is
   * retried, and never reported as a change that was not made.
   */
  async #advance(plan: UpdatePlan, moveBranch: () => Promise<string>): Promise<string> {
    const { repository, workTree } = this;
    const { branch, changes, contents } = plan;
    const update = await workTree.prepare(plan);
    const commit = await moveBranch().catch(async (error: unknown) => {
      await workTree.abandon(update, error);
      throw error;
    });
    for (const folder of [toPackFolder(repository), ...listRefFolders(repository, branch)])
      this.#unsynced.add(folder);
    await workTree.apply(update);
    this.#options.commits.publish({ ref: 'branch', commit, changes, contents });
    return commit;
  }

  /** Makes names in Git's folders durable, or returns why that failed: then no change counts as saved. */
  async #confirm(): Promise<BotshelfError | undefined> {
    try {
      await retry(async () => await fsyncFolders(this.#unsynced), {
        maxAttempts: 4,
        delay: (attempt) => 20 * 2 ** attempt,
      });
      this.#unsynced.clear();
      return undefined;
    } catch (error) {
      const message = 'the change is saved in Git, but the disk did not confirm it: send it again';
      this.#options.log.error({ err: error }, `${message} (${messageOf(error)})`);
      return new BotshelfError('unavailable', message, { cause: error });
    }
  }
}

/** A file that edits are planned on. It is the same at the tip, in the index and in the work tree, or refused. */
export interface CurrentFile {
  readonly file: GitFile | null;
  readonly text: string | null;
  /** Why it cannot be edited. */
  readonly refusal?: BotshelfError;
}

interface BatchPlan {
  readonly changes: readonly FileChange[];
  /** The changed files, by path. */
  readonly files: ReadonlyMap<string, NewFile>;
  /** Their new bytes, by path. */
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly message: string;
  /** One for each edit, in order: its result once the changes are committed. */
  readonly outcomes: readonly EditOutcome[];
}

type EditOutcome =
  | { readonly kind: 'written' | 'unchanged' }
  | { readonly kind: 'refused'; readonly error: unknown };

/**
 * Applies edits to files, in order.
 * @param current the files by path from the top of the repository
 */
export function planBatch<E extends FileEdit>(
  edits: readonly E[],
  current: ReadonlyMap<string, CurrentFile>,
  { prefix, hash }: Pick<Repository, 'prefix' | 'hash'>,
  editor: Editor<E>,
): BatchPlan {
  const texts = new Map([...current].map(([path, { text }]) => [path, text]));
  const written: E[] = [];
  const outcomes = edits.map((edit): EditOutcome => {
    const path = prefix + edit.path;
    const refusal = current.get(path)?.refusal;
    if (refusal) return { kind: 'refused', error: refusal };
    const before = texts.get(path) ?? null;
    try {
      const text = editor.edit(before, edit);
      if (text === before) return { kind: 'unchanged' };
      texts.set(path, text);
      written.push(edit);
      return { kind: 'written' };
    } catch (error) {
      return { kind: 'refused', error };
    }
  });
  const changes: FileChange[] = [];
  const files = new Map<string, NewFile>();
  const contents = new Map<string, Buffer>();
  for (const [path, { file, text: old }] of current) {
    const text = texts.get(path) ?? null;
    if (text === null || text === old) continue;
    const content = Buffer.from(text);
    const mode = file?.mode ?? '100644';
    changes.push({ path, before: file, after: { mode, id: computeBlobId(content, hash) } });
    files.set(path, { mode, content });
    contents.set(path, content);
  }
  return { changes, files, contents, message: editor.describe(written), outcomes };
}

/**
 * Returns the file to plan edits on. It is refused if a person has edited it, or it cannot be edited.
 * @param file what the tip has
 * @param failure why the file is behind the branch
 */
export function readCurrentFile(
  path: string,
  file: GitFile | null,
  { index, files }: Inspection,
  failure: string | undefined,
): CurrentFile {
  const refuse = (why: string): CurrentFile => ({
    file,
    text: null,
    refusal: new BotshelfError('unusable-page', why),
  });
  const seen = files.get(path);
  if (failure !== undefined) return refuse(`${path} is behind the branch: it ${failure}`);
  if (seen === undefined || seen instanceof Error)
    return refuse(`${path} cannot be read (${seen ? messageOf(seen) : 'it was not inspected'})`);
  const before = file?.id ?? null;
  const entry = index.get(path) ?? null;
  if (entry !== before || seen.id !== before) {
    const state = entry === unmerged ? 'is in conflict in a merge' : 'has uncommitted edits';
    const message = `${path} ${state} in the service's clone: send the change again when a maintainer has committed them`;
    return { file, text: null, refusal: new BotshelfError('edit-conflict', message) };
  }
  if (file === null) return { file, text: null };
  if (!file.mode.startsWith('100')) return refuse(`${path} is no regular file: replace it with one`);
  if (seen.content === undefined) return refuse(`${path} has more than ${maxObjectBytes / 1024 / 1024} MiB`);
  const text = seen.content.toString();
  if (!Buffer.from(text).equals(seen.content)) return refuse(`${path} is not UTF-8: convert it`);
  return { file, text };
}
