import { messageOf } from './errors.ts';

/** Closes the parts of a service, the last added first, because it may use earlier ones. */
export class Closers {
  readonly #parts: Closable[] = [];

  /** Adds a part of the service, and returns it. */
  own<T extends Closable | null>(part: T): T {
    if (part) this.#parts.push(part);
    return part;
  }

  /** Closes every part, whether others fail or not. @throws {AggregateError} what parts threw, once all have closed */
  async close(): Promise<void> {
    const errors: unknown[] = [];
    for (let part = this.#parts.pop(); part; part = this.#parts.pop()) {
      try {
        await part.close();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0) throw new AggregateError(errors, errors.map(messageOf).join('; '));
  }
}

interface Closable {
  close(): Promise<void> | void;
}
