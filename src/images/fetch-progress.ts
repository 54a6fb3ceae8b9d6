import type { Log } from '../lib/log.ts';

/** Logs how far the fetching is: every `interval` milliseconds while there is work, and when it is done. */
export class FetchProgress {
  readonly #log: Log;
  readonly #interval: number;
  readonly #left: () => number;
  #fetched = 0;
  #failed = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log, interval: number, left: () => number) {
    this.#log = log;
    this.#interval = interval;
    this.#left = left;
  }

  /** Starts logging. */
  begin(): void {
    this.#timer ??= setInterval(() => this.#say(), this.#interval).unref();
  }

  fetched(): void {
    this.#fetched += 1;
  }

  failed(): void {
    this.#failed += 1;
  }

  close(): void {
    clearInterval(this.#timer);
    this.#timer = undefined;
  }

  #say(): void {
    const [fetched, failed, left] = [this.#fetched, this.#failed, this.#left()];
    this.#log.info(
      { fetched, failed, left },
      `image cache: ${fetched} fetched, ${failed} failed, ${left} left`,
    );
    if (left > 0) return;
    this.close();
    this.#fetched = 0;
    this.#failed = 0;
  }
}
