import { join } from 'node:path';
import { basePathOf } from '../base-url.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { settingsName } from '../catalogue/settings/settings.ts';
import { categoryWordsOf } from '../catalogue/search/text/category-words.ts';
import { BotSearch } from '../catalogue/search/bot-search.ts';
import type { Config } from '../config.ts';
import { CommitEvents } from '../git/commit-events.ts';
import { Committer } from '../git/commit/committer.ts';
import { takeCloneLock, takeInstanceLock } from '../git/locks/instance-lock.ts';
import { Maintenance } from '../git/maintenance.ts';
import { type Origin, readOrigin } from '../git/origin.ts';
import { GitRunner } from '../git/process/git-runner.ts';
import { RepositoryOpener } from '../git/repository.ts';
import type { Health } from '../http/api/health.ts';
import { ProxyNotice } from '../http/proxy/proxy-notice.ts';
import { ResponseCache } from '../http/response-cache.ts';
import { connectionLimit, listen } from '../http/server.ts';
import type { Log } from '../log.ts';
import type { Login } from '../login/login.ts';
import { readSecretFile } from '../login/secret-file.ts';
import { Metrics } from '../metrics.ts';
import { committedAuthors } from '../owners/committed-authors.ts';
import { Updates } from '../owners/updates.ts';
import { Languages } from '../site/language/languages.ts';
import { LivePreview } from '../site/live-preview.ts';
import { Markdown } from '../site/markdown/markdown.ts';
import type { Site } from '../site/page/layout.tsx';
import { namedLinks, repositoryLinks } from '../site/page/repository-links.ts';
import { CountHistory } from '../state/history/count-history.ts';
import { createStateRef } from '../state/ref/git-state-ref.ts';
import { pruneHistory } from '../state/ref/prune-history.ts';
import { SharedTokens } from '../state/shared-tokens.ts';
import { StateStore } from '../state/state-store.ts';
import { Sync } from '../sync/sync.ts';
import { messageOf } from '../system-error.ts';
import { readVersion } from '../version.ts';
import { createApp, createProbeApp } from './app.ts';
import { healthOf, type Parts } from './health.ts';
import { followPictures, openPictures } from './pictures.ts';
import { showCommits } from './show-commits.ts';
import { remoteNotice } from './remote-notice.ts';
import { addressError, catalogueError, ensureCatalogue, varError } from './start-errors.ts';
import { logStart, type Started } from './start-line.ts';

export interface Service {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly address: string;
  /** Finishes the requests under way, saves what is in memory only, and stops. @throws {AggregateError} what parts threw, once all have closed */
  close(): Promise<void>;
}

/**
 * Starts the service: finishes what a crash left, listens, so that probes get a response, and reads the catalogue.
 * Resolves when everything is ready.
 * @throws {UserError} when the address, the catalogue or the `var` folder cannot be used
 */
export async function startService(config: Config, log: Log): Promise<Service> {
  const started = performance.now();
  const closers: Closer[] = [];
  const close = async (): Promise<void> => {
    const errors: unknown[] = [];
    for (let closer = closers.pop(); closer; closer = closers.pop()) {
      try {
        await closer();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map(messageOf).join('; '));
  };
  try {
    const serving = await start(config, log, (closer) => void closers.push(closer));
    logStart(log, config, { ...serving, ms: Math.round(performance.now() - started) });
    return { address: serving.address, close };
  } catch (error) {
    await close().catch((closeError: unknown) => log.error({ err: closeError }, messageOf(closeError)));
    throw error;
  }
}

type Closer = () => Promise<void> | void;

/**
 * Constructs the parts in dependency order and starts them.
 * @param onClose adds what closes a part; the last added closes first
 */
async function start(
  config: Config,
  log: Log,
  onClose: (closer: Closer) => void,
): Promise<Omit<Started, 'ms'>> {
  const { remote } = config;
  const build = readVersion();
  // First, so that a mistyped name makes no folder.
  ensureCatalogue(config);
  const lock = await takeInstanceLock(config.var).catch((error: unknown) => {
    throw varError(error, config);
  });
  onClose(async () => await lock.release());

  const runner = new GitRunner();
  onClose(() => runner.close());
  const repositoryOpener = new RepositoryOpener(config.catalogue, runner);
  onClose(() => repositoryOpener.close());
  const cloneLock = await takeCloneLock(repositoryOpener, log);
  onClose(async () => await cloneLock?.release());

  const commits = new CommitEvents(log);
  const committer = new Committer({ repositoryOpener, var: config.var, log, commits });
  onClose(async () => await committer.close());
  await committer.recover();
  const opened = config.images ? await openPictures(config, log) : null;
  onClose(async () => await opened?.close());
  const pictures = opened?.cache ?? null;
  const catalogue = new Catalogue({
    root: config.catalogue,
    hash: await repositoryOpener.hash(),
    log,
    snapshot: join(config.var, 'index.snapshot'),
    settingsCopy: join(config.var, settingsName),
    ...(pictures && { cachedImages: (images) => pictures.cachedImages(images) }),
  });
  onClose(async () => await catalogue.close());
  const search = new BotSearch(
    catalogue.bots,
    (error) => log.error({ err: error }, 'the search index could not be built: searches use what there is'),
    () => categoryWordsOf(catalogue.settings),
  );
  onClose(() => search.close());
  // Read while git reads the state: each waits for the disk half of the time.
  const loading = catalogue.load();
  loading.catch(() => {});
  const state = await StateStore.open({
    folder: join(config.var, 'journal'),
    ref: createStateRef(repositoryOpener, log, commits),
    stateSeconds: config.stateSeconds,
    repeatSeconds: remote?.syncSeconds,
    log,
  });
  onClose(async () => await state.close());
  const timeline = new CountHistory({
    repositoryOpener,
    latest: (id) => state.latest(id),
    folder: config.var,
    syncSeconds: remote?.syncSeconds,
    log,
  });
  onClose(async () => await timeline.close());
  const sync = remote && new Sync({ ...remote, repositoryOpener, committer, state, log });
  const maintenance = new Maintenance({
    repositoryOpener,
    log,
    prune: async (repository) => {
      const since = Date.now() / 1000 - config.stateDays * 24 * 60 * 60;
      return await (sync ? sync.prune(repository, since) : pruneHistory(repository, since));
    },
  });
  // Everything that commits closes before the last push.
  onClose(async () => await maintenance.close());
  onClose(async () => await sync?.close());
  onClose(async () => await committer.close());
  onClose(async () => await state.close());
  onClose(async () => await sync?.pause());

  const proxyNotice = config.isBaseUrlSet || config.demo ? null : new ProxyNotice(config.baseUrl, log);
  const origin = await readOrigin(repositoryOpener);
  const notInStep = remoteNotice(config, origin);
  if (notInStep !== null) log.warn({}, notInStep);
  const parts: Parts = {
    build,
    catalogue,
    repositoryOpener,
    committer,
    state,
    sync,
    proxyNotice,
    remoteNotice: notInStep,
  };
  const health = healthOf(parts);
  const responses = new ResponseCache();
  const metrics = metricsOf(parts, health, responses);
  const repository = await repositoryOpener.open().catch(() => undefined);
  commits.subscribe(() => maintenance.committed());
  commits.subscribe(() => sync?.requestPush());
  commits.subscribe((event) => metrics.committed(event));
  commits.subscribe(showCommits(catalogue, repository?.prefix ?? ''));

  const markdown = new Markdown();
  onClose(async () => await markdown.close());
  const live = config.dev ? new LivePreview(catalogue) : null;
  const { app, rewrite } = createApp({
    catalogue,
    search,
    counts: {
      get version() {
        return state.version;
      },
      count: (id) => state.count(id),
      reportedAt: (id) => state.reportedAt(id),
      growth: (id) => timeline.growth(id),
    },
    timeline,
    updates: new Updates(catalogue, committer, state),
    tokens: new SharedTokens(state, sync, log),
    login: await openLogin(config, log),
    committedAuthors: async (id) => await committedAuthors(repositoryOpener, id),
    pictures,
    health,
    metrics,
    responses,
    probesApart: config.probePort !== null,
    site: siteOf(
      config,
      origin,
      catalogue,
      new Languages(log, () => catalogue.settings, basePathOf(config.baseUrl)),
    ),
    markdown,
    live,
    hook:
      sync && remote?.webhookSecret
        ? { secret: remote.webhookSecret, pushed: () => sync.requestFetch() }
        : null,
    proxyNotice,
    acknowledge: remote?.ack === 'remote' && sync ? async () => await sync.waitForPush() : null,
    config,
    log,
  });
  const limits = { host: config.host, maxConnections: connectionLimit(), accessLog: config.accessLog, log };
  if (config.probePort !== null) {
    const address = { ...limits, port: config.probePort, accessLog: false };
    const probes = await listen(createProbeApp({ health, metrics, log }), address).catch((error: unknown) => {
      throw addressError(error, address, 'BOTSHELF_PROBE_PORT');
    });
    onClose(async () => await probes.close());
    log.info({}, `probes and metrics at ${urlOf(config.host, probes.port)}`);
  }
  const server = await listen(app, { ...limits, port: config.port, rewrite }, responses).catch(
    (error: unknown) => {
      throw addressError(error, config, 'PORT');
    },
  );
  onClose(async () => await server.close());
  onClose(() => live?.close());
  await loading.catch((error: unknown) => {
    throw catalogueError(error, config);
  });
  await sync?.start();
  void indexForSearch(catalogue, search, log);
  timeline.start();
  if (pictures) onClose(followPictures(catalogue, pictures));
  const address = urlOf(config.host, server.port);
  return { build, bots: catalogue.bots.size, address, ready: sync?.stateFetched ?? true };
}

/** Builds the search index when every bot is in memory. A search before that starts it, and waits. */
async function indexForSearch(catalogue: Catalogue, search: BotSearch, log: Log): Promise<void> {
  const started = performance.now();
  try {
    if (!(await catalogue.unpacked())) return;
    await search.complete();
    log.debug({ ms: Math.round(performance.now() - started) }, 'the search index is built');
  } catch (error) {
    if (!search.closed)
      log.error({ err: error }, 'the search index could not be built: the next search tries again');
  }
}

function urlOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

function siteOf(
  { contact, demo, dev, login }: Config,
  origin: Origin | null,
  catalogue: Pick<Catalogue, 'settings'>,
  languages: Languages,
): Site {
  const derived = origin && repositoryLinks(origin);
  return {
    languages,
    login: login !== null,
    get repository() {
      const { repository } = catalogue.settings;
      return repository === null ? derived : namedLinks(repository);
    },
    live: dev,
    demo,
    get settings() {
      return catalogue.settings;
    },
    get contact() {
      return contact ?? catalogue.settings.contact;
    },
  };
}

async function openLogin(config: Config, log: Log): Promise<Login | null> {
  const { login: settings, baseUrl } = config;
  if (settings === null) return null;
  const secrets = config.secrets.length > 0 ? config.secrets : [await readSecretFile(config.var)];
  // Imported here only: most of it is libraries.
  const { Login } = await import('../login/login.ts');
  return new Login({ settings, secrets, baseUrl, log });
}

function metricsOf({ catalogue, state, sync }: Parts, health: Health, responses: ResponseCache): Metrics {
  return new Metrics({
    build: health.build,
    bots: () => catalogue.bots.size,
    faultyFiles: () => new Set(catalogue.faults().map(({ path }) => path)).size,
    parts: () => health.parts(),
    journalWrites: () => state.journal.writes,
    waitingCounts: () => state.checkpointer.waiting,
    checkpointedAt: () => state.checkpointer.checkpointedAt,
    remoteFaultAt: () => sync?.failure?.since,
    unpushed: () => sync?.unpushed ?? 0,
    repeated: () => responses.hits,
  });
}
