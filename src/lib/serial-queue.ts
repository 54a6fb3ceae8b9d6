import { BotshelfError } from './errors.ts';
import { type Client, findFullShare, toClient } from './network.ts';
import { TimeSlice } from './time-slice.ts';

/** Returns the error for a full queue, or for a client with a full share. The same work may fit a moment later. */
export function createFullError(code: 'queue-full' | 'share-full', waiting: number): BotshelfError {
  const whose = code === 'queue-full' ? 'others' : 'of your requests';
  return new BotshelfError(code, `${waiting} ${whose} wait for the same kind of work: try again in a moment`);
}

/** A waiting piece of work. */
interface Waiting {
  readonly client: Client;
  readonly begin: () => void;
}

/**
 * Runs one piece of work after the other. Networks take turns, and in each of them its groups: the next is the one that
 * waits longest since its last turn. No network has more than a quarter of the places.
 */
export class FairQueue {
  readonly #maxWaiting: number;
  /** Network → group → its pieces of work; those whose turn is next are the first. */
  readonly #waiting = new Map<string, Map<string, Waiting[]>>();
  #isRunning = false;

  /** @param maxWaiting how many pieces of work may wait behind the one that runs */
  constructor(maxWaiting: number) {
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs `work` when it is its turn. Resolves and rejects as `work` does.
   * @param address that of the client, or another name of it; empty for the service itself
   * @throws {BotshelfError} queue-full or share-full, when too much of all or of this client waits; the work is not run
   */
  async run<T>(address: string, work: () => Promise<T>): Promise<T> {
    if (this.#isRunning) await this.#wait(toClient(address));
    this.#isRunning = true;
    try {
      return await work();
    } finally {
      this.#isRunning = false;
      this.#beginNext();
    }
  }

  async #wait(client: Client): Promise<void> {
    const waiting = [...this.#waiting.values()].flatMap((groups) => [...groups.values()].flat());
    const taken = waiting.map((other) => other.client);
    const full = findFullShare(client, taken, this.#maxWaiting);
    if (full !== undefined) throw createFullError(client.group === '' ? 'queue-full' : 'share-full', full);
    if (taken.length >= this.#maxWaiting) throw createFullError('queue-full', taken.length);
    await new Promise<void>((begin) => {
      const groups = this.#waiting.get(client.network) ?? new Map<string, Waiting[]>();
      groups.set(client.group, [...(groups.get(client.group) ?? []), { client, begin }]);
      this.#waiting.set(client.network, groups);
    });
  }

  #beginNext(): void {
    const groups = takeFirst(this.#waiting);
    const works = groups && takeFirst(groups);
    const [next, ...others] = works ?? [];
    if (next === undefined) return;
    const { client, begin } = next;
    if (others.length > 0) groups?.set(client.group, others);
    if (groups?.size) this.#waiting.set(client.network, groups);
    // Runs before any work that is added meanwhile.
    this.#isRunning = true;
    begin();
  }
}

/** Removes the first value and returns it; undefined if the map is empty. */
function takeFirst<V>(values: Map<string, V>): V | undefined {
  const [first] = values;
  if (first === undefined) return undefined;
  values.delete(first[0]);
  return first[1];
}

/** Runs one piece of work after the other, in the order in which they are added. */
export class SerialQueue {
  readonly #maxWaiting: number;
  #unfinished = 0;
  #last: Promise<unknown> = Promise.resolve();

  /** @param maxWaiting how many pieces of work may wait behind the one that runs; no limit by default */
  constructor(maxWaiting = Number.POSITIVE_INFINITY) {
    this.#maxWaiting = maxWaiting;
  }

  /** The number of pieces of work that run or wait. */
  get size(): number {
    return this.#unfinished;
  }

  /**
   * Runs `work` when everything before it has ended, with or without an error. Resolves and rejects as `work` does.
   * @throws {BotshelfError} queue-full, when too much waits already; the work is not run
   */
  async run<T>(work: () => Promise<T>): Promise<T> {
    if (this.#unfinished > this.#maxWaiting) throw createFullError('queue-full', this.#maxWaiting);
    this.#unfinished++;
    const result = this.#last.then(work);
    this.#last = result.catch(() => {});
    try {
      return await result;
    } finally {
      this.#unfinished--;
    }
  }
}

/** Calls back with names after a delay, in slices of time. */
export class DelayQueue {
  readonly #due = new Map<string, number>();
  readonly #work: (name: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(work: (name: string) => void) {
    this.#work = work;
  }

  get size(): number {
    return this.#due.size;
  }

  /** Adds a name that is due in `delayMs`. A waiting name keeps the earlier time. */
  add(name: string, delayMs: number): void {
    const due = performance.now() + delayMs;
    if (this.#closed || (this.#due.get(name) ?? Number.POSITIVE_INFINITY) <= due) return;
    this.#due.set(name, due);
    if (due < this.#timerDue) this.#wait();
  }

  close(): void {
    this.#closed = true;
    this.#due.clear();
    this.#wait();
  }

  #wait(): void {
    clearTimeout(this.#timer);
    this.#timerDue = Math.min(...this.#due.values());
    if (this.#due.size === 0) return;
    const delay = this.#timerDue - performance.now();
    // Node 24 warns of a negative delay.
    this.#timer = setTimeout(() => this.#run(), Math.max(0, delay)).unref();
  }

  #run(): void {
    const now = performance.now();
    const slice = new TimeSlice('service');
    for (const [name, due] of this.#due) {
      if (due > now) continue;
      this.#due.delete(name);
      this.#work(name);
      if (slice.isOver) break;
    }
    this.#wait();
  }
}
