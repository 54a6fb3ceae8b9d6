import { randomUUID } from 'node:crypto';
import { Router, type RouterContext } from '@koa/router';
import type { Context } from 'koa';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import { maxLeadMs } from '../bot/clock.ts';
import type { OpenCatalogue } from '../catalogue/catalogue.ts';
import type { Fault } from '../catalogue/page/fault.ts';
import type { BotIndex, IndexedBot } from '../catalogue/store/bot-index.ts';
import type { OpenCounts } from '../counts/counts.ts';
import type { Clone } from '../git/branch/clone.ts';
import type { Committer } from '../git/branch/committer.ts';
import type { ResponseCache } from '../http/response-cache.ts';
import { type Health, type HealthPart, joinHealth, listFaults } from '../lib/health.ts';
import type { Log } from '../lib/log.ts';
import { forEachInSlices } from '../lib/time-slice.ts';
import type { OpenSync } from '../sync/sync.ts';
import { maxNamedPaths, type UncommittedPages } from './uncommitted-pages.ts';
import { readVersion, type Version } from './version.ts';

/** Parts of the service that report on themselves. */
export interface HealthParts
  extends
    Pick<Clone, 'repositoryOpener'>,
    Pick<OpenCatalogue, 'catalogue'>,
    Pick<OpenCounts, 'state'>,
    Pick<OpenSync, 'sync'> {
  readonly uncommitted: UncommittedPages;
  readonly branch: Pick<Clone['branch'], 'fault'>;
  readonly committer: Pick<Committer<never>, 'outdatedPaths'>;
}

export interface ServiceHealth {
  readonly build: Version;
  /** A random ID of this process: a response with it is from this process. */
  readonly instance: string;
  /** Each part of the service by name. */
  parts(): Health;
  /** Every fault of every file. */
  fileFaults(): readonly Fault[];
}

/** Returns the health of the rooms, as `/readyz` and the metrics report it. */
export function createHealth(
  parts: HealthParts,
  rooms: readonly ({ health(): Health } | null)[],
): ServiceHealth {
  const editedFault = createEditedNotice(parts.catalogue.store.bots);
  return {
    build: readVersion(),
    instance: randomUUID(),
    parts: () => {
      const repository = { ready: true, faults: listRepositoryFaults(parts) };
      const health = joinHealth([{ repository }, ...rooms.map((room) => room?.health() ?? {})]);
      // It sorts all bots: probes at the start would do so again for each folder that has been read.
      if (!isReady(health)) return health;
      return joinHealth([health, { catalogue: { ready: true, faults: listFaults(editedFault()) } }]);
    },
    fileFaults: () => parts.catalogue.store.faults(),
  };
}

function isReady(parts: Health): boolean {
  return Object.values(parts).every(({ ready }) => ready);
}

/**
 * `/healthz`: the process responds, with its version and a random ID. `/readyz`: whether every part is ready (else 503),
 * what fails although reads go on, and which files have faults. Both match the exact path only, as `/metrics` does, so that a
 * proxy rule for it covers all: no trailing slash, no capitals.
 */
export function createProbeRoutes(health: ServiceHealth, metrics: Metrics): Router {
  const router = new Router({ strict: true, sensitive: true });
  router.get('/healthz', (ctx) => {
    ctx.set('Cache-Control', 'no-store');
    ctx.body = { ok: true, ...health.build, instance: health.instance };
  });
  router.get('/readyz', (ctx) => {
    const parts = health.parts();
    const ready = isReady(parts);
    const files = health.fileFaults();
    ctx.status = ready ? 200 : 503;
    ctx.set('Cache-Control', 'no-store');
    const faultyFiles = new Set(files.map(({ path }) => path)).size;
    ctx.body = { ready, parts, faultyFiles, files: files.slice(0, maxFiles) };
  });
  metrics.addRoute(router);
  return router;
}

/** Files that a response names, so that a probe of a broken catalogue does not transfer megabytes. */
const maxFiles = 1000;

/** Returns why nothing can be committed, and which files are behind the branch or have uncommitted edits. */
function listRepositoryFaults({ repositoryOpener, branch, committer, uncommitted }: HealthParts): string[] {
  const outdated = committer.outdatedPaths();
  const behind = new Set(outdated.map(({ path }) => path));
  const sentences = [
    ...outdated.map(({ path, reason }) => `${JSON.stringify(path)} is behind the branch: it ${reason}`),
    ...uncommitted.pages.flatMap(({ path, message }) => (behind.has(path) ? [] : [message])),
  ];
  const more = sentences.length - maxNamedPaths;
  return [
    ...listFaults(repositoryOpener.unavailableReason(), branch.fault(), uncommitted.conversion),
    ...sentences.slice(0, maxNamedPaths),
    ...(more > 0 ? [`${more} more files are behind the branch or have uncommitted edits`] : []),
  ];
}

/**
 * Returns a function that returns a warning if the latest `edited` of all bots is ahead of this machine's clock, else
 * null. After a change it looks at all bots in the background: sorting and unpacking a large list takes seconds.
 */
export function createEditedNotice(bots: Pick<BotIndex, 'version' | 'sorted'>): () => string | null {
  let version: number | undefined;
  let last: IndexedBot | undefined;
  const look = async (): Promise<void> => {
    let latest: IndexedBot | undefined;
    await forEachInSlices(
      await bots.sorted(),
      (bot) => {
        if (!latest || bot.facts.edited > latest.facts.edited) latest = bot;
      },
      'service',
    );
    last = latest;
  };
  return () => {
    if (version !== bots.version) {
      version = bots.version;
      void look();
    }
    if (last === undefined || last.facts.edited <= Date.now() + maxLeadMs) return null;
    const time = new Date(last.facts.edited).toISOString();
    return `"edited" of the bot ${last.id} is ${time}, which is ahead of this machine's clock: run "timedatectl set-ntp true" on all machines; the next edit on the site or by a post sets it right`;
  };
}

export type Metrics = ReturnType<typeof createMetrics>;

/** Creates the metrics of the service, in the text format of Prometheus. They read its parts when they are requested. */
export function createMetrics(
  parts: Pick<HealthParts, 'catalogue' | 'uncommitted' | 'state' | 'sync'> & Pick<Clone, 'branch'>,
  health: ServiceHealth,
  responses: ResponseCache,
) {
  const { catalogue, uncommitted, state, sync, branch } = parts;
  const registry = new Registry();
  const registers = [registry];
  const requests = new Histogram({
    name: 'botshelf_http_request_duration_seconds',
    help: 'Time the application takes to respond to a request, by route.',
    labelNames: ['method', 'route', 'status'],
    buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5],
    registers,
  });
  const batches = new Histogram({
    name: 'botshelf_content_batch_size',
    help: 'Posted changes of content in one commit.',
    buckets: [1, 2, 5, 10, 25, 50, 100, 250, 1000],
    registers,
  });
  branch.onPublished((event) => {
    if (event.ref === 'branch' && event.contents) batches.observe(event.contents.size);
  });
  const refusedTokens = new Counter({
    name: 'botshelf_refused_tokens_total',
    help: 'Posts that were refused for their token, by reason.',
    labelNames: ['reason'],
    registers,
  });
  for (const reason of ['missing', 'malformed', 'unknown', 'other-bot']) refusedTokens.inc({ reason }, 0);
  // By the convention of Prometheus, a metric is a counter if its name ends in _total.
  const add = (name: string, help: string, read: () => Samples, ...labelNames: string[]): void => {
    const collect = (): void => {
      const samples = read();
      metric.reset();
      for (const [labels, value] of typeof samples === 'number' ? [[{}, samples] as const] : samples)
        metric.inc(labels, value);
    };
    const options = { name, help, labelNames, registers, collect };
    const metric = name.endsWith('_total') ? new Counter(options) : new Gauge(options);
  };
  const listParts = (): [string, HealthPart][] => Object.entries(health.parts());
  add(
    'botshelf_build_info',
    'The version and the commit of the program; always 1.',
    () => [[{ ...health.build, commit: health.build.commit ?? '' }, 1]],
    'version',
    'commit',
  );
  add(
    'botshelf_http_repeated_responses_total',
    'Requests that the response cache responded to.',
    () => [
      [{ status: 200 }, responses.hits.whole],
      [{ status: 304 }, responses.hits.notModified],
    ],
    'status',
  );
  add(
    'botshelf_part_ready',
    'Whether a part of the service is ready.',
    () => listParts().map(([part, { ready }]) => [{ part }, Number(ready)]),
    'part',
  );
  add(
    'botshelf_part_faults',
    'Number of things that do not work in a part of the service; /readyz names them.',
    () => listParts().map(([part, { faults }]) => [{ part }, faults.length]),
    'part',
  );
  add(
    'botshelf_uncommitted_edit_age_seconds',
    'Time since a page was edited in the clone without a commit, so that posts to its bot are refused; 0 for a removed page.',
    () =>
      uncommitted.pages.slice(0, maxNamedPaths).map(({ path, editedAt }) => [{ path }, readAge(editedAt)]),
    'path',
  );
  add(
    'botshelf_journal_writes_total',
    'Synchronous writes of the journal; each makes the counts durable that were posted during the one before.',
    () => state.journal.writes,
  );
  add('botshelf_bots', 'Bots that are served.', () => catalogue.store.bots.size);
  add(
    'botshelf_faulty_files',
    'Files that break a rule.',
    () => new Set(catalogue.store.faults().map(({ path }) => path)).size,
  );
  add(
    'botshelf_counts_waiting',
    'Bots whose counts are in the journal and not in Git.',
    () => state.checkpointer.waiting,
  );
  add(
    'botshelf_checkpoint_age_seconds',
    'Time since counts were last committed to Git; NaN before the first time.',
    () => readAge(state.checkpointer.checkpointedAt ?? Number.NaN),
  );
  add(
    'botshelf_commits_unpushed',
    'Commits of branch and state that the remote does not have; 0 without a remote.',
    () => sync?.unpushed ?? 0,
  );
  add(
    'botshelf_remote_fault_age_seconds',
    'Time since the first failure to sync with the remote, until a sync succeeds; 0 while none fails, or without a remote.',
    () => readAge(sync?.failure?.since),
  );
  let hasProcessMetrics = false;
  return {
    /**
     * Counts every request that the application decides on by the pattern of its path, so that paths are few.
     * @param known the pattern, if no router looks for it
     */
    countRequest: (ctx: Context & Pick<RouterContext, 'routerPath'>, started: number, known?: string) => {
      const { method, status, routerPath = 'none' } = ctx;
      const route = known ?? routerPath;
      requests.observe({ method, route, status }, (performance.now() - started) / 1000);
    },
    /** Counts a post that was refused for its token. */
    tokenRefused: (reason: string): void => refusedTokens.inc({ reason }),
    /** Adds `/metrics`, for Prometheus. */
    addRoute: (router: Router): void => {
      router.get('/metrics', async (ctx) => {
        // Begins with the first read, because watching the event loop and the garbage collector has a cost.
        if (!hasProcessMetrics) collectDefaultMetrics({ register: registry });
        hasProcessMetrics = true;
        ctx.body = await registry.metrics();
        ctx.set({ 'Content-Type': registry.contentType, 'Cache-Control': 'no-store' });
      });
    },
  };
}

/** A value, or one for each combination of labels. */
type Samples = number | readonly (readonly [Record<string, string | number>, number])[];

/** Returns the seconds since a time in milliseconds; 0 for none. */
function readAge(time: number | null = null): number {
  return time === null ? 0 : (Date.now() - time) / 1000;
}

export type ProxyNotice = ReturnType<typeof createProxyNotice>;

/**
 * Detects requests with headers of a proxy that the service is not configured for.
 * @param config with the assumed public address
 */
export function createProxyNotice(
  { baseUrl, isBaseUrlSet, trustProxy }: { baseUrl: string; isBaseUrlSet: boolean; trustProxy: boolean },
  log: Log,
) {
  const faults: string[] = [];
  /** The headers to look for, by the function that describes the first one that is found. */
  const due = new Map<(header: string) => string, readonly string[]>();
  if (!isBaseUrlSet)
    due.set(
      (header) =>
        `requests come through a proxy (${header}), but BOTSHELF_BASE_URL is not set: links and the login lead to ${baseUrl}; set it to the public address`,
      ['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-For', 'Forwarded', 'Via'],
    );
  // A client can send it too.
  if (!trustProxy)
    due.set(
      () =>
        'a request has X-Forwarded-For, but BOTSHELF_TRUST_PROXY is off: if your proxy sent it, all visitors share the limits of one client; set it to on if so, ignore this if clients connect directly',
      ['X-Forwarded-For'],
    );
  return {
    /** Notices, each with the setting to change and the reason, once a request has had such a header. */
    health: (): Health => ({ address: { ready: true, faults: [...faults] } }),
    /** Checks the headers of each request until each notice is given. */
    check: ({ headers }: Pick<Context, 'headers'>): void => {
      for (const [describe, names] of due) {
        const header = names.find((name) => headers[name.toLowerCase()]);
        if (header === undefined) continue;
        const fault = describe(header);
        due.delete(describe);
        faults.push(fault);
        log.warn({ header }, fault);
      }
    },
  };
}
