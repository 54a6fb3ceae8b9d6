import { computeBackoff } from '../lib/retry.ts';

export interface HostQueueOptions<T> {
  /** How many items are worked on at once, at most; never two of one host. */
  readonly concurrency: number;
  /**
   * Does an item, and returns whether its host works. Never rejects.
   * @param spend counts milliseconds of what all hosts share towards the host, whose next item waits for hosts with fewer
   */
  readonly work: (item: T, spend: (ms: number) => void) => Promise<boolean>;
  /** Milliseconds that a host is left alone after it failed; doubled each time until it works again. */
  readonly rest: { readonly first: number; readonly max: number };
}

/** A queue of items that each belong to a host: a slow or broken host holds up its own items and no others. */
export class HostQueue<T> {
  readonly #options: HostQueueOptions<T>;
  readonly #hosts = new Map<string, Host<T>>();
  /** Hosts that have work and may be worked on, the longest waiting first; of those the one that spent least is next. */
  readonly #ready = new Set<Host<T>>();
  readonly #running = new Set<Promise<void>>();
  readonly #onIdle: (() => void)[] = [];
  #left = 0;
  #closed = false;

  constructor(options: HostQueueOptions<T>) {
    this.#options = options;
  }

  /** Items that wait or are worked on. */
  get left(): number {
    return this.#left;
  }

  /** Adds an item of a host; an urgent one goes before those that are not. */
  add(name: string, item: T, urgent: boolean): void {
    if (this.#closed) return;
    const host = this.#hosts.get(name) ?? {
      name,
      urgent: [],
      others: [],
      failures: 0,
      busy: false,
      spentMs: 0,
    };
    this.#hosts.set(name, host);
    (urgent ? host.urgent : host.others).push(item);
    this.#left += 1;
    if (!host.busy) this.#ready.add(host);
    this.#startNext();
  }

  /** Resolves when nothing is left. */
  async idle(): Promise<void> {
    if (this.#left > 0) await new Promise<void>((resolve) => this.#onIdle.push(resolve));
  }

  /** Starts no more work; resolves when what has started is done. */
  async close(): Promise<void> {
    this.#closed = true;
    await Promise.all(this.#running);
    this.#setLeft(0);
  }

  #startNext(): void {
    // Sorting thousands of hosts at each addition would take seconds.
    if (this.#running.size >= this.#options.concurrency) return;
    for (const host of [...this.#ready].toSorted((a, b) => a.spentMs - b.spentMs)) {
      if (this.#closed || this.#running.size >= this.#options.concurrency) return;
      this.#ready.delete(host);
      const item = host.urgent.pop() ?? host.others.pop();
      if (item === undefined) continue;
      const run = this.#runOne(host, item).finally(() => {
        this.#running.delete(run);
        this.#startNext();
      });
      this.#running.add(run);
    }
  }

  async #runOne(host: Host<T>, item: T): Promise<void> {
    host.busy = true;
    const works = await this.#options.work(item, (ms) => (host.spentMs += ms));
    host.busy = false;
    host.failures = works ? 0 : host.failures + 1;
    this.#setLeft(this.#left - 1);
    if (host.urgent.length === 0 && host.others.length === 0) this.#hosts.delete(host.name);
    else if (works) this.#ready.add(host);
    else this.#pause(host);
  }

  #pause(host: Host<T>): void {
    const { first, max } = this.#options.rest;
    host.busy = true;
    const wake = (): void => {
      host.busy = false;
      this.#ready.add(host);
      this.#startNext();
    };
    setTimeout(wake, computeBackoff(host.failures, first, max)).unref();
  }

  #setLeft(left: number): void {
    this.#left = left;
    if (left === 0) for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

interface Host<T> {
  readonly name: string;
  readonly urgent: T[];
  readonly others: T[];
  spentMs: number;
  /** Failures in a row. */
  failures: number;
  /** Worked on, or left alone after a failure. */
  busy: boolean;
}
