/**
 * Why a login came to nothing:
 * - away: the provider does not answer, or not as it should; later it may
 * - denied: the person, or the provider for them, said no
 * - stale: it took too long, was done already, or another login was begun meanwhile; beginning again helps
 * - distrusted: what came back is not what the provider was asked for
 * - misconfigured: the provider does not accept this service; only the operator can help
 * - no-account: the account has no id that an author of a bot can have
 */
export type LoginErrorKind = 'away' | 'denied' | 'stale' | 'distrusted' | 'misconfigured' | 'no-account';

/** A login that came to nothing. The message is a sentence for the person who tried it. */
export class LoginError extends Error {
  readonly kind: LoginErrorKind;

  constructor(kind: LoginErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LoginError';
    this.kind = kind;
  }
}
