/** What is put into a lane. */
export interface HostQueue<T> {
  /** Items that wait or are worked on. */
  readonly left: number;
  /** Puts an item into its host's lane; an urgent one goes before those that are not. */
  add(host: string, item: T, urgent: boolean): void;
  /** Resolves when nothing is left. */
  idle(): Promise<void>;
  /** Takes up no more work; resolves when what was begun is over. */
  close(): Promise<void>;
}

export interface HostQueueOptions<T> {
  /** At most so many items are worked on at once, and never two of one host. */
  readonly concurrency: number;
  /** Does an item, and tells whether its host is well. Never rejects. */
  readonly work: (item: T) => Promise<boolean>;
  /** Milliseconds that an unwell host is left alone; doubled each time until it is well. */
  readonly rest: { readonly first: number; readonly most: number };
}

/** HostQueue of work, one a host: a slow or broken host holds up its own lane and no other. */
export function openLanes<T>({ concurrency, work, rest }: HostQueueOptions<T>): HostQueue<T> {
  const hostQueue = new Map<string, Lane<T>>();
  /** HostQueue that have work and may be worked on, the longest waiting first. */
  const ready = new Set<Lane<T>>();
  const running = new Set<Promise<void>>();
  let left = 0;
  let closed = false;
  const onIdle: (() => void)[] = [];

  const startNext = (): void => {
    for (const lane of ready) {
      if (closed || running.size >= concurrency) return;
      ready.delete(lane);
      const item = lane.urgent.pop() ?? lane.others.pop();
      if (item === undefined) continue;
      const run = runOne(lane, item).finally(() => {
        running.delete(run);
        startNext();
      });
      running.add(run);
    }
  };

  const runOne = async (lane: Lane<T>, item: T): Promise<void> => {
    lane.busy = true;
    const well = await work(item);
    lane.busy = false;
    left -= 1;
    lane.strikes = well ? 0 : lane.strikes + 1;
    if (left === 0) for (const resolve of onIdle.splice(0)) resolve();
    if (isEmpty(lane)) hostQueue.delete(lane.host);
    else if (well) ready.add(lane);
    else restLane(lane);
  };

  const restLane = (lane: Lane<T>): void => {
    lane.busy = true;
    const pause = Math.min(rest.most, rest.first * 2 ** (lane.strikes - 1));
    const wake = (): void => {
      lane.busy = false;
      ready.add(lane);
      startNext();
    };
    setTimeout(wake, pause).unref();
  };

  return {
    get left() {
      return left;
    },
    add(host, item, urgent) {
      if (closed) return;
      const lane = hostQueue.get(host) ?? { host, urgent: [], others: [], strikes: 0, busy: false };
      hostQueue.set(host, lane);
      (urgent ? lane.urgent : lane.others).push(item);
      left += 1;
      if (!lane.busy) ready.add(lane);
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
      hostQueue.clear();
      ready.clear();
      left = 0;
      for (const resolve of onIdle.splice(0)) resolve();
    },
  };
}

interface Lane<T> {
  readonly host: string;
  readonly urgent: T[];
  readonly others: T[];
  strikes: number;
  /** Worked on, or resting. */
  busy: boolean;
}

function isEmpty({ urgent, others }: Lane<unknown>): boolean {
  return urgent.length === 0 && others.length === 0;
}
