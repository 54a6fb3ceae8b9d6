import { randomUUID } from 'node:crypto';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import type { Failure } from '../lib/failure-log.ts';
import type { Committer } from '../git/commit/committer.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import type { Health } from './health-routes.ts';
import type { ProxyNotice } from '../http/proxy-notice.ts';
import type { ResponseCache } from '../http/response-cache.ts';
import { Metrics } from './metrics.ts';
import type { StateStore } from '../counts/state-store.ts';
import type { Sync } from '../sync/sync.ts';
import type { Version } from './version.ts';
import { maxNamedPaths, type UncommittedPages } from './uncommitted-pages.ts';

/** The parts of the service that report on themselves. */
export interface Parts {
  readonly build: Version;
  readonly catalogue: Catalogue;
  readonly repositoryOpener: RepositoryOpener;
  readonly committer: Committer;
  readonly state: StateStore;
  /** Null where there is no remote. */
  readonly sync: Sync | null;
  readonly uncommitted: UncommittedPages;
  /** Null where the public address is set. */
  readonly proxyNotice: ProxyNotice | null;
  /** Why this clone is not in step with its Git host; null where it is or has none. */
  readonly remoteNotice: string | null;
}

/** Returns the health of the parts, as `/readyz` and the metrics report it. */
export function createHealth({
  build,
  catalogue,
  repositoryOpener,
  committer,
  uncommitted,
  state,
  sync,
  proxyNotice,
  remoteNotice,
}: Parts): Health {
  return {
    build,
    instance: randomUUID(),
    parts: () => {
      const { ready, watcherFault, folderFault } = catalogue.status;
      return {
        catalogue: { ready, faults: [watcherFault, folderFault].filter((fault) => fault !== null) },
        repository: { ready: true, faults: listRepositoryFaults(repositoryOpener, committer, uncommitted) },
        state: {
          ready: state.isLoaded,
          faults: [...state.failures().map(({ message }) => message), ...state.clockFaults()],
        },
        ...(sync && {
          remote: {
            ready: sync.stateFetched,
            faults: sync.failure ? [describeSyncFailure(sync.failure)] : [],
          },
        }),
        ...(remoteNotice !== null && { remote: { ready: true, faults: [remoteNotice] } }),
        ...(proxyNotice && {
          address: { ready: true, faults: proxyNotice.fault === null ? [] : [proxyNotice.fault] },
        }),
      };
    },
    fileFaults: () => catalogue.store.faults(),
  };
}

/** Creates the metrics, which read the parts when they are requested. */
export function createMetrics(
  { catalogue, uncommitted, state, sync }: Parts,
  health: Health,
  responses: ResponseCache,
): Metrics {
  return new Metrics({
    build: health.build,
    bots: () => catalogue.store.bots.size,
    faultyFiles: () => new Set(catalogue.store.faults().map(({ path }) => path)).size,
    parts: () => health.parts(),
    uncommitted: () => uncommitted.list().slice(0, maxNamedPaths),
    journalWrites: () => state.journal.writes,
    waitingCounts: () => state.checkpointer.waiting,
    checkpointedAt: () => state.checkpointer.checkpointedAt,
    remoteFaultAt: () => sync?.failure?.since,
    unpushed: () => sync?.unpushed ?? 0,
    repeated: () => responses.hits,
  });
}

/** Returns why nothing can be committed, and which files are behind the branch or have uncommitted edits. */
function listRepositoryFaults(
  repositoryOpener: RepositoryOpener,
  committer: Committer,
  uncommitted: UncommittedPages,
): string[] {
  const outdated = committer.outdatedPaths();
  const behind = new Set(outdated.map(({ path }) => path));
  const sentences = [
    ...outdated.map(({ path, reason }) => `${JSON.stringify(path)} is behind the branch: it ${reason}`),
    ...uncommitted.list().flatMap(({ path, message }) => (behind.has(path) ? [] : [message])),
  ];
  const more = sentences.length - maxNamedPaths;
  return [
    ...[repositoryOpener.unavailableReason()].filter((reason) => reason !== undefined),
    ...sentences.slice(0, maxNamedPaths),
    ...(more > 0 ? [`${more} more files are behind the branch or have uncommitted edits`] : []),
  ];
}

function describeSyncFailure({ since, message }: Failure): string {
  return `not in step with the remote since ${new Date(since).toISOString()}: ${message}`;
}
