import { TimeSlice } from '../../lib/time-slice.ts';

/** Does small pieces of work by name, each after a delay, and one slice of time after the other. */
export class DelayQueue {
  readonly #due = new Map<string, number>();
  readonly #work: (name: string) => void;
  #timer: NodeJS.Timeout | undefined;
  #timerDue = Number.POSITIVE_INFINITY;
  #closed = false;

  constructor(work: (name: string) => void) {
    this.#work = work;
  }

  /** How many names wait. */
  get size(): number {
    return this.#due.size;
  }

  /** Adds a name that is due in `delay` milliseconds. A name that waits already keeps the earlier time. */
  add(name: string, delay: number): void {
    const due = performance.now() + delay;
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
    // Node 24 warns of a negative one.
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
