import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadonlyCounts } from '../bot/counts.ts';
import type { BotId } from '../bot/id.ts';
import type { BranchAdvance, CommitEvent } from '../git/branch/feed.ts';
import type { Clone } from '../git/branch/clone.ts';
import { readHead } from '../git/refs.ts';
import type { Repository, RepositoryOpener } from '../git/repository.ts';
import { findTreeEntries } from '../git/trees.ts';
import { CurrentCache } from '../lib/current-cache.ts';
import { codeOf, isError, messageOf, UserError } from '../lib/errors.ts';
import { type Health, listFaults } from '../lib/health.ts';
import type { Log } from '../lib/log.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import type { ReadonlyChanges } from './changes/bot-changes.ts';
import { ChangeFeed } from './changes/change-feed.ts';
import { ChangeIndex } from './changes/change-index.ts';
import { AuthorIndex } from './lists/authors.ts';
import { type Lists, openLists } from './lists/lists.ts';
import { botsFolder, parseFilePath, listTop } from './page/layout.ts';
import { parseProfile, peopleFolder, type Profile } from './page/side-file.ts';
import { blockedName, type Blocked, locateBlocked } from './settings/blocked.ts';
import { settingsName, parseSettings, type CatalogueSettings, toSettings } from './settings/settings.ts';
import { readFromDisk } from './page/page-file.ts';
import type { BotIndex } from './store/bot-index.ts';
import { BotMirror, type BotMirrorOptions } from './store/bot-mirror.ts';
import { BotStore } from './store/bot-store.ts';
import type { FileMirror } from './store/file-mirror.ts';
import { Collections, FolderMirror, SingleFileMirror } from './store/side-mirrors.ts';

/** A service's catalogue and everything computed from it. */
export interface OpenCatalogue {
  readonly catalogue: Catalogue;
  readonly bots: BotIndex;
  readonly lists: Lists;
  readonly authors: AuthorIndex;
  /** The commits that changed each bot. */
  readonly changes: ChangeIndex;
  /** All changes of bots, in the order of commits. */
  readonly feed: ChangeFeed;
  /** Caches values that are computed from the catalogue. */
  readonly cache: CurrentCache;
  /** Rebuilds a bot's record after the time of its last edit changed. */
  readonly serveEdited: (id: BotId) => void;
  health(): Health;
  /** Reads the catalogue and the state (which has the times of edits), and brings `feed` up to date. */
  load(): Promise<void>;
  /** Starts the slow builds in the background. */
  start(): void;
  close(): Promise<void>;
}

interface OpenCatalogueOptions extends Pick<Clone, 'repositoryOpener' | 'isGitWriting' | 'branch'> {
  readonly config: {
    /** The folder that holds `bots/`. */
    readonly catalogue: string;
    readonly var: string;
    readonly blocked: string | null;
  };
  readonly counts: ReadonlyCounts;
  readonly state: {
    /** Returns when a commit last changed a bot; undefined if the state does not say. */
    edited(id: BotId): number | undefined;
    load(): Promise<void>;
  };
  /** Null if the service does not cache images. */
  readonly images: Pick<Required<CatalogueOptions>, 'cachedImages'> | null;
  /** Sets the times of the last edits from new commits, before the changed records are served. */
  readonly setEditedTimes: (advance: BranchAdvance, changes: ReadonlyChanges) => Promise<void>;
  readonly log: Log;
}

/** Opens the catalogue; `load` reads it. */
export async function openCatalogue(options: OpenCatalogueOptions): Promise<OpenCatalogue> {
  const { config, repositoryOpener, branch, counts, state, images, setEditedTimes, log } = options;
  const edited = (id: BotId): number | undefined => state.edited(id);
  const catalogue = new Catalogue({
    root: config.catalogue,
    hash: await repositoryOpener.hash(),
    restoreFolder: async () => await restoreBotsFolder(config.catalogue, repositoryOpener),
    isGitWriting: options.isGitWriting,
    log,
    snapshot: join(config.var, 'index.snapshot'),
    settingsCopy: join(config.var, settingsName),
    blockedFile: config.blocked,
    blockedCopy: join(config.var, `last-${blockedName}`),
    edited,
    ...(images && { cachedImages: (named) => images.cachedImages(named) }),
  });
  const { bots } = catalogue.store;
  const cache = new CurrentCache();
  const changes = new ChangeIndex({ folder: join(config.var, 'changes'), repositoryOpener });
  const feed = new ChangeFeed({
    root: config.catalogue,
    repositoryOpener,
    catalogue,
    index: changes,
    cache,
    beforeRelease: async (advance) => await setEditedTimes(advance, changes),
    signal: branch.signal,
  });
  branch.add(feed);
  branch.add(changes);
  const lists = openLists(catalogue, counts, cache, log);
  const repository = await repositoryOpener.open().catch(() => undefined);
  branch.onPublished(showCommits(catalogue, repository?.prefix ?? ''));
  branch.onPublished(() => branch.lookNow(feed));
  const early = new Set<BotId>();
  const serveNow = (id: BotId): void => catalogue.store.setEdited(id, edited(id) ?? 0);
  return {
    catalogue,
    bots,
    lists,
    authors: new AuthorIndex(bots, catalogue.profiles, cache),
    changes,
    feed,
    cache,
    health: () => ({ catalogue: { ready: catalogue.isReady, faults: catalogue.faults } }),
    serveEdited: (id) => void (catalogue.isReady ? serveNow(id) : early.add(id)),
    load: async () => {
      await feed.begin();
      // Together, because each spends half of its time waiting for the disk.
      await Promise.all([catalogue.load(), state.load()]);
      await forEachInSlices(early, serveNow, 'service');
      // Brings the feed up to date before the first request. The next look logs a failure.
      await branch.look(feed).catch(() => undefined);
      branch.start(feed);
    },
    start: () =>
      void catalogue.bots.unpacked().then((isOpen) => {
        if (!isOpen) return;
        void lists.search.build(log);
        branch.start(changes);
      }),
    close: async () => {
      lists.search.close();
      await catalogue.close();
    },
  };
}

/**
 * Creates `bots/` if Git removed it with the last bot.
 * @throws {UserError} when the catalogue's folder cannot be read
 * @throws {BotshelfError} wrong-user, when the clone and its files belong to another user
 */
export async function ensureCatalogue(catalogue: string, repositoryOpener: RepositoryOpener): Promise<void> {
  try {
    if (!existsSync(join(catalogue, botsFolder)))
      await restoreBotsFolder(catalogue, repositoryOpener).catch((error: unknown) => {
        // Reading the catalogue reports any other error.
        if (error instanceof UserError) throw error;
      });
    listTop(catalogue);
  } catch (error) {
    throw toCatalogueError(error, catalogue);
  }
  await repositoryOpener.open().catch((error: unknown) => {
    if (isError(error, 'wrong-user')) throw error;
  });
}

/**
 * Creates `bots/` if the last commit has nothing in it, because Git keeps no empty folder; not if the repository never had
 * it.
 * @param catalogue the folder that holds `bots/`
 * @throws {UserError} if nothing is checked out although the remote has branches
 * @throws {GitError} and system errors
 */
export async function restoreBotsFolder(
  catalogue: string,
  repositoryOpener: RepositoryOpener,
): Promise<void> {
  const repository = await repositoryOpener.open();
  const head = await readHead(repository);
  const path = repository.prefix + botsFolder;
  if (head === null) return await refuseEmptyClone(catalogue, repository);
  if ((await findTreeEntries(repository, head, [path])).has(path)) return;
  if ((await repository.run(['rev-list', '--max-count=1', head, '--', path])) === '') return;
  await mkdir(join(catalogue, botsFolder), { recursive: true });
}

/**
 * Throws for an empty clone: HEAD of its remote names a missing branch, as after `git init --bare` and a push of another
 * branch.
 */
async function refuseEmptyClone(catalogue: string, repository: Repository): Promise<void> {
  const format = '--format=%(refname:lstrip=3)';
  const branches = (await repository.run(['for-each-ref', format, 'refs/remotes/origin'])).split('\n');
  const branch = branches.find((name) => name === 'main') ?? branches[0];
  if (branch)
    throw new UserError(
      `${catalogue} has nothing checked out, because HEAD of its remote names no branch that is there: run "git switch ${branch}" here, and "git symbolic-ref HEAD refs/heads/${branch}" on the Git server`,
    );
}

/** Returns the error for a catalogue that cannot be read. Its message names the setting to change. */
function toCatalogueError(error: unknown, catalogue: string): UserError {
  if (error instanceof UserError) return error;
  if (codeOf(error) === 'ENOENT')
    return new UserError(
      `${catalogue} has no folder bots/: make a catalogue with “botshelf init DIR”, or set BOTSHELF_CATALOGUE to one`,
    );
  return new UserError(
    `the catalogue ${catalogue} cannot be read: ${messageOf(error)}. Set BOTSHELF_CATALOGUE to the folder that holds bots/`,
  );
}

/**
 * Returns a listener that serves commits immediately, without waiting for the watcher. A posted change is read before
 * its response is sent; the files of a merge, perhaps thousands, are read in slices of time.
 * @param prefix the catalogue's folder relative to the top of the repository: empty, or ending in a slash
 */
export function showCommits(
  catalogue: Pick<Catalogue, 'put' | 'look'>,
  prefix: string,
): (event: CommitEvent) => unknown {
  const toOwnPath = (path: string): string[] => (path.startsWith(prefix) ? [path.slice(prefix.length)] : []);
  return async (event) => {
    if (event.ref !== 'branch') return;
    const { changes, contents } = event;
    if (contents) {
      const own = [...contents].flatMap(([path, bytes]) => toOwnPath(path).map((at) => [at, bytes] as const));
      return catalogue.put(new Map(own));
    }
    const groups = new Map<string, string[]>();
    for (const path of changes.flatMap((change) => toOwnPath(change.path))) {
      const key = parseFilePath(path)?.id ?? path;
      groups.set(key, [...(groups.get(key) ?? []), path]);
    }
    await forEachInSlices(groups.values(), (paths) => catalogue.look(paths), 'service');
  };
}

/** Options of a catalogue; `root` is the folder that holds `bots/`. */
export interface CatalogueOptions extends Omit<BotMirrorOptions, 'store' | 'limits'> {
  /** The file that keeps the last valid settings between runs; none by default. */
  readonly settingsCopy?: string;
  /** The block list to use in place of the catalogue's own; none by default. */
  readonly blockedFile?: string | null;
  /** The file that keeps the last valid block list between runs; none by default. */
  readonly blockedCopy?: string;
}

/**
 * The files of a catalogue in memory. A mirror for each kind of file keeps them in sync with the disk: bots, profiles,
 * collections, settings and the block list.
 */
export class Catalogue {
  /** The folder that holds `bots/`. */
  readonly root: string;
  readonly store: BotStore;
  readonly settings: SingleFileMirror<CatalogueSettings>;
  readonly blocked: SingleFileMirror<Blocked | null>;
  /** The profiles of authors, by the names of their files in `people/`. */
  readonly profiles: FolderMirror<Profile>;
  readonly collections: Collections;
  readonly bots: BotMirror;
  readonly #mirrors: readonly FileMirror[];
  /** The mirrors of files that commits change. */
  readonly #committed: readonly FileMirror[];
  #ready = false;

  constructor(options: CatalogueOptions) {
    const { root, log, settingsCopy = null, blockedFile = null, blockedCopy = null } = options;
    this.root = root;
    this.store = new BotStore(log);
    const mirrored = { ...options, store: this.store };
    const onChange = (name: string) => () => log.info({}, `${name} has changed and is in force`);
    this.settings = new SingleFileMirror({
      ...mirrored,
      file: settingsName,
      key: settingsName,
      initial: toSettings(),
      parse: (reading) => {
        const parsed = parseSettings(reading, (path) => readFromDisk(root, path));
        return { value: parsed.settings, faults: parsed.faults, beside: parsed.logoPath };
      },
      copy: settingsCopy,
      onChange: () => {
        onChange(settingsName)();
        void this.bots.revalidate();
      },
    });
    this.blocked = new SingleFileMirror<Blocked | null>({
      ...mirrored,
      ...locateBlocked(root, blockedFile),
      key: blockedName,
      initial: null,
      copy: blockedCopy,
      onChange: onChange(blockedName),
    });
    this.profiles = new FolderMirror({ ...mirrored, folder: peopleFolder, parse: parseProfile });
    this.collections = new Collections(mirrored);
    this.bots = new BotMirror({ ...mirrored, limits: () => this.settings.current });
    const { settings, blocked, profiles, collections, bots } = this;
    this.#mirrors = [bots, settings, blocked, profiles, collections];
    this.#committed = this.#mirrors.filter((mirror) => mirror !== blocked || blockedFile === null);
  }

  /** Whether every file has been compared or read since the start. */
  get isReady(): boolean {
    return this.#ready;
  }

  /**
   * Why the watcher does not work, in a sentence: until it does, only rounds over all folders find changes. Then for each
   * folder that cannot be read why it cannot: its last known files are still served.
   */
  get faults(): string[] {
    return listFaults(this.bots.watcherFault, ...this.#mirrors.map(({ fault }) => fault));
  }

  /**
   * Reads everything, then starts to watch. Resolves once the catalogue is complete; the watcher of the bots may start
   * a moment later and then scans all folders.
   * @throws {UserError} when the catalogue cannot be read
   */
  async load(): Promise<void> {
    try {
      listTop(this.root);
      await Promise.all([this.settings.load(), this.blocked.load()]);
      await Promise.all([this.bots.load(), this.profiles.load(), this.collections.load()]);
    } catch (error) {
      throw toCatalogueError(error, this.root);
    }
    if (this.bots.signal.aborted) return;
    this.#ready = true;
    for (const mirror of this.#mirrors) mirror.start();
  }

  /**
   * Reads files immediately. The caller has finished writing them, or changed an input of their values.
   * @param paths relative to the root
   */
  look(paths: readonly string[]): void {
    for (const mirror of this.#committed) mirror.look(paths);
  }

  /** Serves these bytes as the content of files immediately. The caller has committed them. */
  put(contents: ReadonlyMap<string, Buffer>): void {
    for (const mirror of this.#committed) mirror.look([...contents.keys()], contents);
  }

  /** Stops watching, and saves the index for the next start. */
  async close(): Promise<void> {
    for (const mirror of this.#mirrors) await mirror.close();
  }
}
