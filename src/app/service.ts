import { openCatalogue, ensureCatalogue } from '../catalogue/catalogue.ts';
import { openCounts } from '../counts/counts.ts';
import { createOpener, openClone } from '../git/branch/clone.ts';
import { Committer } from '../git/branch/committer.ts';
import { type GitClient, removeCredentials } from '../git/run-git.ts';
import { createPageEditor } from '../http/api/api.ts';
import { ResponseCache } from '../http/response-cache.ts';
import { openImages } from '../images/images.ts';
import { Closers } from '../lib/closers.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { openLogin } from '../login/settings.ts';
import { openProposals } from '../proposals/open.ts';
import { serveCommands } from '../sync/command-commits.ts';
import { openSync } from '../sync/sync.ts';
import { openTokens } from '../tokens/tokens.ts';
import { openApp } from './app.ts';
import type { Config } from './config.ts';
import { createHealth, createMetrics, createProxyNotice } from './health.ts';
import { UncommittedPages } from './uncommitted-pages.ts';
import { formatVersion, type Version } from './version.ts';

export interface Service {
  /** Where it listens, such as http://127.0.0.1:8080. */
  readonly address: string;
  /**
   * Finishes the requests under way, saves what is in memory only, and stops.
   * @throws {AggregateError} what parts threw, once all have closed
   */
  close(): Promise<void>;
}

/** Shows the progress of the start. */
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
 * catalogue and the state. Resolves when everything is ready, and all ports are open.
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
    const address = await start(config, log, closers, progress, git);
    return { address, close: async () => await closers.close() };
  } catch (error) {
    progress.end();
    await closers
      .close()
      .catch((closeError: unknown) => log.error({ err: closeError }, messageOf(closeError)));
    throw error;
  }
}

/** Opens the rooms in order, then starts them. They close in reverse: what must end earlier is opened later. */
async function start(
  config: Config,
  log: Log,
  closers: Closers,
  progress: StartProgress,
  git: GitClient | undefined,
): Promise<string> {
  const started = performance.now();
  const repositoryOpener = closers.own(createOpener(config.catalogue, git));
  // Before the locks, so that a mistyped name creates no folder.
  await ensureCatalogue(config.catalogue, repositoryOpener);
  const clone = closers.own(await openClone({ config, repositoryOpener, log }));
  const context = { ...clone, config, log };
  const imageRoom = closers.own(config.images ? await openImages(config, log) : null);
  const images = imageRoom?.cache ?? null;
  const countRoom = openCounts({ ...context, onEdited: (id) => catalogueRoom.serveEdited(id) });
  const catalogueRoom = closers.own(await openCatalogue({ ...context, ...countRoom, images }));
  const { catalogue, bots } = catalogueRoom;
  const committer = closers.own(new Committer({ ...context, editor: createPageEditor(bots) }));
  const syncRoom = closers.own(openSync({ ...context, ...countRoom, committer }));
  const { sync } = syncRoom;
  // Added before the counts, so that the last push includes them.
  closers.own(countRoom);
  const login = await openLogin(context);
  const proposalRoom = closers.own(await openProposals({ ...context, catalogue, committer, sync, login }));
  const tokenRoom = openTokens({ ...context, ...countRoom, sync });
  const proxyNotice = config.demo ? null : createProxyNotice(config, log);
  const rooms = { ...catalogueRoom, ...countRoom, ...syncRoom, ...proposalRoom, ...tokenRoom };
  const uncommitted = closers.own(new UncommittedPages(repositoryOpener, log));
  const parts = { ...context, ...rooms, committer, login, images, proxyNotice, uncommitted };
  let address: string | undefined;
  const listening = { health: () => ({ address: { ready: address !== undefined, faults: [] } }) };
  const reporting = [catalogueRoom, countRoom, tokenRoom, syncRoom, proposalRoom, proxyNotice, listening];
  const health = createHealth(parts, reporting);
  const responses = new ResponseCache();
  const metrics = createMetrics(parts, health, responses);
  const listen = await openApp({ ...parts, health, metrics, responses }, closers);
  // With a separate port for probes, the main one opens when the service is ready: proxies use other machines first.
  if (config.probePort === null) address = await listen();

  await committer.recover();
  const show = (): void => progress.show(`reading the catalogue: ${formatCount(bots.size, 'bot')} so far`);
  const timer = setInterval(show, 100);
  await catalogueRoom.load().finally(() => clearInterval(timer));
  if (sync) progress.show('reading from the remote');
  await sync?.start();
  await proposalRoom.start();
  tokenRoom.start();
  catalogueRoom.start();
  // Nothing is posted to a copy, and edits are expected where a person makes them.
  if (!clone.isEdited && config.readOnly === null) void uncommitted.start();
  await countRoom.start();
  imageRoom?.follow(catalogue);
  closers.own(clone.serveRequests(serveCommands({ ...context, committer })));
  address ??= await listen();
  progress.end();
  const ms = Math.round(performance.now() - started);
  logStart(config, { build: health.build, bots: bots.size, address, ms }, sync?.stateFetched !== false, log);
  return address;
}

/** Logs what a service that has started serves. @param hasState whether the counts and tokens of a shared list are known */
function logStart(
  { catalogue, remote, login, readOnly }: Pick<Config, 'catalogue' | 'remote' | 'login' | 'readOnly'>,
  started: { readonly build: Version; readonly bots: number; readonly address: string; readonly ms: number },
  hasState: boolean,
  log: Log,
): void {
  const { build, bots, address, ms } = started;
  const remoteAddress = remote && removeCredentials(remote.remote);
  const issuer = login?.issuer ?? null;
  const fields = { ...build, catalogue, bots, remote: remoteAddress, login: issuer, address, ms };
  const line = [
    `${formatVersion(build)} serves ${formatCount(bots, 'bot')} of ${catalogue}${readOnly ? ', read-only' : ''}`,
    remoteAddress === null ? 'no remote' : `remote ${remoteAddress}`,
    issuer === null ? 'no login' : `login at ${issuer}`,
  ].join(', ');
  if (hasState) log.info(fields, `${line}; ready at ${address}`);
  else log.warn(fields, `${line}; listening at ${address}, but not ready: ${noState}`);
}

const noState =
  'the counts and tokens of the bots have not been fetched from the remote yet, and a new clone has none; retrying';
