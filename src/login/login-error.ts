/**
 * Why a login failed:
 * - unavailable: the provider does not respond, or not correctly; trying later may help
 * - denied: the person or the provider refused
 * - stale: it took too long, was finished before, or another login was started since; starting again helps
 * - invalid-response: the response does not match the request to the provider
 * - misconfigured: the provider does not accept this service; only the operator can help
 * - no-account: the account has no ID that an author of a bot can have
 */
export type LoginErrorKind =
  | 'unavailable'
  | 'denied'
  | 'stale'
  | 'invalid-response'
  | 'misconfigured'
  | 'no-account';

/** A login that failed. The message is a sentence for the person who logs in. */
export class LoginError extends Error {
  readonly kind: LoginErrorKind;

  constructor(kind: LoginErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LoginError';
    this.kind = kind;
  }
}
