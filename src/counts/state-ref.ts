import { statSync } from 'node:fs';
import { join } from 'node:path';
import { maxLeadMs } from '../bot/clock.ts';
import { type BotId, compareBotIds } from '../bot/id.ts';
import type { BranchFeed } from '../git/branch/feed.ts';
import {
  type NewFile,
  importCommit,
  toPackFolder,
  type RefCommit,
  writeHistory,
} from '../git/commit-files.ts';
import { findTreeEntries } from '../git/trees.ts';
import { removeLeftovers, wasKilled } from '../git/leftovers.ts';
import { computeBlobId } from '../git/objects.ts';
import { type Repository, type RepositoryOpener, toUnavailableError } from '../git/repository.ts';
import {
  createRefConflictError,
  fsyncRefs,
  listRefFolders,
  readRef,
  stateRef,
  updateRefs,
} from '../git/refs.ts';
import { type BotshelfError, isError } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { retry } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { forEachInSlices, TimeSlice } from '../lib/time-slice.ts';
import { splitIntoParts } from '../lib/worker-pool.ts';
import {
  createRefusal,
  findDays,
  findShards,
  listDays,
  listShards,
  maxBots,
  readStateFiles,
  type StateFile,
} from './state-files.ts';
import {
  type BotState,
  mergeBotStates,
  readShard,
  toShardNumber,
  toShardPath,
  writeShard,
  State,
  type Count,
  DayCounts,
  findLastDay,
  mergeDays,
  minDay,
  SkippedLines,
  toDay,
  isDayPath,
} from './state.ts';

/** The changes of a commit: bot → values that are merged into its state. Its count is the one in memory. */
export type StateChange = ReadonlyMap<BotId, Omit<BotState, 'count'>>;

/**
 * The state in memory and the state ref. Commits of other processes are merged into memory; changes are committed to the
 * ref, then merged into memory. Memory always has what the tip has that a commit is based on, so files are written whole.
 */
export class CommittedState {
  readonly state = new State();
  readonly #ref: StateRef;
  readonly #log: Log;
  /** The tip that is merged into memory; undefined until one was read. */
  #tip: string | null | undefined;
  #peeked: string | undefined;
  #peekedAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<void> | undefined;
  #committing: Promise<unknown> = Promise.resolve();
  readonly #queue = new SerialQueue();
  /** The reason why a tip is not read, and the result of `peek` for it. */
  #refused: { readonly peeked: string; readonly error: BotshelfError } | undefined;
  /** Counts that files of days may not have yet: those of this process, and those that they replace. */
  readonly #dayCounts = new DayCounts();
  /** The result of `findLastDay` for the tip. */
  #lastDay = minDay;
  /** The first day that was not over at the last commit. */
  #daysEnd: number | undefined;

  constructor(ref: StateRef, log: Log) {
    this.#ref = ref;
    this.#log = log;
  }

  /**
   * Resolves when memory has everything that any process had committed 5 ms ago. Usually it already has: then returns
   * undefined, so that a check of a token does not wait.
   * @throws the ref's error if it cannot be read
   */
  follow(): Promise<void> | undefined {
    return this.#isCurrent() ? undefined : this.#readUntilCurrent();
  }

  /**
   * Resolves when memory has everything that any process has committed by now.
   * @throws the ref's error if it cannot be read
   */
  async refresh(): Promise<void> {
    this.#peekedAt = Number.NEGATIVE_INFINITY;
    await this.follow();
  }

  /** Whether memory has everything that was committed 5 ms ago, by the time of the last read or by one peek. */
  #isCurrent(): boolean {
    const now = performance.now();
    if (now - this.#peekedAt < peekIntervalMs) return true;
    if (this.#ref.peek() !== this.#peeked) return false;
    this.#peekedAt = now;
    return true;
  }

  async #readUntilCurrent(): Promise<void> {
    while (!this.#isCurrent()) {
      this.#reading ??= this.#read().finally(() => (this.#reading = undefined));
      await this.#reading;
    }
  }

  /** Merges a count of this process into memory. Its day's file includes it even if it is replaced before a commit. */
  addCount(id: BotId, count: Count): void {
    const { count: known } = this.state.get(id);
    if (known && toDay(known.at) >= this.#lastDay) this.#dayCounts.add(id, known);
    this.#dayCounts.add(id, count);
    this.state.merge(id, { count });
  }

  /**
   * Commits the change that `plan` returns for the current state, and merges it into memory. When another process
   * commits first, its commit is merged and `plan` called again. An empty change commits nothing. The
   * files of days that are over get the counts that they do not have.
   * @param subject called after `plan` if it is a function
   * @throws what the ref does when it cannot be read or written
   */
  async commit(plan: () => StateChange, subject: string | (() => string)): Promise<void> {
    const tryCommit = async (): Promise<void> => await this.#tryCommit(plan, subject);
    await this.#queue.run(
      async () => await retry(tryCommit, { maxAttempts: maxConflicts, isRetriable: isConflict }),
    );
  }

  async #tryCommit(plan: () => StateChange, subject: string | (() => string)): Promise<void> {
    await this.follow();
    const onto = this.#tip ?? null;
    const change = plan();
    if (change.size === 0) return;
    const today = toDay(Date.now());
    const soon = toDay(Date.now() + maxLeadMs);
    // A clock that is a little ahead may have sent a count of tomorrow, which replaces one of today.
    const end = this.#dayCounts.has(soon) ? soon : today;
    if (this.#daysEnd !== end) await this.#addCountsBefore(end);
    const ended = new DayCounts();
    this.#dayCounts.moveBefore(end, ended);
    try {
      const files = new Map([...(await this.#filesWith(change)), ...(await ended.writeFiles())]);
      const committing = this.#ref.commit(onto, files, typeof subject === 'string' ? subject : subject());
      this.#committing = committing.catch(() => {});
      this.#tip = await committing;
    } catch (error) {
      ended.moveBefore(Infinity, this.#dayCounts);
      if (isConflict(error)) {
        this.#peeked = undefined;
        this.#peekedAt = Number.NEGATIVE_INFINITY;
      }
      throw error;
    }
    this.#daysEnd = end;
    await forEachInSlices(change, ([id, botState]) => void this.state.merge(id, botState), 'service');
    // Peeks, so that the next check of a token need not read the ref. That check reports the errors.
    await this.refresh().catch(() => {});
  }

  async #filesWith(change: StateChange): Promise<Map<string, string>> {
    const merged = (id: BotId): BotState => {
      const changed = change.get(id);
      return changed === undefined ? this.state.get(id) : mergeBotStates(this.state.get(id), changed);
    };
    const shards = new Map<number, Set<BotId>>();
    const assign = (id: BotId): void => {
      const number = toShardNumber(id);
      shards.set(number, (shards.get(number) ?? new Set()).add(id));
    };
    await forEachInSlices(change.keys(), assign, 'service');
    const files = new Map<string, string>();
    const write = ([number, bots]: readonly [number, ReadonlySet<BotId>]): void => {
      const all = new Set([...this.state.listBots(number), ...bots]);
      files.set(toShardPath(number), writeShard([...all].toSorted(compareBotIds), merged));
    };
    await forEachInSlices(shards, write, 'service');
    return files;
  }

  /** Adds the counts of days before `end` that the files of the tip may not have. */
  async #addCountsBefore(end: number): Promise<void> {
    const add = ([id, { count }]: readonly [BotId, BotState]): void => {
      const day = count === undefined ? end : toDay(count.at);
      if (count && day >= this.#lastDay && day < end) this.#dayCounts.add(id, count);
    };
    await forEachInSlices(this.state.bots, add, 'service');
  }

  async #read(): Promise<void> {
    await this.#committing;
    const peeked = this.#ref.peek();
    if (this.#refused?.peeked === peeked) throw this.#refused.error;
    try {
      const tree = await this.#ref.read(this.#tip ?? undefined);
      await this.#merge(tree);
      this.#tip = tree.commit;
      this.#lastDay = findLastDay(tree.days);
      this.#peeked = peeked;
    } catch (error) {
      if (isError(error, 'state-refused')) this.#refused = { peeked, error };
      throw error;
    }
  }

  /** Merges all shards, or none. @throws {BotshelfError} state-refused */
  async #merge({ commit, shards }: StateTree): Promise<void> {
    const bots = new Map<BotId, BotState>();
    let unknown = 0;
    const add = (id: BotId, botState: BotState): void => {
      const known = bots.get(id);
      if (known === undefined && !this.state.bots.has(id)) unknown++;
      bots.set(id, known === undefined ? botState : mergeBotStates(known, botState));
    };
    const skipped = new SkippedLines();
    const slice = new TimeSlice('service');
    for await (const [path, content] of shards) {
      await readShard(path, content, slice, add, (fault) => skipped.add(fault));
      if (this.state.bots.size + unknown > maxBots)
        throw createRefusal(String(commit), `it has more than ${maxBots} bots`);
    }
    for (const { path: file, line, message } of skipped.first)
      this.#log.warn({ file, line }, `${file}:${line} of the state ref is skipped: ${message}`);
    if (skipped.more > 0) this.#log.warn({}, `${skipped.more} more lines of the state ref are skipped`);
    const merge = ([id, botState]: readonly [BotId, BotState]): void => {
      const { count: known } = this.state.get(id);
      // A count that is not committed yet has replaced it.
      if (known && botState.count && botState.count.at < known.at) this.#dayCounts.add(id, botState.count);
      this.state.merge(id, botState);
    };
    await forEachInSlices(bots, merge, 'service');
  }
}

/** Milliseconds between two peeks. */
const peekIntervalMs = 5;

function isConflict(error: unknown): boolean {
  return isError(error, 'ref-conflict');
}

/** Attempts before a commit fails because another process commits first each time. */
const maxConflicts = 30;

/** The shards of a state in Git, its commit and the days that have a file. */
export interface StateTree {
  /** The commit at the tip; null while the ref does not exist. */
  readonly commit: string | null;
  readonly days: readonly number[];
  /** Yields `<ab>/<cd>.json` and the content of each. Few are in memory at a time. */
  readonly shards: AsyncIterable<readonly [path: string, content: Buffer]>;
}

/**
 * Where the state is committed: `refs/botshelf/state` of the catalogue's repository.
 * Only the tip is read. Each commit has the one before as its parent.
 */
export interface StateRef {
  /**
   * Returns the shards at the tip; empty while the ref does not exist.
   * @param known a commit that was read before: shards that are the same in it may be left out
   * @throws {BotshelfError} state-refused, if they are too large
   */
  read(known?: string): Promise<StateTree>;

  /**
   * Commits `files` (path → whole new text) on top of `onto`, durably; the file of a day is merged into that of `onto`. Returns
   * the new commit, or `onto` without a commit if the tree would be the same.
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
 * @param branch where each commit is published
 */
export function createStateRef(
  repositoryOpener: RepositoryOpener,
  log: Log,
  branch?: Pick<BranchFeed, 'publish'>,
): StateRef {
  const using = async <T>(work: (repository: Repository) => Promise<T>): Promise<T> => {
    try {
      return await work(await repositoryOpener.open());
    } catch (error) {
      throw isError(error, 'ref-conflict') ? error : toUnavailableError(error);
    }
  };
  /**
   * Whether a power loss may undo the last commit: the fsync of its folders failed, or the process before this one may
   * have ended without it.
   */
  let isUnsynced = true;
  const sync = async (repository: Repository): Promise<void> => {
    await fsyncRefs(repository, [toPackFolder(repository), ...listRefFolders(repository, stateRef)]);
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
          maxAttempts: maxKills,
          isRetriable: wasKilled,
          repair: async (error) => (await removeLeftovers(repository, error, log)) > 0,
        });
        isUnsynced = true;
        await sync(repository);
        branch?.publish({ ref: 'state', commit });
        return commit;
      }),
    peek: () => readRefVersions(repositoryOpener.opened),
  };
}

/** Attempts before a commit fails because git is killed each time. */
const maxKills = 8;

async function readState(repository: Repository, known: string | undefined): Promise<StateTree> {
  const commit = await readRef(repository, stateRef);
  const files = commit === null || commit === known ? [] : await listShards(repository, commit);
  const isKnown = files.length > 0 && known !== undefined && (await repository.objects.has(known));
  const before = isKnown ? await findShards(repository, known) : new Map<string, string>();
  return {
    commit,
    days: commit === null ? [] : await findDays(repository, commit),
    shards: readShards(
      repository,
      files.filter(({ path, id }) => before.get(path) !== id),
    ),
  };
}

async function* readShards({ objects }: Repository, files: readonly StateFile[]): StateTree['shards'] {
  for (const some of splitIntoParts(files, shardsPerRead)) {
    const contents = await readStateFiles(
      objects,
      some.map(({ id }) => id),
    );
    for (const [i, content] of contents.entries()) yield [some[i]?.path ?? '', content];
  }
}

/** The shards that are read together: up to 64 MiB. */
const shardsPerRead = 64;

async function findChangedFiles(
  repository: Repository,
  onto: string | null,
  files: ReadonlyMap<string, string>,
): Promise<RefCommit['files']> {
  const old = await findTreeEntries(repository, onto, [...files.keys()]);
  const texts = new Map(files);
  const oldDays = [...old.keys()].filter(isDayPath);
  const { days } = onto !== null && oldDays.length > 0 ? await listDays(repository, onto) : { days: [] };
  for (const path of oldDays) {
    const file = days.find((day) => day.path === path);
    // A file that cannot be read stays: `/readyz` names it.
    const [known] = file ? await readStateFiles(repository.objects, [file.id]) : [];
    const text = known && (await mergeDays(known, Buffer.from(files.get(path) ?? '')));
    if (text === undefined) texts.delete(path);
    else texts.set(path, text);
  }
  const changed = new Map<string, NewFile>();
  const compare = ([path, text]: readonly [string, string]): void => {
    const content = Buffer.from(text);
    if (old.get(path)?.id !== computeBlobId(content, repository.hash))
      changed.set(path, { mode: '100644', content });
  };
  await forEachInSlices(texts, compare, 'service');
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
 * Prunes the history of the state ref, as writePrunedHistory does. Returns the number of removed commits; undefined, without
 * a change, if the ref moves at the same time. Content history is never pruned.
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
 * Writes the pruned history of a state, on no ref: a line of the tip and the commits since `since`, with their trees, after
 * the last older ones that changed tokens, for their messages. Its first commit is a new one, so it shares none with the
 * history that was pruned. Returns its last commit and the number of removed commits; undefined if pruning removes none.
 * @throws {GitError}
 */
export async function writePrunedHistory(
  repository: Repository,
  tip: string,
  since: number,
): Promise<{ readonly commit: string; readonly removed: number } | undefined> {
  const format = '--format=%T%x09%ct%x09%cn <%ce>%x09%s';
  const lines = (await repository.run(['log', format, tip])).split('\n').slice(0, -1);
  const history = lines.map((line) => {
    const [tree = '', time = '', identity = '', ...subject] = line.split('\t');
    const committer = `${identity} ${time} +0000`;
    return { tree, time: Number(time), committer, message: `${subject.join('\t')}\n` };
  });
  const kept: typeof history = [];
  let tree = '';
  let records = 0;
  for (const [i, commit] of history.entries())
    if (i === 0 || commit.time >= since) {
      ({ tree } = commit);
      kept.push(commit);
    } else if (commit.message.includes(' token') && records++ < maxTokenRecords)
      kept.push({ ...commit, tree });
  const removed = history.length - kept.length;
  const first = kept.pop();
  if (removed === 0 || first === undefined) return undefined;
  const message = `${first.message}\nThe counts before ${since} were pruned.\n`;
  const commit = await writeHistory(repository, [{ ...first, message }, ...kept.toReversed()]);
  return { commit, removed };
}

/** The most old commits that are kept because they name who issued or revoked a token. */
const maxTokenRecords = 10_000;
