import type { Router, RouterContext } from '@koa/router';
import type { Context } from 'koa';
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Clone } from '../git/branch/clone.ts';
import type { ResponseCache } from '../http/response-cache.ts';
import type { HealthPart } from '../lib/health.ts';
import type { HealthParts, ServiceHealth } from './health.ts';
import { maxNamedPaths } from './uncommitted-pages.ts';

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
