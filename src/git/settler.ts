import { setTimeout as sleep } from 'node:timers/promises';
import { failpoint } from '../failpoint.ts';
import type { Log } from '../log.ts';
import { messageOf } from '../system-error.ts';
import type { Change, TipFile } from './batch-plan.ts';
import { fsyncFiles } from './durable.ts';
import { followIndex } from './git-index.ts';
import type { Repository, RepositoryDoor } from './repository.ts';
import { readTipFiles } from './tip-files.ts';
import { joined, type Pending, wasTakenBack } from './pending.ts';
import type { Unsettled, UnsettledNote } from './unsettled.ts';
import type { TargetFile } from './work-tree.ts';
import { WorkTreeFollower } from './work-tree-follower.ts';

/**
 * Brings work tree and index after our commits, without ever failing one: what cannot be settled now, because
 * a person's git is at work, is tried until it can.
 */
export class Settler {
  readonly #door: RepositoryDoor;
  readonly #note: UnsettledNote;
  readonly #log: Log;
  readonly #pending = new Map<string, Pending>();
  /** What has been settled, at which tip and when: it is looked at once more a while later. */
  readonly #done = new Map<Pending, { readonly tip: string | null; readonly since: number }>();
  /** What is being committed now. */
  readonly #begun = new Set<readonly Unsettled[]>();
  readonly #follower: WorkTreeFollower;
  #timer: NodeJS.Timeout | undefined;
  #pass: Promise<boolean> | undefined;
  #lastDuration = 0;
  /** Whether entries of the index lack the stamps of their files: while there is more to come they wait. */
  #lacksStamps = false;
  /** Passes in a row that could not settle everything. */
  #tries = 0;
  #closed = false;

  constructor(door: RepositoryDoor, note: UnsettledNote, log: Log) {
    this.#door = door;
    this.#note = note;
    this.#log = log;
    this.#follower = new WorkTreeFollower(log);
  }

  /** Whether work tree and index have all our commits. */
  get settled(): boolean {
    return this.#pending.size === this.#done.size;
  }

  /**
   * Says, durably, which files a commit will replace. Gives what to call when that has ended, made or not.
   * @throws a system error: then the commit must not be made.
   */
  async begin(edits: readonly Replacement[]): Promise<() => void> {
    const entries = edits.map((edit) => noted({ ...edit, known: [edit.before] }));
    const end = (): void => {
      this.#begun.delete(entries);
      this.#schedule();
    };
    this.#begun.add(entries);
    try {
      await this.#note.add(entries);
    } catch (error) {
      end();
      throw error;
    }
    return end;
  }

  /**
   * The changes that a person's commit has taken back by accident, as the files at the tip show: whoever
   * commits to those files next makes them first.
   */
  async takenBack(
    repository: Repository,
    tip: string | null,
    files: ReadonlyMap<string, TipFile>,
  ): Promise<Change[]> {
    const changes: Change[] = [];
    for (const [path, { id }] of files) {
      const entry = this.#pending.get(path);
      if (entry && (await wasTakenBack(repository, tip, entry, id))) changes.push(...entry.changes);
    }
    return changes;
  }

  /**
   * Takes over what was committed, and what each file is now, as far as that is at hand. Resolves when the work
   * tree has it, unless a person's git is at work.
   */
  async committed(
    pending: readonly Pending[],
    contents: ReadonlyMap<string, TargetFile | null>,
    branch: string,
  ): Promise<void> {
    for (const entry of pending) this.#add(entry);
    // Joined with what has not reached the work tree yet, so that an older text of ours is not taken for a person's.
    const joint = pending.map((entry) => this.#pending.get(entry.path) ?? entry);
    try {
      const repository = await this.#door.open();
      for (let attempt = 0; attempt < 10; attempt++) {
        if (await this.#followFiles(repository, branch, joint, (path) => contents.get(path))) return;
        await sleep(5);
      }
    } catch (error) {
      this.#log.warn({ err: error }, `files of the work tree wait for their commit: ${messageOf(error)}`);
    }
  }

  /** Settles what a crash has left. */
  async recover(pending: readonly Pending[]): Promise<void> {
    for (const entry of pending) this.#add(entry);
    if (pending.length > 0) await this.settle();
  }

  /** Tries to settle everything now. False when a person's git is at work. */
  async settle(): Promise<boolean> {
    while (this.#pass) await this.#pass;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#pass = this.#settleAll();
    try {
      return await this.#pass;
    } finally {
      this.#pass = undefined;
      this.#schedule();
    }
  }

  /** Settles what can be settled at once; the rest is on disk, for the next start. */
  async close(): Promise<void> {
    this.#closed = true;
    for (let attempt = 0; attempt < 20 && !(await this.settle()); attempt++) await sleep(25);
    clearTimeout(this.#timer);
    if (this.settled) await this.#shortenNote().catch(() => undefined);
    await this.#note.close();
    await this.#follower.close();
  }

  #add(entry: Pending): void {
    const earlier = this.#pending.get(entry.path);
    if (earlier) this.#done.delete(earlier);
    this.#pending.set(entry.path, earlier ? joined(earlier, entry) : entry);
  }

  #schedule(): void {
    if (this.#closed || this.#timer !== undefined || this.#pass !== undefined || this.#pending.size === 0)
      return;
    const patience = this.#tries === 0 ? 0 : Math.min(1000, 10 * 2 ** this.#tries);
    const delay = this.settled ? secondLook : Math.max(20, 4 * this.#lastDuration, patience);
    this.#timer = setTimeout(() => void this.settle(), delay);
    this.#timer.unref();
  }

  async #settleAll(): Promise<boolean> {
    const started = performance.now();
    try {
      return await this.#tryToSettle([...this.#pending.values()]);
    } catch (error) {
      this.#tries++;
      if (this.#tries === 1)
        this.#log.warn({ err: error }, `work tree and index wait for their commits: ${messageOf(error)}`);
      return false;
    } finally {
      this.#lastDuration = Math.min(5000, performance.now() - started);
    }
  }

  async #tryToSettle(entries: readonly Pending[]): Promise<boolean> {
    if (entries.length > 0) {
      const repository = await this.#door.open();
      const branch = repository.branch();
      const tip = (await repository.objects.readOne(branch))?.id ?? null;
      const open = entries.filter((entry) => !this.#done.has(entry) || this.#done.get(entry)?.tip !== tip);
      for (const entry of entries) if (!open.includes(entry)) this.#forget(entry);
      if (open.length > 0 || (this.#lacksStamps && this.#begun.size === 0)) {
        const files = await readTipFiles(
          repository,
          tip,
          open.map(({ path }) => path),
        );
        const kept = await this.#commitAgain(repository, tip, open, files);
        failpoint('batch.before-index');
        if (!(await this.#settleAt(repository, branch, kept, files))) return this.#waiting();
        failpoint('batch.after-index');
        for (const entry of kept) this.#markDone(entry, tip);
      }
    }
    this.#tries = 0;
    const quiet = this.#pending.size === 0 && this.#begun.size === 0;
    if (quiet || this.#note.size > longNote) await this.#shortenNote();
    return true;
  }

  /** What leaves the note is on disk before; what is replaced meanwhile is pending, and stays. */
  async #shortenNote(): Promise<void> {
    await fsyncFiles(this.#follower.takeUnsynced());
    const stay = [...this.#pending.values(), ...[...this.#begun].flat()];
    await this.#note.replace(stay.map(noted));
  }

  async #settleAt(
    repository: Repository,
    branch: string,
    entries: readonly Pending[],
    files: ReadonlyMap<string, TipFile>,
  ): Promise<boolean> {
    const target = (path: string): TargetFile | null | undefined => {
      const file = files.get(path);
      if (file === undefined || file.id === null) return removed.has(path) ? null : undefined;
      const { id, mode, content } = file;
      const isWritten = content !== null || mode.startsWith('100');
      return isWritten ? { id, mode, content } : undefined;
    };
    const removed = new Set(entries.filter(({ after }) => after === null).map(({ path }) => path));
    if (!(await this.#followFiles(repository, branch, entries, target))) return false;
    const following = entries.flatMap((entry) => {
      const { id, mode = '100644' } = files.get(entry.path) ?? {};
      const target = id === undefined || id === null ? null : { id, mode };
      return target === null && entry.after !== null ? [] : [{ ...entry, target }];
    });
    const isBusy = this.#begun.size > 0;
    if (following.length === 0 && (isBusy || !this.#lacksStamps)) return true;
    const stamps = this.#lacksStamps ? 'all' : 'changed';
    const followed = await followIndex(repository, following, isBusy ? 'none' : stamps);
    if (followed) this.#lacksStamps = isBusy;
    return followed;
  }

  async #followFiles(
    repository: Repository,
    branch: string,
    entries: readonly Pending[],
    targetOf: (path: string) => TargetFile | null | undefined,
  ): Promise<boolean> {
    const isLatest = (entry: Pending): boolean => this.#pending.get(entry.path) === entry;
    return await this.#follower.follow(repository, entries, { branch, targetOf, isLatest });
  }

  /**
   * A person's commit that was made from an index older than ours takes our change back without anybody
   * wanting it: the tip has the old text again, on top of our commit, while the work tree has ours. Such a
   * change is made once more. Gives the other entries.
   */
  async #commitAgain(
    repository: Repository,
    tip: string | null,
    entries: readonly Pending[],
    files: ReadonlyMap<string, TipFile>,
  ): Promise<Pending[]> {
    const kept: Pending[] = [];
    for (const entry of entries) {
      const id = files.get(entry.path)?.id ?? null;
      // A batch under way makes the change again itself, before its own.
      if (this.#begun.size === 0 && (await wasTakenBack(repository, tip, entry, id))) {
        this.#log.warn(
          { path: entry.path },
          'a commit has taken back a change it did not know of: making it again',
        );
        this.#forget(entry);
        entry.again();
      } else {
        kept.push(entry);
      }
    }
    return kept;
  }

  #markDone(entry: Pending, tip: string | null): void {
    if (this.#pending.get(entry.path) !== entry) return;
    const since = this.#done.get(entry)?.since ?? Date.now();
    if (Date.now() - since < secondLook) this.#done.set(entry, { tip, since });
    else this.#forget(entry);
  }

  #forget(entry: Pending): void {
    this.#done.delete(entry);
    if (this.#pending.get(entry.path) === entry) this.#pending.delete(entry.path);
  }

  #waiting(): false {
    this.#tries++;
    if (this.#tries === 20) {
      this.#log.warn(
        {},
        'index.lock is held for long: work tree and index follow when it goes; if no git runs, remove it',
      );
    }
    return false;
  }
}

/** What of an entry is on disk. */
function noted({ path, known, after, chmod }: Unsettled): Unsettled {
  return { path, known, after, ...(chmod && { chmod }) };
}

/** A file that a commit replaces, as far as the note needs to know. */
export interface Replacement extends Pick<Unsettled, 'path' | 'after' | 'chmod'> {
  readonly before: string | null;
}

/** Milliseconds after which a git command that had begun before is over, and its commit is seen. */
const secondLook = 1000;

/** Bytes of the note above which it is shortened while there is always something unsettled. */
const longNote = 1_000_000;
