/** Does one piece of work after the other, in the order in which they came. */
export class Turns {
  #last: Promise<unknown> = Promise.resolve();

  /** Does `work` when everything before it is over, failed or not; gives what it gives, throws what it throws. */
  async take<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#last.then(work, work);
    this.#last = result;
    return await result;
  }
}
