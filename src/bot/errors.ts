/** The codes of the failures that the domain foresees; http/ turns each into an answer, in one table. */
export type DomainErrorCode = 'writes-unavailable';

/**
 * Nothing can be written now, and nothing of what was asked is promised; reads go on. The message is a
 * sentence that says why and what the operator can do. Trying again later is right.
 */
export class WritesUnavailable extends Error {
  readonly code: DomainErrorCode = 'writes-unavailable';

  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'WritesUnavailable';
  }
}
