import { msPerDay } from '../bot/clock.ts';
import type { AccountId } from '../bot/commit-message.ts';

/** The account of the person who logged in. */
export interface Account {
  readonly id: AccountId;
  /** The display name at the provider, else the ID. */
  readonly name: string;
  /**
   * The time at which the provider last authenticated the person; for Discord, which does not state it, the time of
   * their return from its consent page. Milliseconds since the epoch.
   */
  readonly authenticatedAt: number;
}

/** The login of a browser. Kept sealed in a cookie of that browser, not in the service. */
export interface Session extends Account {
  /** Milliseconds since the epoch. */
  readonly loggedInAt: number;
  /** When the account last read the answers to its proposals; milliseconds since the epoch. */
  readonly readAt: number;
}

/** How long a session can live. */
export const maxSessionMs = 30 * msPerDay;

/** Whether the provider authenticated the person recently enough. */
export function isFresh(
  { authenticatedAt }: Pick<Session, 'authenticatedAt'>,
  act: keyof typeof freshMinutes,
): boolean {
  return Date.now() - authenticatedAt < freshMinutes[act] * 60_000;
}

/** How old the authentication may be, for a press on the token page and for what a maintainer does. */
const freshMinutes = { token: 10, review: 60 };

/**
 * Why a login failed, with the status of the page that says so:
 * - unavailable: the provider does not respond, or not correctly; trying later may help
 * - denied: the person or the provider refused
 * - stale: it took too long, was finished before, or another login was started since; starting again helps
 * - invalid-response: the response does not match the request to the provider
 * - misconfigured: the provider does not accept this service; only the operator can help
 * - no-account: the account has no ID that an author of a bot can have
 */
export const loginErrors = {
  unavailable: 503,
  denied: 403,
  stale: 400,
  'invalid-response': 400,
  misconfigured: 500,
  'no-account': 403,
} as const;

export type LoginErrorKind = keyof typeof loginErrors;

/** A login that failed. The message is a sentence for the person who logs in. */
export class LoginError extends Error {
  readonly kind: LoginErrorKind;

  constructor(kind: LoginErrorKind, message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'LoginError';
    this.kind = kind;
  }
}

/**
 * Returns the public path that a login redirects to: `text` if it has the form of a page's path, with or without a
 * query, and is not of the login itself; else the front page. So no link through the login can lead to another site.
 * @param basePath the path of the public address; empty if it has none
 */
export function parseReturnPath(text: string | undefined, basePath = ''): string {
  return text?.startsWith(basePath) && pages.test(text.slice(basePath.length)) ? text : `${basePath}/`;
}

/** Below the path of the public address. */
const pages = /^(?!\/log)(?:\/|(?:\/[a-z0-9-]{1,80}){1,4})(?:\?[\w=&%.,+~*-]{1,1000})?$/;

/** The path that the provider redirects back to. */
export const callbackPath = '/login/callback';

/** The page of a demo on which visitors choose a person. */
export const peoplePath = '/login/people';

/** Whether secure cookies, and so the login, work at an address: over https, or on this machine. */
export function isSecureOrigin(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  const isHere = /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);
  return protocol === 'https:' || (protocol === 'http:' && isHere);
}
