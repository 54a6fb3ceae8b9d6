import { computeBackoff } from '../lib/retry.ts';

export interface ScheduleOptions {
  /** Fetches at least that often. */
  readonly syncSeconds: number;
  /** Pushes at most that often. */
  readonly pushSeconds: number;
}

/** Decides when the next round runs, and whether it fetches and pushes. One timer is set to the earliest time. */
export class Schedule {
  readonly #options: ScheduleOptions;
  readonly #run: () => void;
  #timer: NodeJS.Timeout | undefined;
  #runsAt = Number.POSITIVE_INFINITY;
  #stopped = false;
  #fetchRequested = true;
  #fetchStartedAt = Number.NEGATIVE_INFINITY;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #pushedAt = Number.NEGATIVE_INFINITY;
  #failures = 0;

  /** @param run starts a round */
  constructor(options: ScheduleOptions, run: () => void) {
    this.#options = options;
    this.#run = run;
  }

  get isStopped(): boolean {
    return this.#stopped;
  }

  get isFetchDue(): boolean {
    return this.#fetchRequested || performance.now() >= this.#fetchedAt + this.#options.syncSeconds * 1000;
  }

  get isPushAllowed(): boolean {
    return this.#pushDelay <= 0;
  }

  /** Schedules a round that fetches, at most one a second. */
  requestFetch(): void {
    this.#fetchRequested = true;
    this.runIn(this.#fetchStartedAt + fetchIntervalMs - performance.now());
  }

  /** Schedules a round for the time of the next push. */
  requestPush(): void {
    this.runIn(Math.max(gatherMs, this.#pushDelay));
  }

  fetchStarts(): void {
    this.#fetchRequested = false;
    this.#fetchStartedAt = performance.now();
  }

  fetchEnds(): void {
    this.#fetchedAt = performance.now();
  }

  pushStarts(): void {
    this.#pushedAt = performance.now();
  }

  /** @param isPushed whether the remote has everything */
  roundSucceeded(isPushed: boolean): void {
    if (isPushed) this.#failures = 0;
    const nextFetch = this.#fetchedAt + this.#options.syncSeconds * 1000 - performance.now();
    this.runIn(this.#fetchRequested ? 0 : nextFetch);
    // A push may be allowed now, although it was not during the round.
    if (!isPushed || !this.isPushAllowed) this.requestPush();
  }

  /** Schedules the retry, later after each failure, fetch and push included. */
  roundFailed(): void {
    const { syncSeconds, pushSeconds } = this.#options;
    this.#fetchRequested = true;
    const maxDelayMs = Math.min(60, Math.max(1, syncSeconds)) * 1000;
    const delay = computeBackoff(++this.#failures, 500, maxDelayMs) * (0.5 + Math.random() / 2);
    this.#pushedAt = Math.min(this.#pushedAt, performance.now() + delay - pushSeconds * 1000);
    this.runIn(delay);
  }

  /** Schedules a round in `delay` milliseconds, unless one is scheduled earlier. */
  runIn(delay: number): void {
    const wait = Math.max(0, delay);
    const at = performance.now() + wait;
    if (this.#stopped || at >= this.#runsAt) return;
    clearTimeout(this.#timer);
    this.#runsAt = at;
    this.#timer = setTimeout(() => {
      this.#runsAt = Number.POSITIVE_INFINITY;
      this.#run();
    }, wait);
    this.#timer.unref();
  }

  /** Schedules no further round. */
  stop(): void {
    this.#stopped = true;
    clearTimeout(this.#timer);
  }

  get #pushDelay(): number {
    return this.#pushedAt + this.#options.pushSeconds * 1000 - performance.now();
  }
}

/** Milliseconds in which commits are gathered for one push. */
const gatherMs = 50;

/** Milliseconds between two fetches that were requested. */
const fetchIntervalMs = 1000;
