import * as oauth from 'openid-client';
import { parseAccountId } from '../bot/commit-message.ts';
import { type Bounds, createBoundedFetch } from '../lib/network.ts';
import { type Account, LoginError, type LoginErrorKind } from './session.ts';

/** The identity provider, and this service's registration there. */
export interface LoginSettings {
  readonly kind: 'discord' | 'oidc';
  /** The provider's issuer identifier, such as https://discord.com. */
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** The claim with the account's ID; unused for Discord, which has no claims. */
  readonly idClaim: string;
}

/** A request to the provider, kept sealed in the visitor's browser until the provider redirects back. */
export interface AuthorizationRequest {
  readonly state: string;
  readonly verifier: string;
  /** Null if the provider issues no ID tokens. */
  readonly nonce: string | null;
}

/** Identifies people. */
export type IdentityProvider = Pick<Provider, 'kind' | 'name' | 'issuer' | 'begin' | 'finish'>;

/**
 * A provider on the network: OAuth 2 with PKCE, or OpenID Connect. OpenID Connect is asked to authenticate a person again who
 * is logged in there; Discord only shows its consent page. Metadata are read at the first use, and again every hour.
 */
export class Provider {
  readonly kind: LoginSettings['kind'] | 'demo';
  /** The display name. */
  readonly name: string;
  /** The identifier: a session of one provider does not open for another. */
  readonly issuer: string;
  readonly #settings: LoginSettings;
  readonly #redirectUri: string;
  readonly #fetch: oauth.CustomFetch;
  #known: { readonly configuration: oauth.Configuration; readonly at: number } | undefined;
  #discovering: Promise<oauth.Configuration> | undefined;

  /** @param redirectUri the address that the provider redirects back to */
  constructor(settings: LoginSettings, redirectUri: string, bounds: Bounds = defaultBounds) {
    this.#settings = settings;
    this.#redirectUri = redirectUri;
    this.#fetch = createBoundedFetch(bounds) as oauth.CustomFetch;
    this.kind = settings.kind;
    this.issuer = settings.issuer;
    this.name = settings.kind === 'discord' ? 'Discord' : new URL(settings.issuer).host;
  }

  /**
   * Makes a request. Returns it with the address to redirect the visitor to, which is a path for a page of this site.
   * @param asAnother whether the visitor wants to use another account than the provider's current one
   * @throws {LoginError} unavailable
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
      // Discord's consent page offers other accounts by itself.
      ...(asAnother && request.nonce !== null && { prompt: 'login' }),
    });
    return { url: url.href, request };
  }

  /**
   * Returns the account of the person whom the provider redirected back with these parameters.
   * @throws {LoginError} of every kind
   */
  async finish(parameters: URLSearchParams, request: AuthorizationRequest): Promise<Account> {
    if (parameters.get('state') !== request.state) {
      throw new LoginError(
        'stale',
        'another login was started since, or this one was started in another browser',
      );
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
      throw toLoginError(error, this.name);
    }
  }

  async #discordAccount(
    configuration: oauth.Configuration,
    { access_token: token }: oauth.TokenEndpointResponse,
  ): Promise<Account> {
    const address = new URL('/api/users/@me', this.#settings.issuer);
    const response = await oauth.fetchProtectedResource(configuration, token, address, 'GET');
    if (!response.ok) throw new Error(`${address.href} responded with status ${response.status}`);
    const user = requireObject(await response.json());
    return this.#toAccount(user['id'], user, Date.now());
  }

  async #oidcAccount(
    configuration: oauth.Configuration,
    tokens: oauth.TokenEndpointResponse & oauth.TokenEndpointResponseHelpers,
  ): Promise<Account> {
    const proved = requireObject(tokens.claims());
    const { idClaim } = this.#settings;
    const complete = proved[idClaim] !== undefined && readName(proved) !== null;
    const userInfo =
      complete || configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : await oauth.fetchUserInfo(configuration, tokens.access_token, String(proved['sub']));
    const claims: Claims = { ...userInfo, ...proved };
    return this.#toAccount(claims[idClaim], claims, Number(proved['auth_time']) * 1000);
  }

  #toAccount(value: unknown, claims: Claims, authenticatedAt: number): Account {
    const id = typeof value === 'string' ? parseAccountId(value) : undefined;
    if (id !== undefined) return { id, name: readName(claims) ?? id, authenticatedAt };
    throw new LoginError(
      'no-account',
      `the account ID from ${this.name} is not 1 to 20 digits: log in with an account that a bot lists as an author`,
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
      throw toLoginError(error, this.name);
    }
  }

  async #discover(): Promise<oauth.Configuration> {
    const { kind, issuer, clientId, clientSecret } = this.#settings;
    // Discord does not state how to send the secret; in the body there is one way to encode it.
    const secret = (kind === 'discord' ? oauth.ClientSecretPost : createClientAuth)(clientSecret);
    const configuration = await oauth.discovery(new URL(issuer), clientId, undefined, secret, {
      algorithm: kind === 'discord' ? 'oauth2' : 'oidc',
      [oauth.customFetch]: this.#fetch,
      execute: issuer.startsWith('http:') ? [oauth.allowInsecureRequests] : [],
    });
    this.#known = { configuration, at: performance.now() };
    return configuration;
  }
}

/** A provider that exceeds these limits counts as away. */
const defaultBounds: Bounds = { time: 5000, bytes: 256 * 1024 };

/** Seconds. The maximum age of the authentication; half of what the token page accepts, so that there is time left. */
const freshSeconds = 300;

/** Milliseconds. */
const rediscoverEvery = 3_600_000;

/** Sends the secret as the provider's metadata say, else in the standard's way. */
function createClientAuth(secret: string): oauth.ClientAuth {
  const post = oauth.ClientSecretPost(secret);
  const basic = oauth.ClientSecretBasic(secret);
  return (server, ...request) =>
    (server.token_endpoint_auth_methods_supported?.includes('client_secret_post') ? post : basic)(
      server,
      ...request,
    );
}

type Claims = Readonly<Record<string, unknown>>;

function requireObject(value: unknown): Claims {
  if (value instanceof Object) return value as Claims;
  throw new TypeError('the account is not an object');
}

/** Returns the display name, one short line. Discord's keys come first, then those of OpenID Connect. */
function readName(account: Claims): string | null {
  for (const key of ['global_name', 'username', 'name', 'preferred_username']) {
    const value = account[key];
    const name = typeof value === 'string' ? value.replace(/[\p{C}\p{Z}]+/gu, ' ').trim() : '';
    if (name !== '') return name.slice(0, 60);
  }
  return null;
}

/** Turns the error of an exchange with the provider `name` into that of a login. */
function toLoginError(error: unknown, name: string): LoginError {
  if (error instanceof LoginError) return error;
  const kind = classifyError(error);
  return new LoginError(
    kind,
    {
      unavailable: `${name} does not respond correctly: try again in a minute`,
      denied: `${name} refused the login, or you cancelled it`,
      stale: 'this login was already used or took too long',
      'invalid-response': `the response of ${name} does not match the request`,
      misconfigured: `${name} does not accept this service: tell its operator`,
    }[kind],
    { cause: error },
  );
}

function classifyError(error: unknown): Exclude<LoginErrorKind, 'no-account'> {
  if (error instanceof oauth.AuthorizationResponseError) {
    if (denials.test(error.error)) return 'denied';
    return /^(server_error|temporarily_unavailable)$/.test(error.error) ? 'unavailable' : 'misconfigured';
  }
  if (error instanceof oauth.ResponseBodyError)
    return error.error === 'invalid_grant' ? 'stale' : 'misconfigured';
  if (error instanceof oauth.WWWAuthenticateChallengeError) return 'misconfigured';
  if (error instanceof oauth.ClientError && mismatches.test(String(error.code))) return 'invalid-response';
  return 'unavailable';
}

/** The errors in the provider's redirect that stand for a refusal. */
const denials = /^(access_denied|(login|interaction|consent|account_selection)_required)$/;

/** The codes of openid-client for a response that is well-formed but does not match the request. */
const mismatches =
  /OAUTH_(INVALID_(RESPONSE|REQUEST)|JWT_(CLAIM_COMPARISON|TIMESTAMP_CHECK)_FAILED|JSON_ATTRIBUTE_COMPARISON_FAILED|KEY_SELECTION_FAILED)/;
