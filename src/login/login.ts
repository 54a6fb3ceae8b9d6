import type { AccountId } from '../bot/commit-message.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { basePathOf } from '../lib/network.ts';
import { LogThrottle } from '../lib/retry.ts';
import { KeyRing, type CookieText, Sessions } from './sessions.ts';
import { LoginError, type AuthorizationRequest, type IdentityProvider } from './provider.ts';
import { isSecureOrigin } from './settings.ts';

/**
 * Returns the public path that a login redirects to: `text` where it has the form of a page's path, with or without a query,
 * and is not of the login itself, else the front page. So no link through the login can lead to another site.
 * @param basePath the path of the public address; empty where it has none
 */
export function parseReturnPath(text: string | undefined, basePath = ''): string {
  return text?.startsWith(basePath) && pages.test(text.slice(basePath.length)) ? text : `${basePath}/`;
}

/** Below the path of the public address. */
const pages = /^(?!\/log)(?:\/|(?:\/[a-z0-9-]{1,80}){1,4})(?:\?[\w=&%.+~*-]{1,1000})?$/;

export interface LoginOptions {
  readonly provider: IdentityProvider;
  /** The secrets that seal cookies, newest first. */
  readonly secrets: readonly string[];
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  readonly log: Log;
}

/** Logging in with the provider, from the first click to the session. */
export class Login {
  readonly sessions: Sessions;
  /** The provider's display name. */
  readonly provider: string;
  /** Why nobody can log in with the present configuration, a clause; null when login works. */
  readonly disabledReason: string | null;
  /** The path of the public address; empty where it has none. */
  readonly basePath: string;
  readonly #provider: IdentityProvider;
  readonly #keys: KeyRing;
  readonly #log: Log;
  readonly #failures = new LogThrottle();

  constructor({ provider, secrets, baseUrl, log }: LoginOptions) {
    this.#provider = provider;
    this.#keys = new KeyRing(secrets);
    this.#log = log;
    this.provider = provider.name;
    this.basePath = basePathOf(baseUrl);
    this.sessions = new Sessions(this.#keys, provider.issuer);
    this.disabledReason = isSecureOrigin(baseUrl)
      ? null
      : `login needs https, and this service is at ${baseUrl}: its operator has to set up https`;
  }

  /** Returns when an account was created, in milliseconds since the epoch; undefined where its id does not tell. */
  findCreation(id: AccountId): number | undefined {
    return this.#provider.kind === 'discord' ? Number(BigInt(id) >> 22n) + discordEpoch : undefined;
  }

  /**
   * Starts a login. Returns the address to redirect the visitor to, and the cookie that `finish` needs.
   * @param to the public path to return to; the front page where it is not a page of this site
   * @param asAnother whether the visitor wants to use another account than the provider's current one
   * @throws {LoginError}
   */
  async begin(to: string | undefined, asAnother: boolean): Promise<{ url: string; cookie: CookieText }> {
    if (this.disabledReason !== null) throw new LoginError('misconfigured', this.disabledReason);
    try {
      const { url, request } = await this.#provider.begin(asAnother);
      const kept: LoginCookie = { ...request, to: parseReturnPath(to, this.basePath) };
      const text = await this.#keys.seal(purpose, kept, loginSeconds);
      return { url, cookie: { text, seconds: loginSeconds } };
    } catch (error) {
      throw this.#logged(error);
    }
  }

  /**
   * Finishes a login and starts the session, once the provider has redirected the visitor back.
   * @param cookie the text from `begin`; undefined when the browser sent none
   * @throws {LoginError}
   */
  async finish(
    parameters: URLSearchParams,
    cookie: string | undefined,
  ): Promise<{ session: CookieText; to: string }> {
    const opened = await this.#keys.open(purpose, cookie ?? '');
    if (opened === undefined) {
      throw new LoginError(
        'stale',
        'this login took longer than ten minutes, or was started in another browser',
      );
    }
    const { to, ...request } = opened.value as LoginCookie;
    try {
      const account = await this.#provider.finish(parameters, request);
      return { session: await this.sessions.begin(account), to: parseReturnPath(to, this.basePath) };
    } catch (error) {
      throw this.#logged(error);
    }
  }

  /** Logs the errors that only the operator can fix, one line for each cause, and returns the error. */
  #logged(error: unknown): unknown {
    const isForOperator =
      error instanceof LoginError &&
      ['unavailable', 'invalid-response', 'misconfigured'].includes(error.kind);
    if (isForOperator && this.#failures.shouldLog(error.message)) {
      this.#log.warn({ login: error.kind, because: listReasons(error) }, `a login failed: ${error.message}`);
    }
    return error;
  }
}

interface LoginCookie extends AuthorizationRequest {
  readonly to: string;
}

/** What the times in Discord's ids count from. */
const discordEpoch = 1_420_070_400_000;

const purpose = 'login';
const loginSeconds = 600;

/** Returns the messages of an error's causes, and nothing else of them, as they hold secrets of the exchange. */
function listReasons(error: Error): string[] {
  const said: string[] = [];
  for (let cause = error.cause; cause instanceof Error && said.length < 5; cause = cause.cause) {
    const code = 'error' in cause && typeof cause.error === 'string' ? `${cause.error}: ` : '';
    said.push(`${code}${messageOf(cause)}`.slice(0, 300));
  }
  return said;
}
