import { randomUUID } from 'node:crypto';
import { Router } from '@koa/router';
import type { Context } from 'koa';
import { maxLeadMs } from '../bot/clock.ts';
import type { OpenCatalogue } from '../catalogue/catalogue.ts';
import type { Fault } from '../catalogue/page/fault.ts';
import type { BotIndex, IndexedBot } from '../catalogue/store/bot-index.ts';
import type { OpenCounts } from '../counts/counts.ts';
import type { Clone } from '../git/branch/clone.ts';
import type { Committer } from '../git/branch/committer.ts';
import { type Health, joinHealth, listFaults } from '../lib/health.ts';
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
export function createProbeRoutes(
  health: ServiceHealth,
  metrics: { addRoute(router: Router): void },
): Router {
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
