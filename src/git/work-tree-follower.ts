import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import type { Log } from '../log.ts';
import { Turns } from '../state/turns.ts';
import { withIndexLock } from './index-lock.ts';
import { PlainFolders } from './plain-folders.ts';
import type { Repository } from './repository.ts';
import type { Pending } from './pending.ts';
import { type Followed, type Following, follow, type TargetFile } from './work-tree.ts';
import { WorkTreeThread } from './work-tree-thread.ts';

/** What files are to become. */
export interface Aim {
  /** The branch that they are of: nothing is done while another is checked out. */
  readonly branch: string;
  /** The file at the tip, null where it has none; undefined where that is not known. */
  targetOf(path: string): TargetFile | null | undefined;
  /** Whether no later commit has the file too, and knows what it is now. */
  isLatest(entry: Pending): boolean;
}

/** Brings files of the work tree to their commits, some at a time while Git's index is locked. */
export class WorkTreeFollower {
  readonly #log: Log;
  readonly #turns = new Turns();
  readonly #thread = new WorkTreeThread();
  #unsynced = new Set<string>();

  constructor(log: Log) {
    this.#log = log;
  }

  /**
   * False when a person's git is at work or another branch is checked out: then some files may not have followed.
   * @throws a system error
   */
  async follow(repository: Repository, entries: readonly Pending[], aim: Aim): Promise<boolean> {
    await mkdir(repository.staging, { recursive: true });
    const folders = new PlainFolders(repository.folder);
    // What goes makes room for what comes: a file where a folder was.
    const inOrder = entries.toSorted((a, b) => Number(b.after === null) - Number(a.after === null));
    // Some at a time, so that a post's file need not wait for the thousands of a merge.
    for (let start = 0; start < inOrder.length; start += atOnce) {
      const some = inOrder.slice(start, start + atOnce);
      const followed = async (): Promise<boolean> =>
        await withIndexLock(repository, async () => await this.#followSome(repository, some, aim, folders));
      if (!(await this.#turns.take(followed))) return false;
      await setImmediate();
    }
    return true;
  }

  /** Files that were replaced since the last call, and may be torn by a power loss. */
  takeUnsynced(): string[] {
    const files = [...this.#unsynced];
    this.#unsynced = new Set();
    return files;
  }

  async close(): Promise<void> {
    await this.#thread.close();
  }

  async #followSome(
    repository: Repository,
    entries: readonly Pending[],
    aim: Aim,
    folders: PlainFolders,
  ): Promise<boolean> {
    const { folder, staging, hash } = repository;
    if (repository.branch() !== aim.branch) return false;
    const files = entries.flatMap((entry): (Following & Pending)[] => {
      const target = aim.isLatest(entry) ? aim.targetOf(entry.path) : undefined;
      if (target === undefined || !folders.have(entry.path)) return [];
      return [
        { ...entry, edit: entry.edit.bind(entry), absolute: join(folder, entry.path), target, top: folder },
      ];
    });
    const inThread = files.length < worthAThread ? undefined : files.map(withoutFunctions);
    const { followed = [], error } = inThread
      ? await this.#thread.follow({ files: inThread, staging, hash })
      : {};
    for (const [i, file] of files.entries()) {
      if (error !== undefined && i >= followed.length) throw error;
      const inside = followed[i] ?? 'asks';
      this.#note(file, inside === 'asks' ? await follow(file, staging, hash) : inside);
    }
    return true;
  }

  #note({ path, absolute }: Following, followed: Followed): void {
    if (followed === 'replaced' || followed === 'edited') this.#unsynced.add(absolute);
    if (followed === 'edited')
      this.#log.info({ path }, 'uncommitted edits of the file stay, with the change made in it too');
  }
}

/** Files that follow while the index is locked: some milliseconds of work. */
const atOnce = 32;

/** Fewer files are done sooner than a thread is asked. */
const worthAThread = 4;

function withoutFunctions(file: Following): Omit<Following, 'edit'> {
  const { path, known, after, chmod, absolute, target, top, torn } = file;
  return { path, known, after, ...(chmod && { chmod }), absolute, target, top, torn };
}
