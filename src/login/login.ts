import { randomBytes, hkdfSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { computeTimeAfter, msPerDay } from '../bot/clock.ts';
import { type AccountId, parseAccountId } from '../bot/commit-message.ts';
import { toWriteError } from '../bot/errors.ts';
import { messageOf, ignoreMissing } from '../lib/errors.ts';
import { writeAtomically } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { basePathOf } from '../lib/network.ts';
import { LogThrottle } from '../lib/retry.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import type { AuthorizationRequest, IdentityProvider, Provider, LoginSettings } from './provider.ts';
import {
  type Account,
  LoginError,
  maxSessionMs,
  parseReturnPath,
  type Session,
  isSecureOrigin,
  callbackPath,
} from './session.ts';

export interface LoginOptions {
  readonly provider: IdentityProvider;
  /** The secrets that seal cookies, newest first. */
  readonly secrets: readonly string[];
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  readonly logOuts: LogOuts;
  readonly log: Log;
}

/** Logging in with the provider, from the first click to the session. */
export class Login {
  readonly sessions: Sessions;
  /** The provider's display name. */
  readonly provider: string;
  /** The reason why nobody can log in with the current configuration, a clause; null if login works. */
  readonly disabledReason: string | null;
  /** The path of the public address; empty if it has none. */
  readonly basePath: string;
  readonly #provider: IdentityProvider;
  readonly #keys: KeyRing;
  readonly #log: Log;
  readonly #failures = new LogThrottle();

  constructor({ provider, secrets, baseUrl, logOuts, log }: LoginOptions) {
    this.#provider = provider;
    this.#keys = new KeyRing(secrets);
    this.#log = log;
    this.provider = provider.name;
    this.basePath = basePathOf(baseUrl);
    this.sessions = new Sessions(this.#keys, provider.issuer, logOuts);
    this.disabledReason = isSecureOrigin(baseUrl)
      ? null
      : `login needs https, and this service is at ${baseUrl}: its operator has to set up https`;
  }

  /** Returns when an account was created, in milliseconds since the epoch; undefined if its id does not tell. */
  findCreation(id: AccountId): number | undefined {
    return this.#provider.kind === 'discord' ? Number(BigInt(id) >> 22n) + discordEpoch : undefined;
  }

  /**
   * Starts a login. Returns the address to redirect the visitor to, and the cookie that `finish` needs.
   * @param to the public path to return to; the front page if it is not a page of this site
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
      return { session: await this.sessions.begin(account), to };
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

/** The start of the times in Discord's ids. */
const discordEpoch = 1_420_070_400_000;

const purpose = 'login';
const loginSeconds = 600;

/** Returns the messages of an error's causes, and nothing else of them, because they hold secrets of the exchange. */
function listReasons(error: Error): string[] {
  const said: string[] = [];
  for (let cause = error.cause; cause instanceof Error && said.length < 5; cause = cause.cause) {
    const code = 'error' in cause && typeof cause.error === 'string' ? `${cause.error}: ` : '';
    said.push(`${code}${messageOf(cause)}`.slice(0, 300));
  }
  return said;
}

/** Opens the configured provider. Imported only here, because most of it is libraries. */
export async function openProvider(login: LoginSettings, baseUrl: string): Promise<Provider> {
  const { Provider } = await import('./provider.ts');
  return new Provider(login, `${baseUrl}${callbackPath}`);
}

/**
 * Reads the secret that seals cookies if BOTSHELF_SECRET is not set. Creates it at the first call, in `folder`,
 * readable only for the service's account.
 * @throws a system error
 */
export async function readSecretFile(folder: string): Promise<string> {
  const path = join(folder, 'cookie-secret');
  const known = (await ignoreMissing(readFile(path, 'utf8')))?.trim() ?? '';
  if (known.length >= 32) return known;
  const secret = randomBytes(32).toString('hex');
  await writeAtomically(path, `${secret}\n`, { fsync: 'content', mode: 0o600 });
  return secret;
}

/** The contents of a sealed text. */
interface SealContents {
  readonly value: unknown;
  /** Milliseconds since the epoch. */
  readonly sealedAt: number;
  /** Whether the newest key sealed it. */
  readonly newest: boolean;
}

/**
 * Seals values so that nobody else can read, forge or change them: AES-256-GCM with the newest secret. Texts sealed with an
 * older secret still open, so a secret is replaced by putting a new one before it.
 */
export class KeyRing {
  /** Newest first. */
  readonly #keys: readonly [Uint8Array, ...Uint8Array[]];

  /** @param secrets newest first; at least one */
  constructor(secrets: readonly string[]) {
    const [newest, ...older] = secrets.map(deriveKey);
    if (newest === undefined) throw new RangeError('a key ring has at least one secret');
    this.#keys = [newest, ...older];
  }

  /** @param purpose a text sealed for one purpose does not open for another */
  async seal(purpose: string, value: unknown, seconds: number): Promise<string> {
    return await new EncryptJWT({ value })
      .setProtectedHeader(algorithm)
      .setAudience(purpose)
      .setIssuedAt()
      .setExpirationTime(`${seconds}s`)
      .encrypt(this.#keys[0]);
  }

  /** Returns undefined for a text that was not sealed with a known key for this purpose, or has expired. */
  async open(purpose: string, sealed: string): Promise<SealContents | undefined> {
    const options = {
      audience: purpose,
      keyManagementAlgorithms: [algorithm.alg],
      contentEncryptionAlgorithms: [algorithm.enc],
    };
    for (const [age, key] of this.#keys.entries())
      try {
        const { payload } = await jwtDecrypt(sealed, key, options);
        return { value: payload['value'], sealedAt: (payload.iat ?? 0) * 1000, newest: age === 0 };
      } catch (error) {
        if (!(error instanceof errors.JOSEError)) throw error;
      }
    return undefined;
  }
}

const algorithm = { alg: 'dir', enc: 'A256GCM' } as const;

function deriveKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'botshelf cookies', 32));
}

/** A text for a cookie, and its lifetime in seconds. */
export interface CookieText {
  readonly text: string;
  readonly seconds: number;
}

/**
 * Sessions. They end a week after the last use, a month after the login at the latest, and when their account logs out on
 * this machine.
 */
export class Sessions {
  readonly #keys: KeyRing;
  readonly #purpose: string;
  readonly #logOuts: LogOuts;

  /** @param issuer the provider; sessions of another provider do not open */
  constructor(keys: KeyRing, issuer: string, logOuts: LogOuts) {
    this.#keys = keys;
    this.#purpose = `session of ${issuer}`;
    this.#logOuts = logOuts;
  }

  async begin(account: Account): Promise<CookieText> {
    return await this.#seal({ ...account, loggedInAt: this.#logOuts.computeBegin(account.id) });
  }

  /** Renews a session whose account has just read the answers to its proposals. */
  async renewRead(session: Session): Promise<CookieText> {
    return await this.#seal({ ...session, readAt: Date.now() });
  }

  /** Opens the session in a cookie, with its renewal when one is due. Returns undefined for an invalid or ended one. */
  async open(
    text: string,
  ): Promise<{ readonly session: Session; readonly renewal: CookieText | undefined } | undefined> {
    const opened = await this.#keys.open(this.#purpose, text);
    const session = parseSession(opened?.value);
    if (opened === undefined || session === undefined || this.#logOuts.hasEnded(session)) return undefined;
    const due = !opened.newest || Date.now() - opened.sealedAt > renewAfter;
    return { session, renewal: due ? await this.#seal(session) : undefined };
  }

  /**
   * Ends the session in a cookie and all that its account began before now, also copies of them. Does nothing for an
   * invalid one.
   * @throws {BotshelfError} unavailable
   */
  async end(text: string): Promise<void> {
    const session = parseSession((await this.#keys.open(this.#purpose, text))?.value);
    if (session !== undefined) await this.#logOuts.add(session);
  }

  async #seal(session: Omit<Session, 'readAt'> & Partial<Session>): Promise<CookieText> {
    const seconds = Math.min(idleSeconds, countSecondsLeft(session));
    return { text: await this.#keys.seal(this.#purpose, session, seconds), seconds };
  }
}

function countSecondsLeft({ loggedInAt }: Pick<Session, 'loggedInAt'>): number {
  return Math.floor((loggedInAt + maxSessionMs - Date.now()) / 1000);
}

const idleSeconds = 7 * 86_400;

/** Milliseconds. A new cookie in every response would be too many. */
const renewAfter = msPerDay;

function parseSession(value: unknown): Session | undefined {
  const { id, name, authenticatedAt, loggedInAt, readAt } = (value ?? {}) as Readonly<
    Record<string, unknown>
  >;
  const account = typeof id === 'string' ? parseAccountId(id) : undefined;
  const hasTimes = typeof authenticatedAt === 'number' && typeof loggedInAt === 'number';
  if (account === undefined || typeof name !== 'string' || !hasTimes) return undefined;
  // The answers that an earlier session has read are not known, so those of a month are unread.
  const firstReadAt = loggedInAt - maxSessionMs;
  const read = typeof readAt === 'number' ? readAt : firstReadAt;
  return { id: account, name, authenticatedAt, loggedInAt, readAt: read };
}

/**
 * When each account last logged out here: all of its sessions that began before have ended. Kept in memory and in a
 * file for as long as such a session could live. If there are too many, the oldest are forgotten.
 */
export class LogOuts {
  readonly #folder: string;
  readonly #path: string;
  readonly #log: Log;
  /** In milliseconds since the epoch, the oldest first. */
  readonly #times = new Map<AccountId, number>();
  readonly #writing = new SerialQueue();
  #isSaved = true;

  /** @param options.folder the folder of the file */
  constructor(options: { readonly folder: string; readonly log: Log }) {
    this.#folder = options.folder;
    this.#path = join(options.folder, 'log-outs.json');
    this.#log = options.log;
  }

  /** Reads the file. If it is damaged, logs a warning and knows no log-out. */
  async load(): Promise<void> {
    try {
      const text = await ignoreMissing(readFile(this.#path, 'utf8'));
      for (const [id, time] of text === undefined ? [] : parseTimes(text)) this.#times.set(id, time);
    } catch (error) {
      const message = `${this.#path} cannot be read (${messageOf(error)}): sessions that a log-out ended may work again; to end all sessions, set a new BOTSHELF_SECRET, or without one delete cookie-secret in ${this.#folder}, and restart`;
      this.#log.warn({ err: error }, message);
    }
  }

  /** Whether the account of a session has logged out since it began. */
  hasEnded({ id, loggedInAt }: Session): boolean {
    return loggedInAt <= (this.#times.get(id) ?? Number.NEGATIVE_INFINITY);
  }

  /** Returns the time for a session that begins now: later than the last log-out of its account. */
  computeBegin(id: AccountId): number {
    return computeTimeAfter(this.#times.get(id));
  }

  /**
   * Ends a session and all that its account began before now, and resolves once that is durable. An ended session ends no
   * other one.
   * @throws {BotshelfError} unavailable; the sessions have ended, but only until the service stops
   */
  async add(session: Session): Promise<void> {
    const { id, loggedInAt } = session;
    if (!this.hasEnded(session)) {
      this.#times.delete(id);
      this.#times.set(id, Math.max(Date.now(), loggedInAt));
      const [oldest = id] = this.#times.keys();
      if (this.#times.size > maxAccounts) this.#times.delete(oldest);
      this.#isSaved = false;
    }
    await this.#writing.run(async () => await this.#save());
  }

  /** Writes all log-outs after which a session could still live, unless the last write had them. */
  async #save(): Promise<void> {
    if (this.#isSaved) return;
    const oldest = Date.now() - maxSessionMs;
    for (const [id, time] of this.#times) if (time < oldest) this.#times.delete(id);
    this.#isSaved = true;
    const options = { fsync: 'content and name', mode: 0o600 } as const;
    await writeAtomically(this.#path, JSON.stringify([...this.#times]), options).catch((error: unknown) => {
      this.#isSaved = false;
      throw toWriteError(error, this.#folder);
    });
  }
}

const maxAccounts = 10_000;

/** @throws {Error} if the text is no list of accounts and times */
function parseTimes(text: string): [AccountId, number][] {
  return (JSON.parse(text) as unknown[][]).map(([account, time]) => {
    const id = typeof account === 'string' ? parseAccountId(account) : undefined;
    if (id !== undefined && Number.isSafeInteger(time)) return [id, time as number];
    throw new TypeError('it is not a list of accounts and times');
  });
}
