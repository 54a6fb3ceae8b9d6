import { messageOf } from './errors.ts';

/** Closes the parts of a service, the last added first, because it may use earlier ones. */
export class Closers {
  readonly #closers: Closer[] = [];

  add(closer: Closer): void {
    this.#closers.push(closer);
  }

  /** Adds a part of the service, and returns it. */
  own<T extends { close(): Promise<void> | void } | null>(part: T): T {
    if (part) this.add(async () => await part.close());
    return part;
  }

  /** Closes every part, whether others fail or not. @throws {AggregateError} what parts threw, once all have closed */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let closer = this.#closers.pop(); closer; closer = this.#closers.pop()) {
      try {
        await closer();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map(messageOf).join('; '));
  }
}

type Closer = () => Promise<void> | void;
