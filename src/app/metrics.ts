import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CommitEvent } from '../git/commit-events.ts';
import type { Version } from './version.ts';

/** Values that are read when the metrics are. */
export interface MetricsSources {
  readonly build: Version;
  bots(): number;
  faultyFiles(): number;
  /** Each part of the service by name, and how many things do not work there. */
  parts(): Readonly<Record<string, { readonly ready: boolean; readonly faults: readonly string[] }>>;
  /** Some of the pages with uncommitted edits, each with the time of the edit; null where that is not known. */
  uncommitted(): readonly { readonly path: string; readonly editedAt: number | null }[];
  /** Synchronous writes of the journal since the start. */
  journalWrites(): number;
  waitingCounts(): number;
  /** When counts were last committed to Git: milliseconds since the epoch; undefined before the first time. */
  checkpointedAt(): number | undefined;
  /** Since when branch and state are not in step with the remote: milliseconds since the epoch; undefined where they are. */
  remoteFaultAt(): number | undefined;
  unpushed(): number;
  /** Responses of the response cache since the start. */
  repeated(): { readonly whole: number; readonly notModified: number };
}

/** The metrics of the service, in the text format of Prometheus. */
export class Metrics {
  readonly contentType: string;
  readonly #registry = new Registry();
  readonly #requests: Histogram<'method' | 'route' | 'status'>;
  readonly #batches: Histogram;
  readonly #refusedTokens: Counter<'reason'>;
  #hasProcessMetrics = false;

  constructor(sources: MetricsSources) {
    const registers = [this.#registry];
    this.contentType = this.#registry.contentType;
    this.#requests = new Histogram({
      name: 'botshelf_http_request_duration_seconds',
      help: 'Time the application takes to respond to a request, by route.',
      labelNames: ['method', 'route', 'status'],
      buckets: [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.5, 2.5],
      registers,
    });
    this.#batches = new Histogram({
      name: 'botshelf_content_batch_size',
      help: 'Posted changes of content in one commit.',
      buckets: [1, 2, 5, 10, 25, 50, 100, 250, 1000],
      registers,
    });
    this.#refusedTokens = new Counter({
      name: 'botshelf_refused_tokens_total',
      help: 'Posts that were refused for their token, by reason.',
      labelNames: ['reason'],
      registers,
    });
    for (const reason of ['missing', 'malformed', 'unknown', 'other-bot'])
      this.#refusedTokens.inc({ reason }, 0);
    new Gauge({
      name: 'botshelf_build_info',
      help: 'The version and the commit of the program; always 1.',
      labelNames: ['version', 'commit'],
      registers,
    }).set({ version: sources.build.version, commit: sources.build.commit ?? '' }, 1);
    addRepeated(registers, sources);
    addParts(registers, sources);
    addUncommitted(registers, sources);
    const writes: Counter = new Counter({
      name: 'botshelf_journal_writes_total',
      help: 'Synchronous writes of the journal; each makes the counts durable that were posted during the one before.',
      registers,
      collect: () => {
        writes.reset();
        writes.inc(sources.journalWrites());
      },
    });
    const gauge = (name: string, help: string, read: () => number): void => {
      const metric: Gauge = new Gauge({ name, help, registers, collect: () => metric.set(read()) });
    };
    gauge('botshelf_bots', 'Bots that are served.', () => sources.bots());
    gauge('botshelf_faulty_files', 'Files that break a rule.', () => sources.faultyFiles());
    gauge('botshelf_counts_waiting', 'Bots whose counts are in the journal and not in Git.', () =>
      sources.waitingCounts(),
    );
    gauge(
      'botshelf_checkpoint_age_seconds',
      'Time since counts were last committed to Git; NaN before the first time.',
      () => (Date.now() - (sources.checkpointedAt() ?? Number.NaN)) / 1000,
    );
    gauge(
      'botshelf_commits_unpushed',
      'Commits of branch and state that the remote does not have; 0 without a remote.',
      () => sources.unpushed(),
    );
    gauge(
      'botshelf_remote_fault_age_seconds',
      'Time since the first failure to sync with the remote, until a sync succeeds; 0 while none fails, or without a remote.',
      () => {
        const now = Date.now();
        return (now - (sources.remoteFaultAt() ?? now)) / 1000;
      },
    );
  }

  /** Observes a request that the application responded to. @param route the pattern of its path */
  request(method: string, route: string, status: number, seconds: number): void {
    this.#requests.observe({ method, route, status }, seconds);
  }

  /** Observes the size of a commit of posted changes; ignores any other commit. */
  committed(event: CommitEvent): void {
    if (event.ref === 'branch' && event.contents) this.#batches.observe(event.contents.size);
  }

  /** Counts a post that was refused for its token. */
  tokenRefused(reason: string): void {
    this.#refusedTokens.inc({ reason });
  }

  async text(): Promise<string> {
    // Watching the event loop and the garbage collector has a cost, so it begins with the first read.
    if (!this.#hasProcessMetrics) collectDefaultMetrics({ register: this.#registry });
    this.#hasProcessMetrics = true;
    return await this.#registry.metrics();
  }
}

function addRepeated(registers: Registry[], sources: MetricsSources): void {
  const metric = new Counter({
    name: 'botshelf_http_repeated_responses_total',
    help: 'Requests that the response cache responded to.',
    labelNames: ['status'],
    registers,
    collect: () => {
      const { whole, notModified } = sources.repeated();
      metric.reset();
      metric.inc({ status: 200 }, whole);
      metric.inc({ status: 304 }, notModified);
    },
  });
}

function addParts(registers: Registry[], sources: MetricsSources): void {
  type Part = ReturnType<MetricsSources['parts']>[string];
  const gauge = (name: string, help: string, read: (part: Part) => number): void => {
    const metric = new Gauge({
      name,
      help,
      labelNames: ['part'],
      registers,
      collect: () => {
        for (const [part, health] of Object.entries(sources.parts())) metric.set({ part }, read(health));
      },
    });
  };
  gauge('botshelf_part_ready', 'Whether a part of the service is ready.', ({ ready }) => Number(ready));
  gauge(
    'botshelf_part_faults',
    'Number of things that do not work in a part of the service; /readyz names them.',
    ({ faults }) => faults.length,
  );
}

function addUncommitted(registers: Registry[], sources: MetricsSources): void {
  const metric = new Gauge({
    name: 'botshelf_uncommitted_edit_age_seconds',
    help: 'Time since a page was edited in the clone without a commit, so that posts to its bot are refused; 0 for a removed page.',
    labelNames: ['path'],
    registers,
    collect: () => {
      const now = Date.now();
      metric.reset();
      for (const { path, editedAt } of sources.uncommitted())
        metric.set({ path }, (now - (editedAt ?? now)) / 1000);
    },
  });
}
