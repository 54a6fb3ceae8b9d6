import { ExplainedError } from '../lib/errors.ts';

/**
 * Why nothing was done.
 * - `off`: the catalogue takes no such proposals.
 * - `blocked`: the account, or what it sends, is blocked.
 * - `new-account`, `too-many-open`, `too-many-sent`, `too-many-in-all`, `too-large`: a limit, in `values`.
 * - `gone`: there is no such open proposal: it was decided or withdrawn.
 * - `changed`: it is at another version than the caller saw.
 * - `conflict`: the branch has changed the same; `values.fields` are the keys, or `page` or `file`.
 * - `unchanged`: the branch has all of it.
 * - `faulty`: the result would break a rule; `values.fault` says which.
 * - `not-maintainer`: the account may not review.
 */
export type ProposalErrorKind =
  | 'off'
  | 'blocked'
  | 'new-account'
  | 'too-many-open'
  | 'too-many-sent'
  | 'too-many-in-all'
  | 'too-large'
  | 'unchanged'
  | 'gone'
  | 'changed'
  | 'conflict'
  | 'faulty'
  | 'not-maintainer';

/** A proposal was not sent, withdrawn or decided. Nothing has changed. */
export class ProposalError extends ExplainedError {
  readonly kind: ProposalErrorKind;
  /** What fills in the message for the reader. */
  readonly values: Readonly<Record<string, string | number>>;

  constructor(kind: ProposalErrorKind, values: Readonly<Record<string, string | number>> = {}) {
    super(`the proposal cannot be changed (${kind}): ${JSON.stringify(values)}`);
    this.name = 'ProposalError';
    this.kind = kind;
    this.values = values;
  }
}
