/** The callers that wait for the next push. */
export class PushWaiters {
  readonly #waiters = new Set<(isPushed: boolean) => void>();

  get size(): number {
    return this.#waiters.size;
  }

  /** Resolves with the result of the push, false after `limit` milliseconds. */
  async wait(limit: number): Promise<boolean> {
    return await new Promise<boolean>((resolve) => {
      const finish = (isPushed: boolean): void => {
        clearTimeout(timer);
        this.#waiters.delete(finish);
        resolve(isPushed);
      };
      const timer = setTimeout(() => finish(false), limit).unref();
      this.#waiters.add(finish);
    });
  }

  /** Returns the present waiters: one who comes during a push waits for the next. */
  list(): ((isPushed: boolean) => void)[] {
    return [...this.#waiters];
  }
}
