import type { Log } from '../log.ts';
import { messageOf } from '../system-error.ts';
import type { Bounds } from './bounded-fetch.ts';
import { KeyRing } from './key-ring.ts';
import { LoginError } from './login-error.ts';
import { type AuthorizationRequest, Provider } from './provider.ts';
import { returnPath } from './return-path.ts';
import { type CookieText, Sessions } from './sessions.ts';
import { callbackPath, isSecureOrigin, type LoginSettings } from './settings.ts';

export interface LoginOptions {
  readonly settings: LoginSettings;
  /** What cookies are sealed with, newest first. */
  readonly secrets: readonly string[];
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  readonly log: Log;
  /** What an answer of the provider may cost. */
  readonly bounds?: Bounds;
}

/** Logging in at the provider, from the first click to the session. */
export class Login {
  readonly sessions: Sessions;
  /** What people call the provider. */
  readonly provider: string;
  /** Why nobody can log in as this service is set up, a clause; null when they can. */
  readonly obstacle: string | null;
  readonly #provider: Provider;
  readonly #keys: KeyRing;
  readonly #log: Log;

  constructor({ settings, secrets, baseUrl, log, bounds }: LoginOptions) {
    this.#provider = new Provider(settings, `${baseUrl}${callbackPath}`, bounds);
    this.#keys = new KeyRing(secrets);
    this.#log = log;
    this.provider = this.#provider.name;
    this.sessions = new Sessions(this.#keys, settings.issuer);
    this.obstacle = isSecureOrigin(baseUrl)
      ? null
      : `the login needs https, and this service is at ${baseUrl}: its operator has to put it behind https`;
  }

  /**
   * Where to send a visitor who wants to log in, and the text for the cookie to bring back.
   * @param to the page that they want to come back to; the front page where it is none of ours
   * @param asAnother whether they want another account than the one they are logged in with there
   * @throws {LoginError}
   */
  async begin(to: string | undefined, asAnother: boolean): Promise<{ url: string; cookie: CookieText }> {
    if (this.obstacle !== null) throw new LoginError('misconfigured', this.obstacle);
    try {
      const { url, request } = await this.#provider.begin(asAnother);
      const kept: LoginCookie = { ...request, to: returnPath(to) };
      const text = await this.#keys.seal(purpose, kept, loginSeconds);
      return { url, cookie: { text, seconds: loginSeconds } };
    } catch (error) {
      throw this.#logged(error);
    }
  }

  /**
   * Begins the session of a visitor whom the provider has sent back.
   * @param cookie what `begin` gave for it; undefined when the browser had none
   * @throws {LoginError}
   */
  async finish(
    parameters: URLSearchParams,
    cookie: string | undefined,
  ): Promise<{ session: CookieText; to: string }> {
    const opened = cookie === undefined ? undefined : await this.#keys.open(purpose, cookie);
    if (opened === undefined) {
      throw new LoginError(
        'stale',
        'this login took longer than ten minutes, or was begun in another browser',
      );
    }
    const { to, ...request } = opened.value as LoginCookie;
    try {
      const account = await this.#provider.finish(parameters, request);
      return { session: await this.sessions.begin(account), to: returnPath(to) };
    } catch (error) {
      throw this.#logged(error);
    }
  }

  /** Tells the operator of what the visitor cannot mend. */
  #logged(error: unknown): unknown {
    if (error instanceof LoginError && ['away', 'distrusted', 'misconfigured'].includes(error.kind)) {
      this.#log.warn({ login: error.kind, because: reasons(error) }, `a login failed: ${error.message}`);
    }
    return error;
  }
}

interface LoginCookie extends AuthorizationRequest {
  readonly to: string;
}

const purpose = 'login';
const loginSeconds = 600;

/** What the errors behind an error say. Nothing else of them: they carry what was exchanged. */
function reasons(error: Error): string[] {
  const said: string[] = [];
  for (let cause = error.cause; cause instanceof Error && said.length < 5; cause = cause.cause) {
    const code = 'error' in cause && typeof cause.error === 'string' ? `${cause.error}: ` : '';
    said.push(`${code}${messageOf(cause)}`.slice(0, 300));
  }
  return said;
}
