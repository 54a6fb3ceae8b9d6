import { EventEmitter } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { BotshelfError } from '../../lib/errors.ts';
import type { CatalogueChanges } from '../../../schemas/types.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { readSchema, resolveProperties } from '../../bot/schemas.ts';
import type { BranchConsumer, BranchAdvance } from '../../git/branch/feed.ts';
import { isAncestor, isCommit, listStepsFrom } from '../../git/history.ts';
import { findTreeEntries } from '../../git/trees.ts';
import { parseTree, toKind, type TreeEntry } from '../../git/objects.ts';
import type { Repository, RepositoryOpener } from '../../git/repository.ts';
import { readHead } from '../../git/refs.ts';
import type { Current, CurrentCache } from '../../lib/current-cache.ts';
import { FairQueue } from '../../lib/serial-queue.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { splitIntoParts } from '../../lib/worker-pool.ts';
import {
  botsFolder,
  commandsPart,
  folderOf,
  isFolderName,
  isPage,
  parsePlace,
  pathOf,
  readStat,
} from '../page/layout.ts';
import { isBlob, type PageFile } from '../page/page-file.ts';
import { isMainPage, isReadable } from '../page/rules.ts';
import type { BotStore } from '../store/bot-store.ts';
import type { ReadonlyChanges } from './bot-changes.ts';
import type { PageBlobs } from './change-index.ts';

type Change = CatalogueChanges['changes'][number];

/** Changes in the order of commits. */
export interface ChangesAfter {
  readonly changes: readonly {
    readonly cursor: string;
    readonly what: Change['what'];
    readonly json: string;
  }[];
  /** The cursor of the following changes; the released tip if there are no more. */
  readonly next: string;
}

/**
 * Returns whether a text has the form of a cursor: `<commit>` or, inside the step between two commits,
 * `<from>.<to>.<bot>`. With both commits, the step can be read on even if a merge has made it part of another one.
 */
export function isChangeCursor(text: string): boolean {
  return /^(?:[0-9a-f]{40}|[0-9a-f]{64})(?:\.(?:[0-9a-f]{40}|[0-9a-f]{64})\.[0-9]{1,20})?$/.test(text);
}

export interface ChangeFeedOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  readonly repositoryOpener: RepositoryOpener;
  readonly catalogue: { readonly store: BotStore; look(paths: readonly string[]): void };
  readonly index: Pick<ReadonlyChanges, 'read'>;
  readonly cache: CurrentCache;
  /** Updates the data that records depend on; called before a commit is released. */
  readonly beforeRelease?: (advance: BranchAdvance) => Promise<void>;
  /** Ends the feed when it aborts. */
  readonly signal: AbortSignal;
}

/**
 * Lists the bots that were added, changed and removed, from Git's history up to the released tip: the last commit of
 * the branch whose pages are served. A bot that is read after a commit was released is at least as new as that commit,
 * whether it was posted, merged, or made by a person in the clone.
 */
export class ChangeFeed implements BranchConsumer {
  readonly failed = (message: string): string =>
    `could not read from Git what changed: ${message}; /api/v2/changes waits, retrying`;
  readonly ended = 'what changed was read from Git';
  /** Emits `move` when the tip moves, and when the feed ends. */
  readonly moves = new EventEmitter<{ move: [] }>();
  /** Aborted once the feed has ended. */
  readonly signal: AbortSignal;
  /** The released commit; undefined while the service starts, and in a repository without commits. */
  tip: string | undefined;
  readonly #options: ChangeFeedOptions;
  /** The tip when the catalogue began to load: its pages are at least as new. */
  #loaded: string | undefined;
  readonly #queue = new FairQueue(64);

  constructor(options: ChangeFeedOptions) {
    this.#options = options;
    this.signal = options.signal;
    // One for each open stream.
    this.moves.setMaxListeners(0);
    this.signal.addEventListener('abort', () => this.moves.emit('move'));
  }

  /** Called before the catalogue is read, so that it reads the pages of this commit or newer ones. */
  async begin(): Promise<void> {
    const opening = this.#options.repositoryOpener.open();
    this.#loaded = (await opening.then(readHead).catch(() => null)) ?? undefined;
  }

  /** Waits until the pages at the tip of the branch are served, then releases the tip. */
  async handle(advance: BranchAdvance): Promise<void> {
    await this.#waitUntilServed(advance);
    // After the pages, so that an old record never gets the time of a new one.
    await this.#options.beforeRelease?.(advance);
    if (advance.to === this.tip) return;
    this.tip = advance.to;
    this.moves.emit('move');
  }

  async #waitUntilServed({ repository, to, signal }: BranchAdvance): Promise<void> {
    const served = this.tip ?? this.#loaded;
    if (to === served) return;
    const from = served && (await isCommit(repository, served)) ? served : null;
    const slice = new TimeSlice('service');
    let waitedMs = 0;
    for await (const { id, pages } of listChangedBots(repository, from, to)) {
      for (const page of pages)
        while (!this.#isShown(repository, id, page) && waitedMs < maxWaitMs && !signal.aborted) {
          if (await isReplaced(repository, id, page, to)) break;
          await sleep(retryMs);
          waitedMs += retryMs;
        }
      if (slice.isOver) await slice.next();
      signal.throwIfAborted();
    }
  }

  /**
   * Returns the changes after a cursor: at most `limit`, and fewer if many commits changed no bot. Readers at the same
   * cursor (most are at the tip) share one read.
   * @param since a text that passes `isChangeCursor`
   * @param client the address that requests them
   * @param ids the only bots; all if left out
   * @throws {BotshelfError} unknown-cursor, queue-full
   * @throws {GitError}
   */
  async read(
    since: string,
    limit: number,
    client: string,
    ids?: readonly BotId[],
  ): Promise<ChangesAfter & Current> {
    const read = async (): Promise<ChangesAfter> =>
      this.tip === since
        ? { changes: [], next: since }
        : await this.#queue.run(client, async () => await this.#readNow(since, limit, ids));
    return await this.#options.cache.get(`changes ${since} ${limit} ${ids?.join()}`, read, {
      inputs: [() => this.tip],
      isExact: true,
      sizeOf: ({ changes }) =>
        changes.reduce((sum, { json, cursor }) => sum + json.length + cursor.length + 200, 0),
    });
  }

  async #readNow(since: string, limit: number, ids?: readonly BotId[]): Promise<ChangesAfter> {
    const repository = await this.#options.repositoryOpener.open();
    const changes: ChangesAfter['changes'][number][] = [];
    let next = since;
    let steps = 0;
    const slice = new TimeSlice();
    for await (const { from, to, time, after } of listSteps(repository, since, this.tip ?? since)) {
      for await (const bot of listChangedBots(repository, from, to, parseBotId(after), ids)) {
        if (changes.length === limit) return { changes, next };
        if (slice.isOver) await slice.next();
        next = `${from}.${to}.${bot.id}`;
        const { what, pages } = bot;
        const change: Change = {
          commit: to,
          at: new Date(time).toISOString(),
          bot: bot.id,
          what,
          keys: what === 'changed' ? await this.#listKeys(bot) : [],
          locales: pages.filter(isPage).map(({ locale }) => locale),
        };
        changes.push({ cursor: next, what, json: JSON.stringify(change) });
      }
      next = to;
      if (++steps === maxSteps) break;
      if (slice.isOver) await slice.next();
    }
    return { changes, next };
  }

  /** Returns the keys of the main page that differ, and `commands` if the commands do. */
  async #listKeys({ id, pages }: ChangedBot): Promise<string[]> {
    const { before, after } = await this.#options.index.read(id, { pages: pages.slice(0, maxPages) });
    const [was, is] = [readMainValues(before), readMainValues(after)];
    const keys = mainKeys.filter((key) => !isDeepStrictEqual(was[key], is[key]));
    return pages.every(isPage) ? keys : [...keys, commandsPart];
  }

  /**
   * Returns whether a page is served as it was committed, or is faulty. Reads a page now if it is on the disk but not
   * served yet. Returns false between a commit of the service and the update of its files, and while a person edits
   * the file.
   */
  #isShown({ hash }: Repository, id: BotId, { locale, after }: PageBlobs): boolean {
    const { root, catalogue } = this.#options;
    const served = catalogue.store.bots.get(id)?.files.find((file) => file.locale === locale);
    if (served?.sha === after) return true;
    const path = pathOf(id, locale);
    const isOnDisk = after === undefined ? !readStat(join(root, path)) : isBlob(root, path, after, hash);
    if (isOnDisk) catalogue.look([path]);
    return isOnDisk;
  }
}

/** Milliseconds that a commit waits at most for pages that differ in the work tree, because a person may edit them for hours. */
const maxWaitMs = 15_000;
const retryMs = 50;

/** Maximum number of steps that are read for one response. */
const maxSteps = 500;

/** Maximum number of a bot's pages that are read for one change. */
const maxPages = 100;

/** The keys of a main page, and `page` for the text below them. */
const mainKeys = [...Object.keys(resolveProperties(readSchema('main-page'))), 'page'];

function readMainValues(files: readonly PageFile[]): Readonly<Record<string, unknown>> {
  const main = files.filter(isReadable).find(isMainPage)?.page;
  return { ...main?.data, page: main?.page };
}

/** Yields the rest of the step that a cursor is in, then the steps up to the tip. @throws the errors of `read` */
async function* listSteps(repository: Repository, since: string, tip: string) {
  const [from = '', to = from, after = ''] = since.split('.');
  for (const id of new Set([from, to]))
    if (!(await isCommit(repository, id)) || !(await isAncestor(repository, id, tip)))
      throw new BotshelfError('unknown-cursor', `${id} is not in the history of the catalogue`);
  for await (const step of listStepsFrom(repository, from, to)) yield { ...step, after };
  for await (const step of listStepsFrom(repository, to, tip)) yield { ...step, after: '' };
}

/** Returns whether a later commit replaced this version of a page; that commit then lists the page. */
async function isReplaced(
  repository: Repository,
  id: BotId,
  { locale, after }: PageBlobs,
  commit: string,
): Promise<boolean> {
  const head = await readHead(repository);
  const path = repository.prefix + pathOf(id, locale);
  return head !== commit && (await findTreeEntries(repository, head, [path])).get(path)?.id !== after;
}

/** A bot whose pages differ between two commits. */
export interface ChangedBot {
  readonly id: BotId;
  /** `added` if the bot had no page before, `removed` if it no longer has one. */
  readonly what: 'added' | 'changed' | 'removed';
  readonly pages: readonly PageBlobs[];
}

/**
 * Yields the bots whose pages differ between two commits, folder by folder, in the order of their file names. Only a
 * few folders are in memory at a time.
 * @param from null for the empty history
 * @param after the bot to continue after; the first one if left out
 * @param ids the only bots; all if left out
 * @throws {GitError}
 */
export async function* listChangedBots(
  repository: Repository,
  from: string | null,
  to: string,
  after?: BotId,
  ids?: readonly BotId[],
): AsyncGenerator<ChangedBot> {
  const wanted = ids && new Set<string>([...ids, ...ids.map(folderOf)]);
  const [before, now] = [await readTop(repository, from), await readTop(repository, to)];
  const folders = listDifferent(before, now).filter(
    (folder) =>
      isFolderName(folder) &&
      (after === undefined || folder >= folderOf(after)) &&
      wanted?.has(folder) !== false,
  );
  for await (const { folder, files, newFiles } of readFolders(repository, folders, before, now)) {
    const bots = new Map<BotId, PageBlobs[]>();
    for (const name of listDifferent(files, newFiles)) {
      const place = parsePlace(folder, name);
      const page = { before: toBlob(files.get(name)), after: toBlob(newFiles.get(name)) };
      if (!('id' in place) || page.before === page.after) continue;
      const { id, locale } = place;
      const isGiven = after !== undefined && folder === folderOf(after) && `${id}.` <= `${after}.`;
      if (!isGiven && wanted?.has(id) !== false) bots.set(id, [...(bots.get(id) ?? []), { locale, ...page }]);
    }
    for (const [id, pages] of bots) {
      // Skips the commands of a bot that has no page.
      if (!pages.some(isPage) && !hasPage(newFiles, folder, id)) continue;
      const isNew = pages.every((page) => page.before === undefined) && !hasPage(files, folder, id);
      const isGone = pages.every((page) => page.after === undefined) && !hasPage(newFiles, folder, id);
      yield { id, what: isNew ? 'added' : isGone ? 'removed' : 'changed', pages };
    }
  }
}

type Tree = ReadonlyMap<string, TreeEntry>;

const noEntries: Tree = new Map();

/** Yields each folder as it was before and as it is now. */
async function* readFolders(repository: Repository, folders: readonly string[], before: Tree, now: Tree) {
  for (const some of splitIntoParts(folders, foldersAtATime)) {
    const trees = await readTrees(
      repository,
      some.flatMap((folder) => [before.get(folder), now.get(folder)]),
    );
    for (const [i, folder] of some.entries())
      yield { folder, files: trees[2 * i] ?? noEntries, newFiles: trees[2 * i + 1] ?? noEntries };
  }
}

/** Folders per read of Git: enough to make its start-up time small. */
const foldersAtATime = 16;

async function readTop(repository: Repository, commit: string | null): Promise<Tree> {
  const path = repository.prefix + botsFolder;
  const entry = (await findTreeEntries(repository, commit, [path])).get(path);
  return (await readTrees(repository, [entry]))[0] ?? noEntries;
}

/**
 * Returns the entries of each folder; empty if the entry is not a folder. Bypasses the cache of trees, which batches
 * of commits need.
 */
async function readTrees(
  { objects, hash }: Repository,
  entries: readonly (TreeEntry | undefined)[],
): Promise<Tree[]> {
  const ids = entries.flatMap((entry) => (entry && toKind(entry.mode) === 'folder' ? [entry.id] : []));
  const found = new Map(
    (await objects.read(ids)).flatMap((object) => (object ? [[object.id, object.content]] : [])),
  );
  return entries.map((entry) => parseTree(found.get(entry?.id ?? '') ?? Buffer.alloc(0), hash));
}

/** Returns the names whose entries are not the same, in order. */
function listDifferent(a: Tree, b: Tree): string[] {
  const names = [...new Set([...a.keys(), ...b.keys()])];
  return names
    .filter((name) => a.get(name)?.id !== b.get(name)?.id || a.get(name)?.mode !== b.get(name)?.mode)
    .toSorted();
}

/** Returns the blob of a regular file. */
function toBlob(entry: TreeEntry | undefined): string | undefined {
  return entry?.mode.startsWith('100') ? entry.id : undefined;
}

function hasPage(tree: Tree, folder: string, id: BotId): boolean {
  return [...tree].some(([name, entry]) => {
    const place = name.startsWith(`${id}.`) && toBlob(entry) ? parsePlace(folder, name) : undefined;
    return place !== undefined && 'id' in place && isPage(place);
  });
}
