import { join } from 'node:path';
import { Arrivals } from './arrivals.ts';
import { Catalogue } from '../catalogue/catalogue.ts';
import { listTop } from '../catalogue/load/folder.ts';
import { committedAuthors } from '../owners/committed-authors.ts';
import type { Config } from '../config.ts';
import { connectionLimit } from '../http/connection-limit.ts';
import { Committer } from '../git/commit/committer.ts';
import { GitRunner } from '../git/process/git-runner.ts';
import { Maintenance } from '../git/maintenance.ts';
import { takeCloneLock, takeInstanceLock } from '../git/locks/instance-lock.ts';
import { readOrigin } from '../git/origin.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { createStateRef } from '../state/ref/git-state-ref.ts';
import { Sync, type SyncFailure } from '../sync/sync.ts';
import { pruneHistory } from '../state/ref/prune-history.ts';
import { createApp, createProbeApp } from './app.ts';
import type { Health } from '../http/api/health.ts';
import { ResponseCache } from '../http/response-cache.ts';
import { listen } from '../http/server.ts';
import type { Log } from '../log.ts';
import { Metrics } from '../metrics.ts';
import type { Login } from '../login/login.ts';
import { readSecretFile } from '../login/secret-file.ts';
import { followPictures, openPictures } from './pictures.ts';
import type { Site } from '../site/page/layout.tsx';
import { LivePreview } from '../site/live-preview.ts';
import { Markdown } from '../site/markdown/markdown.ts';
import { repositoryLinks } from '../site/page/repository-links.ts';
import { SharedTokens } from '../state/shared-tokens.ts';
import type { StateRef } from '../state/ref/state-ref.ts';
import { StateStore } from '../state/state-store.ts';
import { UserError } from '../user-error.ts';
import { codeOf, messageOf } from '../system-error.ts';
import { Updates } from '../owners/updates.ts';

/** The running service. */
export interface Service {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly address: string;
  /** Answers what it has, saves what it must, and ends. @throws what a part could not do, once all others have ended */
  close(): Promise<void>;
}

/**
 * Starts the service: what a crash left is mended, then it listens, so that probes get an answer, and reads the
 * catalogue. Resolves when everything is ready.
 * @throws {UserError} when the address, the catalogue or the folder for our own files cannot be had
 */
export async function startService(config: Config, log: Log): Promise<Service> {
  const started = performance.now();
  const closers: (() => Promise<void> | void)[] = [];
  const close = async (): Promise<void> => {
    const faults: unknown[] = [];
    for (let closer = closers.pop(); closer; closer = closers.pop()) {
      try {
        await closer();
      } catch (error) {
        faults.push(error);
      }
    }
    if (faults.length > 0) throw new AggregateError(faults, faults.map(messageOf).join('; '));
  };
  try {
    const { address, ready } = await start(config, log, (closer) => void closers.push(closer));
    const ms = Math.round(performance.now() - started);
    if (ready) log.info({ address, ms }, `ready at ${address}`);
    else log.warn({ address, ms }, `listening at ${address}, but not ready: ${noState}`);
    return { address, close };
  } catch (error) {
    await close().catch((fault: unknown) => log.error({ err: fault }, messageOf(fault)));
    throw error;
  }
}

/** Puts down what is to be done when the service closes; the last put down is done first. */
type OnClose = (closer: () => Promise<void> | void) => void;

/** Starts one part after the other. What is last to start is first to close. */
async function start(
  config: Config,
  log: Log,
  onClose: OnClose,
): Promise<{ readonly address: string; readonly ready: boolean }> {
  const { baseUrl, trustProxy, rateLimit, badTokenLimit } = config;
  // Asked first, so that a name that was mistyped makes no folder.
  ensureCatalogue(config);
  const lock = await takeInstanceLock(config.var).catch((error: unknown) => {
    throw error instanceof UserError ? error : new UserError(folderFault(error, config));
  });
  onClose(async () => await lock.release());

  const runner = new GitRunner();
  onClose(() => runner.close());
  const repositoryOpener = new RepositoryOpener(config.catalogue, runner);
  onClose(async () => repositoryOpener.close());
  const cloneLock = await takeCloneLock(repositoryOpener, log);
  onClose(async () => await cloneLock?.release());
  let sync: Sync | undefined;
  const maintenance = new Maintenance({
    repositoryOpener,
    log,
    prune: async (repository) => {
      const since = Date.now() / 1000 - config.stateDays * 24 * 60 * 60;
      return await (sync?.prune(repository, since) ?? pruneHistory(repository, since));
    },
  });
  onClose(async () => await maintenance.close());
  onClose(async () => await sync?.close());
  const committed = (): void => {
    maintenance.committed();
    sync?.committed();
  };
  const arrived = new Arrivals();
  let metrics: Metrics | undefined;
  const committer = new Committer({
    repositoryOpener,
    var: config.var,
    log,
    onCommit: (event) => {
      committed();
      if (event.contents) metrics?.batch(event.contents.size);
      arrived.tell(event);
    },
  });
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
    ...(pictures && { cachedImages: (images) => pictures.cachedImages(images) }),
  });
  onClose(async () => await catalogue.close());
  // Read while git reads the state: each waits for the disk half of the time.
  const loading = catalogue.load();
  loading.catch(() => {});
  const state = await StateStore.open({
    folder: join(config.var, 'journal'),
    ref: toldOfCommits(createStateRef(repositoryOpener, log), committed),
    stateSeconds: config.stateSeconds,
    repeatSeconds: config.remote?.syncSeconds,
    log,
  });
  onClose(async () => await state.close());
  arrived.show(catalogue, (await repositoryOpener.open().catch(() => undefined))?.prefix ?? '');
  const { remote } = config;
  if (remote) sync = new Sync({ ...remote, repositoryOpener, committer, state, log });
  onClose(async () => await sync?.pause());
  const markdown = new Markdown();
  onClose(async () => await markdown.close());
  const live = config.dev ? new LivePreview(catalogue) : null;
  const health = healthOf({ catalogue, repositoryOpener, committer, state, sync });
  const responses = new ResponseCache();
  metrics = metricsOf(catalogue, state, health, responses, sync);
  const app = createApp({
    catalogue,
    counts: state,
    updates: new Updates(catalogue, committer, state),
    tokens: new SharedTokens(state, sync ?? null, log),
    login: await openLogin(config, log),
    committedAuthors: async (id) => await committedAuthors(repositoryOpener, id),
    pictures,
    health,
    metrics,
    probesApart: config.probePort !== null,
    site: await siteOf(config, repositoryOpener),
    markdown,
    live,
    hook: sync && remote?.webhookSecret ? { secret: remote.webhookSecret, pushed: () => sync?.hint() } : null,
    acknowledge: async () => (remote?.ack === 'remote' && sync ? await sync.pushed() : true),
    baseUrl,
    trustProxy,
    rateLimit,
    badTokenLimit,
    log,
  });
  const limits = { maxConnections: connectionLimit(), log };
  if (config.probePort !== null) {
    const address = { ...limits, host: config.host, port: config.probePort };
    const probes = await listen(createProbeApp({ health, metrics, log }), address).catch((error: unknown) => {
      throw new UserError(addressFault(error, address, 'BOTSHELF_PROBE_PORT'));
    });
    onClose(async () => await probes.close());
    log.info({}, `probes and metrics at ${addressOf(address.host, probes.port)}`);
  }
  const server = await listen(app, { ...config, ...limits }, responses).catch((error: unknown) => {
    throw new UserError(addressFault(error, config));
  });
  onClose(async () => await server.close());
  onClose(() => live?.close());
  await loading.catch((error: unknown) => {
    throw new UserError(catalogueFault(error, config));
  });
  await sync?.start();
  if (pictures) {
    let stop: (() => void) | undefined;
    onClose(() => stop?.());
    void catalogue.unpacked().then((open) => {
      if (open) stop = followPictures(catalogue, pictures);
    });
  }
  return { address: addressOf(config.host, server.port), ready: sync?.stateFetched ?? true };
}

function addressOf(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

const noState =
  'the counts and tokens of the bots have not been fetched from the remote yet, and a new clone has none; it is tried again';

async function siteOf({ contact, dev, login }: Config, repositoryOpener: RepositoryOpener): Promise<Site> {
  const origin = await readOrigin(repositoryOpener);
  return { login: login !== null, repository: origin && repositoryLinks(origin), contact, live: dev };
}

async function openLogin(config: Config, log: Log): Promise<Login | null> {
  const { login: settings, baseUrl } = config;
  if (settings === null) return null;
  const secrets = config.secrets.length > 0 ? config.secrets : [await readSecretFile(config.var)];
  // Loaded where people can log in, as most of it is libraries.
  const { Login } = await import('../login/login.ts');
  return new Login({ settings, secrets, baseUrl, log });
}

function toldOfCommits(ref: StateRef, committed: () => void): StateRef {
  return {
    ...ref,
    commit: async (onto, files, subject) => {
      const commit = await ref.commit(onto, files, subject);
      committed();
      return commit;
    },
  };
}

function ensureCatalogue(config: Config): void {
  try {
    listTop(config.catalogue);
  } catch (error) {
    throw new UserError(catalogueFault(error, config));
  }
}

function catalogueFault(error: unknown, { catalogue }: Config): string {
  return `the catalogue ${catalogue} cannot be read: ${messageOf(error)}. Set BOTSHELF_CATALOGUE to the folder that holds bots/`;
}

function folderFault(error: unknown, config: Config): string {
  return `${config.var} cannot be used: ${messageOf(error)}. Set BOTSHELF_VAR to a folder that can be written`;
}

interface Parts {
  readonly catalogue: Catalogue;
  readonly repositoryOpener: RepositoryOpener;
  readonly committer: Committer;
  readonly state: StateStore;
  readonly sync: Sync | undefined;
}

function healthOf({ catalogue, repositoryOpener, committer, state, sync }: Parts): Health {
  return {
    parts: () => {
      const { ready, watcherFault, folderFault } = catalogue.status;
      return {
        catalogue: { ready, faults: [watcherFault, folderFault].filter((fault) => fault !== null) },
        repository: { ready: true, faults: repositoryFaults(repositoryOpener, committer) },
        state: { ready: true, faults: state.faults().map(({ message }) => message) },
        ...(sync && {
          remote: { ready: sync.stateFetched, faults: sync.fault ? [sentenceOf(sync.fault)] : [] },
        }),
      };
    },
    fileFaults: () => catalogue.faults(),
  };
}

/** Why nothing can be committed, and which files are behind the branch. */
function repositoryFaults(repositoryOpener: RepositoryOpener, committer: Committer): string[] {
  const outdated = committer.outdatedPaths();
  const files = outdated
    .slice(0, mostPaths)
    .map(({ path, reason }) => `${JSON.stringify(path)} is behind the branch: it ${reason}`);
  const more = outdated.length - files.length;
  const rest = more > 0 ? [`${more} more files are behind the branch`] : [];
  return [...[repositoryOpener.fault()].filter((fault) => fault !== undefined), ...files, ...rest];
}

/** A probe names so many files. */
const mostPaths = 20;

function metricsOf(
  catalogue: Catalogue,
  state: StateStore,
  health: Health,
  responses: ResponseCache,
  sync: Sync | undefined,
): Metrics {
  return new Metrics({
    bots: () => catalogue.bots.size,
    faultyFiles: () => new Set(catalogue.faults().map(({ path }) => path)).size,
    parts: () => health.parts(),
    waitingCounts: () => state.checkpointer.waiting,
    checkpointedAt: () => state.checkpointer.checkpointedAt,
    remoteFaultAt: () => sync?.fault?.since,
    unpushed: () => sync?.unpushed ?? 0,
    repeated: () => responses.hits,
  });
}

function sentenceOf({ since, message }: SyncFailure): string {
  return `not in step with the remote since ${new Date(since).toISOString()}: ${message}`;
}

function addressFault(
  error: unknown,
  { host, port }: Pick<Config, 'host' | 'port'>,
  setting = 'PORT',
): string {
  switch (codeOf(error)) {
    case 'EADDRINUSE':
      return `port ${port} is in use: stop what listens there, or set ${setting} to another one`;
    case 'EACCES':
      return `port ${port} may not be used: set ${setting} to one above 1023`;
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
      return `${host} is no address of this machine: set HOST to one that is, such as 127.0.0.1`;
    default:
      return `cannot listen on ${host}, port ${port}: ${messageOf(error)}`;
  }
}
