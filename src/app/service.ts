import { openCatalogue, ensureCatalogue } from '../catalogue/catalogue.ts';
import { UncommittedPages } from '../catalogue/store/uncommitted-pages.ts';
import { openCounts } from '../counts/counts.ts';
import { pruneHistory } from '../counts/state-ref.ts';
import { openClone } from '../git/clone.ts';
import { Committer } from '../git/committer.ts';
import { GitRunner } from '../git/git-runner.ts';
import type { GitClient } from '../git/run-git.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { createApi } from '../http/api/api.ts';
import { createPageEditor } from '../http/api/updates.ts';
import { ProxyNotice } from '../http/middleware.ts';
import { ResponseCache } from '../http/response-cache.ts';
import { openImages } from '../images/images.ts';
import { Closers } from '../lib/closers.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import type { Login } from '../login/login.ts';
import { openProposals } from '../proposals/open.ts';
import { Markdown } from '../site/markdown/markdown.ts';
import { createPages, createSite } from '../site/site.tsx';
import { openSync } from '../sync/sync.ts';
import { openTokens } from '../tokens/tokens.ts';
import { openServers } from './app.ts';
import type { Config } from './config.ts';
import { createHealth } from './health.ts';
import { Metrics } from './metrics.ts';
import { createRemoteNotice, logStart, type StartProgress, showBots } from './start-messages.ts';
import { readVersion } from './version.ts';

export interface Service {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly address: string;
  /**
   * Finishes the requests under way, saves what is in memory only, and stops.
   * @throws {AggregateError} what parts threw, once all have closed
   */
  close(): Promise<void>;
}

export interface StartOptions {
  readonly progress?: StartProgress;
  /** Runs git; by default a process of this service's own, which ends with it. */
  readonly git?: GitClient;
}

/**
 * Starts the service: takes the locks, listens, so that probes get a response, finishes what a crash left, and reads the
 * catalogue and the state. Resolves when everything is ready.
 * @throws {UserError} when the address, the catalogue or the `var` folder cannot be used
 * @throws {BotshelfError} wrong-user, when the clone belongs to another user
 */
export async function startService(
  config: Config,
  log: Log,
  { progress = { show() {}, end() {} }, git }: StartOptions = {},
): Promise<Service> {
  const closers = new Closers();
  try {
    const address = await start(config, log, closers, progress, git ?? closers.own(new GitRunner()));
    return { address, close: async () => await closers.close() };
  } catch (error) {
    progress.end();
    await closers
      .close()
      .catch((closeError: unknown) => log.error({ err: closeError }, messageOf(closeError)));
    throw error;
  }
}

/**
 * Opens the rooms in order, then starts them. They close in reverse: what must end earlier is opened later.
 * @param closers gets what closes each room
 * @returns the address
 */
async function start(
  config: Config,
  log: Log,
  closers: Closers,
  progress: StartProgress,
  git: GitClient,
): Promise<string> {
  const started = performance.now();
  // The catalogue of these is edited in the clone.
  const isEdited = config.dev || config.demo !== null;
  const isReadOnly = config.readOnly !== null;
  const repositoryOpener = closers.own(new RepositoryOpener(config.catalogue, git));
  // First, so that a mistyped name makes no folder.
  await ensureCatalogue(config.catalogue, repositoryOpener);
  const clone = closers.own(await openClone({ ...config, repositoryOpener, isEdited, log }));
  const { branch, commits, origin } = clone;
  const imageRoom = closers.own(config.images ? await openImages(config, log) : null);
  const images = imageRoom?.cache ?? null;
  const countRoom = openCounts({ ...clone, config, onEdited: (id) => catalogueRoom.serveEdited(id), log });
  const { state, countHistory } = countRoom;
  const catalogueRoom = closers.own(
    await openCatalogue({
      ...clone,
      ...countRoom,
      config,
      edited: (id) => state.edited(id),
      cachedImages: images ? (named) => images.cachedImages(named) : undefined,
      log,
    }),
  );
  const { catalogue, bots } = catalogueRoom;
  const maintenance = closers.own(
    clone.maintain(async (repository) => {
      if (isReadOnly) return 0;
      const since = Date.now() / 1000 - config.stateDays * 24 * 60 * 60;
      return await (sync ? sync.prune(repository, since) : pruneHistory(repository, since));
    }),
  );
  const editor = createPageEditor(bots);
  const committer = closers.own(new Committer({ ...clone, var: config.var, editor, log }));
  const sync = closers.own(openSync({ ...clone, config, committer, state, log }));
  // The last push has the last counts.
  closers.own(countRoom);
  const login = await openLogin(config, log);
  const canLogIn = login?.disabledReason === null;
  const proposalRoom = closers.own(
    await openProposals({ ...clone, config, catalogue, committer, sync, canLogIn, log }),
  );
  const tokenRoom = openTokens({ ...clone, config, state, sync, log });
  const uncommitted = closers.own(new UncommittedPages(repositoryOpener, log));
  const markdown = closers.own(new Markdown(catalogueRoom.cache, (url) => images?.copyOf(url)));
  const remoteNotice = createRemoteNotice(config, origin);
  if (remoteNotice !== null) log.warn({}, remoteNotice);
  const proxyNotice = config.isBaseUrlSet || config.demo ? null : new ProxyNotice(config.baseUrl, log);
  const build = readVersion();
  const site = createSite(config, catalogue, origin, log);
  const rooms = { ...clone, ...catalogueRoom, ...countRoom, ...proposalRoom, ...tokenRoom };
  const parts = { ...rooms, config, committer, sync, login, images, site, log };
  const health = createHealth({ ...parts, build, uncommitted, proxyNotice, remoteNotice });
  const responses = new ResponseCache();
  const metrics = new Metrics({ ...parts, uncommitted }, health, responses);
  sync?.onFetch(() => maintenance.packAdded());
  commits.subscribe((event) => metrics.committed(event));
  const api = createApi({ ...parts, countRefusal: (reason) => metrics.tokenRefused(reason) });
  const pages = createPages({ ...parts, markdown });
  const isLoaded = (): boolean => catalogue.isReady && state.isLoaded;
  const app = { ...api, ...pages, config, isLoaded, health, metrics, proxyNotice, responses, log };
  const { address, server } = await openServers(app, closers);
  // Together: the server, which keeps no connection alive from now on, waits for the streams that the others end.
  closers.add(async () => {
    const closed = server.close();
    pages.live?.close();
    await Promise.all([closed, branch.close()]);
  });

  await committer.recover();
  const loading = catalogueRoom.load(async () => await state.load());
  await showBots(progress, bots, loading);
  if (sync) progress.show('reading from the remote');
  await sync?.start();
  await proposalRoom.start();
  tokenRoom.start();
  countHistory.start();
  catalogueRoom.start();
  // In a demo the first visitor sees the complete front page.
  if (config.demo) await countHistory.isRead('recent');
  if (!isEdited && !isReadOnly) void uncommitted.start();
  if (imageRoom) closers.add(imageRoom.follow(catalogue));
  progress.end();
  const ms = Math.round(performance.now() - started);
  logStart(config, { build, bots: bots.size, address, ms }, sync?.stateFetched !== false, log);
  return address;
}

/** Imported where somebody can log in only, because most of it is libraries. */
async function openLogin(config: Config, log: Log): Promise<Login | null> {
  if (config.login === null && config.demo === null) return null;
  return await (await import('../login/login.ts')).openLogin(config, log);
}
