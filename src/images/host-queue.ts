/** A queue of items that each belong to a host: a slow or broken host holds up its own items and no others. */
export interface HostQueue<T> {
  /** Items that wait or are worked on. */
  readonly left: number;
  /** Adds an item of `host`; an urgent one goes before those that are not. */
  add(host: string, item: T, urgent: boolean): void;
  /** Resolves when nothing is left. */
  idle(): Promise<void>;
  /** Starts no more work; resolves when what has started is done. */
  close(): Promise<void>;
}

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

export function openHostQueue<T>({ concurrency, work, rest }: HostQueueOptions<T>): HostQueue<T> {
  const hosts = new Map<string, Host<T>>();
  /** Hosts that have work and may be worked on, the longest waiting first; of those the one that spent least is next. */
  const ready = new Set<Host<T>>();
  const running = new Set<Promise<void>>();
  let left = 0;
  let closed = false;
  const onIdle: (() => void)[] = [];

  const startNext = (): void => {
    for (const host of [...ready].toSorted((a, b) => a.spentMs - b.spentMs)) {
      if (closed || running.size >= concurrency) return;
      ready.delete(host);
      const item = host.urgent.pop() ?? host.others.pop();
      if (item === undefined) continue;
      const run = runOne(host, item).finally(() => {
        running.delete(run);
        startNext();
      });
      running.add(run);
    }
  };

  const runOne = async (host: Host<T>, item: T): Promise<void> => {
    host.busy = true;
    const works = await work(item, (ms) => (host.spentMs += ms));
    host.busy = false;
    left -= 1;
    host.failures = works ? 0 : host.failures + 1;
    if (left === 0) for (const resolve of onIdle.splice(0)) resolve();
    if (isHostEmpty(host)) hosts.delete(host.name);
    else if (works) ready.add(host);
    else pause(host);
  };

  const pause = (host: Host<T>): void => {
    host.busy = true;
    const wake = (): void => {
      host.busy = false;
      ready.add(host);
      startNext();
    };
    setTimeout(wake, Math.min(rest.max, rest.first * 2 ** (host.failures - 1))).unref();
  };

  return {
    get left() {
      return left;
    },
    add(name, item, urgent) {
      if (closed) return;
      const host = hosts.get(name) ?? { name, urgent: [], others: [], failures: 0, busy: false, spentMs: 0 };
      hosts.set(name, host);
      (urgent ? host.urgent : host.others).push(item);
      left += 1;
      if (!host.busy) ready.add(host);
      startNext();
    },
    async idle() {
      if (left === 0) return;
      await new Promise<void>((resolve) => {
        onIdle.push(resolve);
      });
    },
    async close() {
      closed = true;
      await Promise.all(running);
      hosts.clear();
      ready.clear();
      left = 0;
      for (const resolve of onIdle.splice(0)) resolve();
    },
  };
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

function isHostEmpty({ urgent, others }: Host<unknown>): boolean {
  return urgent.length === 0 && others.length === 0;
}
