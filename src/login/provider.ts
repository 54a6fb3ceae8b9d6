import * as oauth from 'openid-client';
import { type AccountId, parseAccountId } from '../bot/account.ts';
import { type Bounds, boundedFetch } from './bounded-fetch.ts';
import { LoginError } from './login-error.ts';
import { loginErrorOf } from './provider-error.ts';
import type { LoginSettings } from './settings.ts';

/** Who has logged in. */
export interface Account {
  readonly id: AccountId;
  /** What the provider calls them; null when it does not say. */
  readonly name: string | null;
  /**
   * When they last proved to the provider who they are; for Discord, which cannot be asked for that, when they came
   * back from its page of consent. Milliseconds since the epoch.
   */
  readonly authenticatedAt: number;
}

/** What the visitor's browser keeps, sealed, between leaving for the provider and coming back. */
export interface AuthorizationRequest {
  readonly state: string;
  readonly verifier: string;
  /** Null where the provider gives no id tokens. */
  readonly nonce: string | null;
}

/**
 * The provider that people log in at: OAuth 2 with PKCE, or OpenID Connect. The latter is asked to make sure
 * who it is even if they are logged in there; Discord only shows its page of consent. Its metadata are read when they are first needed, and again every hour.
 */
export class Provider {
  /** What people call it. */
  readonly name: string;
  readonly #settings: LoginSettings;
  readonly #redirectUri: string;
  readonly #fetch: oauth.CustomFetch;
  #known: { readonly configuration: oauth.Configuration; readonly at: number } | undefined;
  #discovering: Promise<oauth.Configuration> | undefined;

  /** @param redirectUri where the provider sends people back to */
  constructor(settings: LoginSettings, redirectUri: string, bounds: Bounds = defaultBounds) {
    this.#settings = settings;
    this.#redirectUri = redirectUri;
    this.#fetch = boundedFetch(bounds) as oauth.CustomFetch;
    this.name = settings.kind === 'discord' ? 'Discord' : new URL(settings.issuer).host;
  }

  /**
   * Where to send a visitor who wants to log in, and what they must bring back.
   * @param asAnother whether they want another account than the one they are logged in with there
   * @throws {LoginError} away
   */
  async begin(asAnother = false): Promise<{ readonly url: string; readonly request: AuthorizationRequest }> {
    const configuration = await this.#configuration();
    const request: AuthorizationRequest = {
      state: oauth.randomState(),
      verifier: oauth.randomPKCECodeVerifier(),
      nonce: this.#settings.kind === 'oidc' ? oauth.randomNonce() : null,
    };
    const url = oauth.buildAuthorizationUrl(configuration, {
      redirect_uri: this.#redirectUri,
      state: request.state,
      code_challenge: await oauth.calculatePKCECodeChallenge(request.verifier),
      code_challenge_method: 'S256',
      ...(request.nonce === null
        ? { scope: 'identify', prompt: 'consent' }
        : { scope: 'openid profile', max_age: String(freshSeconds), nonce: request.nonce }),
      // Discord's page of consent has a way to another account by itself.
      ...(asAnother && request.nonce !== null && { prompt: 'login' }),
    });
    return { url: url.href, request };
  }

  /**
   * Who it is that the provider has sent back with these parameters.
   * @throws {LoginError} of every kind
   */
  async finish(parameters: URLSearchParams, request: AuthorizationRequest): Promise<Account> {
    if (parameters.get('state') !== request.state) {
      throw new LoginError('stale', 'this login was begun anew meanwhile, or in another browser');
    }
    const configuration = await this.#configuration();
    const url = new URL(this.#redirectUri);
    url.search = parameters.toString();
    try {
      const tokens = await oauth.authorizationCodeGrant(configuration, url, {
        expectedState: request.state,
        pkceCodeVerifier: request.verifier,
        ...(request.nonce !== null && { expectedNonce: request.nonce, maxAge: freshSeconds }),
      });
      return await (this.#settings.kind === 'discord'
        ? this.#discordAccount(configuration, tokens)
        : this.#oidcAccount(configuration, tokens));
    } catch (error) {
      throw loginErrorOf(error, this.name);
    }
  }

  async #discordAccount(
    configuration: oauth.Configuration,
    { access_token: token }: oauth.TokenEndpointResponse,
  ): Promise<Account> {
    const address = new URL('/api/users/@me', this.#settings.issuer);
    const response = await oauth.fetchProtectedResource(configuration, token, address, 'GET');
    if (!response.ok) throw new Error(`${address.href} answers with status ${response.status}`);
    const user = objectOf(await response.json());
    return {
      id: this.#accountId(user['id']),
      name: nameIn(user),
      authenticatedAt: Date.now(),
    };
  }

  async #oidcAccount(
    configuration: oauth.Configuration,
    tokens: oauth.TokenEndpointResponse & oauth.TokenEndpointResponseHelpers,
  ): Promise<Account> {
    const proved = objectOf(tokens.claims());
    const { idClaim } = this.#settings;
    const complete = proved[idClaim] !== undefined && nameIn(proved) !== null;
    const told =
      complete || configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await oauth.fetchUserInfo(configuration, tokens.access_token, String(proved['sub']));
    const claims: Record<string, unknown> = { ...told, ...proved };
    return {
      id: this.#accountId(claims[idClaim]),
      name: nameIn(claims),
      authenticatedAt: Number(proved['auth_time']) * 1000,
    };
  }

  #accountId(value: unknown): AccountId {
    const id = typeof value === 'string' ? parseAccountId(value) : undefined;
    if (id !== undefined) return id;
    throw new LoginError(
      'no-account',
      `the id that ${this.name} gives for your account is not 1 to 20 digits, as the authors of bots have: log in with the account that a bot names`,
    );
  }

  async #configuration(): Promise<oauth.Configuration> {
    const known = this.#known;
    if (known && performance.now() - known.at < rediscoverEvery) return known.configuration;
    this.#discovering ??= this.#discover().finally(() => (this.#discovering = undefined));
    try {
      return await this.#discovering;
    } catch (error) {
      if (known) return known.configuration;
      throw loginErrorOf(error, this.name);
    }
  }

  async #discover(): Promise<oauth.Configuration> {
    const { kind, issuer, clientId, clientSecret } = this.#settings;
    // Discord does not say how it wants the secret; in the body there is one way to write it.
    const secret = (kind === 'discord' ? oauth.ClientSecretPost : secretAsAsked)(clientSecret);
    const configuration = await oauth.discovery(new URL(issuer), clientId, undefined, secret, {
      algorithm: kind === 'discord' ? 'oauth2' : 'oidc',
      [oauth.customFetch]: this.#fetch,
      execute: issuer.startsWith('http:') ? [oauth.allowInsecureRequests] : [],
    });
    this.#known = { configuration, at: performance.now() };
    return configuration;
  }
}

/** A provider that takes longer, or has more to say, does not work. */
const defaultBounds: Bounds = { time: 5000, bytes: 256 * 1024 };

/** What the provider saw may be so old. Half of what the token page takes, so that there is time left. */
const freshSeconds = 300;

/** Milliseconds. */
const rediscoverEvery = 3_600_000;

/** Sends the secret in the way that the provider's metadata ask for; the standard's way where they don't say. */
function secretAsAsked(secret: string): oauth.ClientAuth {
  const post = oauth.ClientSecretPost(secret);
  const basic = oauth.ClientSecretBasic(secret);
  return (server, ...request) =>
    (server.token_endpoint_auth_methods_supported?.includes('client_secret_post') ? post : basic)(
      server,
      ...request,
    );
}

function objectOf(value: unknown): Record<string, unknown> {
  if (typeof value === 'object' && value !== null) return value as Record<string, unknown>;
  throw new TypeError('the account is no object');
}

/** What an account is called: one line, not long. Discord's keys come first, then OpenID Connect's. */
function nameIn(account: Readonly<Record<string, unknown>>): string | null {
  for (const key of ['global_name', 'username', 'name', 'preferred_username']) {
    const value = account[key];
    const name = typeof value === 'string' ? value.replace(/[\p{C}\p{Z}]+/gu, ' ').trim() : '';
    if (name !== '') return name.slice(0, 60);
  }
  return null;
}
