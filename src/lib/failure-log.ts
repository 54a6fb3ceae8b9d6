import type { Log } from './log.ts';

/** Something that does not work at present. */
export interface Failure {
  /** The first failure since the last success. Milliseconds since the epoch. */
  readonly since: number;
  /** The cause of the last failure, and what to do about it. */
  readonly message: string;
}

export interface FailureLogOptions {
  readonly log: Log;
  /** Returns the line to log for a cause: what does not work, what stays safe, the next step. */
  readonly failed: (message: string) => string;
  /** The line to log when it works again. */
  readonly ended: string;
}

/** The present failure of one operation. It is logged when its kind is another than that of the last one, and when it ends. */
export class FailureLog {
  readonly #options: FailureLogOptions;
  #current: Failure | null = null;
  #loggedKind: string | undefined;

  constructor(options: FailureLogOptions) {
    this.#options = options;
  }

  /** Null while the operation works. */
  get current(): Failure | null {
    return this.#current;
  }

  /** @param kind what is the same at each retry; the message unless that has times or numbers in it */
  add(error: unknown, message: string, kind = message): void {
    const { log, failed } = this.#options;
    if (this.#loggedKind !== kind) log.error({ err: error }, failed(message));
    this.#loggedKind = kind;
    this.#current = { since: this.#current?.since ?? Date.now(), message };
  }

  end(): void {
    if (this.#current === null) return;
    const { log, ended } = this.#options;
    log.info({ since: new Date(this.#current.since).toISOString() }, ended);
    this.#current = null;
    this.#loggedKind = undefined;
  }
}
