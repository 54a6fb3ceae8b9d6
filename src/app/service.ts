import { join } from 'node:path';
import { WrongUserError } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import { ChangeFeed } from '../catalogue/changes/change-feed.ts';
import { ChangeIndex } from '../catalogue/changes/change-index.ts';
import { Catalogue } from '../catalogue/store/catalogue.ts';
import { blockedName } from '../catalogue/settings/blocked.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import type { Config } from './config.ts';
import { removeUnfinishedWrites } from '../lib/files.ts';
import { BranchFeed } from '../git/branch-feed.ts';
import { CommitEvents } from '../git/commit/branch-writer.ts';
import { readConfirmedTime, RepositoryOpener } from '../git/repository.ts';
import { Committer } from '../git/commit/committer.ts';
import { isIndexLocked, takeCloneLock, takeInstanceLock } from '../git/locks.ts';
import { Maintenance } from '../git/maintenance.ts';
import { readOrigin, readRemotePlace } from '../git/origin.ts';
import { GitRunner } from '../git/process/git-runner.ts';
import { type GitClient, removeCredentials } from '../git/process/run-git.ts';
import { ProxyNotice } from '../http/middleware.ts';
import { Drafts } from '../proposals/drafts.ts';
import { Proposals } from '../proposals/proposals.ts';
import { SharedProposals } from '../proposals/shared-proposals.ts';
import { ResponseCache } from '../http/response-cache.ts';
import { CurrentCache } from '../lib/current-cache.ts';
import type { Log } from '../lib/log.ts';
import { LivePreview } from './live-preview.ts';
import { Markdown } from '../site/markdown/markdown.ts';
import { CountHistory } from '../counts/count-history.ts';
import { createStateRef, pruneHistory } from '../counts/state-ref.ts';
import { setEditedTimes } from '../counts/edited-times.ts';
import { StateStore } from '../counts/state-store.ts';
import { createProposalNotice, type Notice, Notifications } from '../proposals/notifications.ts';
import { VisitorReports } from '../proposals/visitor-reports.ts';
import { TokensOfRemovedBots } from '../tokens/tokens-of-removed-bots.ts';
import { Sync } from '../sync/sync.ts';
import { formatCount } from '../lib/text.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import { messageOf } from '../lib/errors.ts';
import { formatVersion, readVersion } from './version.ts';
import { type AppOptions, createApp } from './app.ts';
import { restoreBotsFolder } from './bots-folder.ts';
import { Closers } from './closers.ts';
import { createHealth, type Parts } from './health.ts';
import { Metrics } from './metrics.ts';
import type { Login } from '../login/login.ts';
import { readSecretFile } from '../login/sessions.ts';
import { callbackPath } from '../login/settings.ts';
import { noticeFaults } from './fault-notices.ts';
import { createOwnAttention, readAttention } from './attention.ts';
import { createHostReview } from './host-review.ts';
import { followImages, openImages } from './images.ts';
import { createPageEditor } from './page-editor.ts';
import { createRemoteNotice, toCatalogueError, ensureCatalogue, toVarError } from './start-errors.ts';
import { readCommittedSettings } from './committed-facts.ts';
import { buildSearchIndex, createSearch } from './search.ts';
import { openServers } from './servers.ts';
import { showCommits } from './show-commits.ts';
import { createSite } from './site.tsx';
import { UncommittedPages } from './uncommitted-pages.ts';

export interface Service {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly address: string;
  /**
   * Finishes the requests under way, saves what is in memory only, and stops.
   * @throws {AggregateError} what parts threw, once all have closed
   */
  close(): Promise<void>;
}

/** Shows how far a start is. */
export interface StartProgress {
  show(text: string): void;
  end(): void;
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
 * @throws {WrongUserError} when the clone belongs to another user
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
 * Constructs the parts in dependency order and starts them. Returns the address.
 * @param closers gets what closes each part
 */
async function start(
  config: Config,
  log: Log,
  closers: Closers,
  progress: StartProgress,
  git: GitClient,
): Promise<string> {
  const started = performance.now();
  const { remote } = config;
  const isReadOnly = config.readOnly !== null;
  const repositoryOpener = closers.own(new RepositoryOpener(config.catalogue, git));
  const restoreFolder = async (): Promise<void> =>
    await restoreBotsFolder(config.catalogue, repositoryOpener);
  // First, so that a mistyped name makes no folder.
  await ensureCatalogue(config, restoreFolder);
  // Also before any file is written that the right user could not write later.
  await repositoryOpener.open().catch((error: unknown) => {
    if (error instanceof WrongUserError) throw error;
  });
  const lock = await takeInstanceLock(config.var).catch((error: unknown) => {
    throw toVarError(error, config);
  });
  closers.add(async () => await lock.release());
  await removeUnfinishedWrites(config.var);

  const cloneLock = await takeCloneLock(repositoryOpener, log);
  closers.add(async () => await cloneLock?.release());

  const { notifyUrl } = config;
  const notifications = closers.own(notifyUrl === null ? null : new Notifications({ url: notifyUrl, log }));
  const notify = (notice: Notice): void => notifications?.notify(notice);
  const confirmedTime = async (): Promise<number> => await readConfirmedTime(await repositoryOpener.open());
  const reports = await VisitorReports.open(join(config.var, 'reports'), log, confirmedTime);
  const commits = new CommitEvents(log);
  const opened = closers.own(config.images ? await openImages(config, log) : null);
  const images = opened?.cache ?? null;
  const catalogue = new Catalogue({
    root: config.catalogue,
    hash: await repositoryOpener.hash(),
    restoreFolder,
    isGitWriting: () => repositoryOpener.opened !== undefined && isIndexLocked(repositoryOpener.opened),
    log,
    snapshot: join(config.var, 'index.snapshot'),
    settingsCopy: join(config.var, settingsName),
    blockedFile: config.blocked,
    blockedCopy: join(config.var, `last-${blockedName}`),
    ...(images && { cachedImages: (named) => images.cachedImages(named) }),
    edited: (id) => state.edited(id),
  });
  closers.own(catalogue);
  const committer = new Committer({
    repositoryOpener,
    var: config.var,
    editor: createPageEditor(catalogue.store.bots),
    log,
    commits,
  });
  const cache = new CurrentCache();
  // The catalogue of these is edited in the clone.
  const isEdited = config.dev || config.demo !== null;
  const branch = new BranchFeed({ file: join(config.var, 'branch'), repositoryOpener, isEdited, log });
  const changes = new ChangeIndex({ folder: join(config.var, 'changes'), repositoryOpener });
  const feed = new ChangeFeed({
    root: config.catalogue,
    repositoryOpener,
    catalogue,
    index: changes,
    cache,
    beforeRelease: async (advance) => await setEditedTimes(advance, state, changes),
    signal: branch.signal,
  });
  const search = closers.own(createSearch(catalogue, log));
  const editedBots = new Set<BotId>();
  const serveEdited = (id: BotId): void => catalogue.store.setEdited(id, state.edited(id) ?? 0);
  const state = new StateStore({
    folder: join(config.var, 'journal'),
    ref: createStateRef(repositoryOpener, log, commits),
    stateSeconds: config.stateSeconds,
    repeatSeconds: remote?.syncSeconds,
    readOnly: isReadOnly,
    onEdited: (id) => (catalogue.status.ready ? serveEdited(id) : editedBots.add(id)),
    log,
  });
  const countHistory = new CountHistory({
    repositoryOpener,
    latest: (id) => state.latest(id),
    log,
  });
  closers.own(countHistory);
  const login = await openLogin(config, log);
  const proposals =
    login === null || login.disabledReason !== null || config.proposals === 'off'
      ? null
      : new Proposals({
          repositoryOpener,
          committer,
          settings: async () => await readCommittedSettings(repositoryOpener),
          blocked: () => catalogue.blocked.current,
          needsMaintainer: config.proposals === 'site',
          log,
        });
  const sync =
    remote && new Sync({ ...remote, repositoryOpener, committer, state, log, followsOnly: isReadOnly });
  const sharedProposals = proposals && sync && new SharedProposals(proposals, sync, log);
  if (sharedProposals) proposals?.connect(sharedProposals);
  proposals?.subscribe((proposal) => {
    const notice = createProposalNotice(proposal, config.baseUrl, config.proposals === 'site');
    if (notice !== null) notify(notice);
  });
  const remotePlace = remote ? await readRemotePlace(repositoryOpener, remote.remote) : undefined;
  const hostReview = createHostReview(config, remotePlace, proposals, repositoryOpener, log);
  const maintenance = new Maintenance({
    repositoryOpener,
    log,
    prune: async (repository) => {
      if (isReadOnly) return 0;
      const since = Date.now() / 1000 - config.stateDays * 24 * 60 * 60;
      return await (sync ? sync.prune(repository, since) : pruneHistory(repository, since));
    },
  });
  // Everything that commits closes before the last push, but for the committer, which a merge before it needs.
  closers.own(maintenance);
  closers.own(committer);
  closers.own(sync);
  closers.own(state);
  closers.own(hostReview);
  // A copy has the state of its original.
  const removedTokens = isReadOnly
    ? null
    : new TokensOfRemovedBots({
        logFile: join(config.var, 'branch.log'),
        state,
        isStateKnown: () => sync?.stateFetched ?? true,
        log,
      });
  for (const consumer of [feed, changes, proposals, removedTokens]) if (consumer) branch.add(consumer);
  const uncommitted = closers.own(new UncommittedPages(repositoryOpener, log));
  const markdown = closers.own(new Markdown(cache));
  const origin = await readOrigin(repositoryOpener);
  const remoteNotice = createRemoteNotice(config, origin);
  if (remoteNotice !== null) log.warn({}, remoteNotice);
  const proxyNotice = config.isBaseUrlSet || config.demo ? null : new ProxyNotice(config.baseUrl, log);
  const build = readVersion();
  const parts: Parts = {
    build,
    catalogue,
    repositoryOpener,
    branch,
    committer,
    uncommitted,
    state,
    sync,
    sharedProposals,
    proxyNotice,
    remoteNotice,
    hostReview,
  };
  const health = createHealth(parts);
  const responses = new ResponseCache();
  const metrics = new Metrics(parts, health, responses);
  const repository = await repositoryOpener.open().catch(() => undefined);
  commits.subscribe(() => maintenance.packAdded());
  sync?.onFetch(() => maintenance.packAdded());
  commits.subscribe((event) => sync?.requestPush(event));
  commits.subscribe((event) => metrics.committed(event));
  commits.subscribe(showCommits(catalogue, repository?.prefix ?? ''));
  commits.subscribe(() => branch.lookNow(feed));

  const live = config.dev ? new LivePreview(catalogue.store) : null;
  const site = createSite(config, catalogue, origin, log);
  const { store, settings, blocked } = catalogue;
  const attentionParts = { ...parts, store, settings, blocked, countHistory, images, log };
  const options: AppOptions = {
    ...parts,
    cache,
    config,
    remotePath: remotePlace?.path,
    log,
    search,
    changes,
    feed,
    countHistory,
    images,
    attention: async () => await cache.get('attention', async () => await readAttention(attentionParts)),
    ownAttention: createOwnAttention(attentionParts, config.catalogue),
    login,
    proposals,
    drafts: proposals && (await Drafts.open(join(config.var, 'drafts'), confirmedTime)),
    health,
    metrics,
    responses,
    site,
    markdown,
    live,
    notify,
    reports,
  };
  const application = createApp(options);
  const address = await openServers(application, options, closers);
  closers.own(live);
  // Before the server, as open streams wait for it.
  closers.own(branch);
  await committer.recover();
  await feed.begin();
  const showing = setInterval(
    () => progress.show(`reading the catalogue: ${formatCount(catalogue.store.bots.size, 'bot')} so far`),
    100,
  );
  // Git reads the state at the same time: each waits for the disk half of the time.
  const loading = catalogue.load().catch((error: unknown) => {
    throw toCatalogueError(error, config);
  });
  await Promise.all([loading, state.load()]).finally(() => clearInterval(showing));
  await forEachInSlices(editedBots, serveEdited, 'service');
  // Once before the first request. What fails is logged by the next look.
  await branch.look(feed).catch(() => undefined);
  branch.start(feed);
  if (notifications) closers.add(noticeFaults(catalogue.store, config.baseUrl, notify));
  if (sync) progress.show('reading from the remote');
  await sync?.start();
  await proposals?.load().catch((error: unknown) => {
    log.error(
      { err: error },
      `the proposals could not be read: ${messageOf(error)}; retrying when one is sent`,
    );
  });
  for (const consumer of [proposals, removedTokens]) if (consumer) branch.start(consumer);
  hostReview?.start();
  countHistory.start();
  // In a demo the first visitor sees the complete front page.
  if (config.demo) await countHistory.isRead('recent');
  void buildSearchIndex(catalogue, search, log);
  if (!isEdited && !isReadOnly) void uncommitted.start();
  if (images) closers.add(followImages(catalogue, images));
  void catalogue.bots.unpacked().then((isOpen) => {
    if (isOpen) branch.start(changes);
  });

  progress.end();
  const serves = `serves ${formatCount(catalogue.store.bots.size, 'bot')} of ${config.catalogue}${isReadOnly ? ', read-only' : ''}`;
  const remoteAddress = remote && removeCredentials(remote.remote);
  const issuer = config.login?.issuer ?? null;
  const fields = {
    ...build,
    catalogue: config.catalogue,
    bots: catalogue.store.bots.size,
    remote: remoteAddress,
    login: issuer,
    address,
    ms: Math.round(performance.now() - started),
  };
  const line = [
    `${formatVersion(build)} ${serves}`,
    remoteAddress === null ? 'no remote' : `remote ${remoteAddress}`,
    issuer === null ? 'no login' : `login at ${issuer}`,
  ].join(', ');
  if (sync?.stateFetched === false)
    log.warn(fields, `${line}; listening at ${address}, but not ready: ${noState}`);
  else log.info(fields, `${line}; ready at ${address}`);
  return address;
}

const noState =
  'the counts and tokens of the bots have not been fetched from the remote yet, and a new clone has none; retrying';

/**
 * Opens the log-in at the configured provider, or that of a demo, with the configured secrets or the one in `var`. Null
 * where none is configured.
 */
async function openLogin(
  { demo, login: settings, secrets, baseUrl, var: folder }: Config,
  log: Log,
): Promise<Login | null> {
  // Imported here only, as Login: most of it is libraries.
  const provider =
    demo ??
    (settings && new (await import('../login/provider.ts')).Provider(settings, `${baseUrl}${callbackPath}`));
  if (provider === null) return null;
  const { Login } = await import('../login/login.ts');
  const own = secrets.length > 0 ? secrets : [await readSecretFile(folder)];
  return new Login({ provider, secrets: own, baseUrl, log });
}
