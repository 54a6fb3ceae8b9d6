import { randomBytes, createHash, hkdfSync } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';
import { parseAccountId } from '../bot/commit-message.ts';
import { ignoreMissing } from '../lib/errors.ts';
import { writeAtomically } from '../lib/files.ts';
import type { Account } from './provider.ts';

/**
 * Reads the secret that seals cookies where BOTSHELF_SECRET is not set. Creates it at the first call, in `folder`, readable
 * only for the service's account.
 * @throws a system error
 */
export async function readSecretFile(folder: string): Promise<string> {
  const path = join(folder, 'cookie-secret');
  const secret = (await ignoreMissing(readFile(path, 'utf8')))?.trim() ?? '';
  return secret.length >= 32 ? secret : await make(path);
}

async function make(path: string): Promise<string> {
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
  readonly #keys: ReadonlyMap<string, Uint8Array>;
  readonly #newest: string;

  /** @param secrets newest first; at least one */
  constructor(secrets: readonly string[]) {
    const keys = secrets.map(deriveKey);
    const [newest] = keys;
    if (newest === undefined) throw new RangeError('a key ring has at least one secret');
    this.#keys = new Map(keys.map((key) => [computeKeyId(key), key]));
    this.#newest = computeKeyId(newest);
  }

  /** @param purpose a text sealed for one purpose does not open for another */
  async seal(purpose: string, value: unknown, seconds: number): Promise<string> {
    return await new EncryptJWT({ value })
      .setProtectedHeader({ ...algorithm, kid: this.#newest })
      .setAudience(purpose)
      .setIssuedAt()
      .setExpirationTime(`${seconds}s`)
      .encrypt(this.#key(this.#newest));
  }

  /** Returns undefined for a text that was not sealed with a known key for this purpose, or has expired. */
  async open(purpose: string, sealed: string): Promise<SealContents | undefined> {
    try {
      const { payload, protectedHeader } = await jwtDecrypt(sealed, ({ kid }) => this.#key(kid), {
        audience: purpose,
        keyManagementAlgorithms: [algorithm.alg],
        contentEncryptionAlgorithms: [algorithm.enc],
      });
      return {
        value: payload['value'],
        sealedAt: (payload.iat ?? 0) * 1000,
        newest: protectedHeader.kid === this.#newest,
      };
    } catch (error) {
      if (error instanceof errors.JOSEError) return undefined;
      throw error;
    }
  }

  /** @param name of any type where it comes from a cookie */
  #key(name: unknown): Uint8Array {
    const key = this.#keys.get(name as string);
    if (key === undefined) throw new errors.JWEInvalid('sealed by no key of this ring');
    return key;
  }
}

const algorithm = { alg: 'dir', enc: 'A256GCM' } as const;

function deriveKey(secret: string): Uint8Array {
  return new Uint8Array(hkdfSync('sha256', secret, '', 'botshelf cookies', 32));
}

function computeKeyId(key: Uint8Array): string {
  return createHash('sha256').update(key).digest('base64url').slice(0, 8);
}

/** Who is logged in with a browser. Kept sealed in a cookie of that browser, not in the service. */
export interface Session extends Account {
  /** Milliseconds since the epoch. */
  readonly loggedInAt: number;
}

/** A text for a cookie, and its lifetime in seconds. */
export interface CookieText {
  readonly text: string;
  readonly seconds: number;
}

/** Sessions. They end a week after the last use, and a month after the login at the latest. */
export class Sessions {
  readonly #keys: KeyRing;
  readonly #purpose: string;

  /** @param issuer the provider; sessions of another provider do not open */
  constructor(keys: KeyRing, issuer: string) {
    this.#keys = keys;
    this.#purpose = `session of ${issuer}`;
  }

  async begin(account: Account): Promise<CookieText> {
    return await this.#seal({ ...account, loggedInAt: Date.now() });
  }

  /** Opens the session in a cookie, with its renewal when one is due. Returns undefined for an invalid or expired one. */
  async open(
    text: string,
  ): Promise<{ readonly session: Session; readonly renewal: CookieText | undefined } | undefined> {
    const opened = await this.#keys.open(this.#purpose, text);
    if (opened === undefined) return undefined;
    const session = parseSession(opened.value);
    if (session === undefined) return undefined;
    const due = !opened.newest || Date.now() - opened.sealedAt > renewAfter;
    return { session, renewal: due ? await this.#seal(session) : undefined };
  }

  async #seal(session: Session): Promise<CookieText> {
    const seconds = Math.min(idleSeconds, countSecondsLeft(session));
    return { text: await this.#keys.seal(this.#purpose, session, seconds), seconds };
  }
}

function countSecondsLeft({ loggedInAt }: Session): number {
  return Math.floor((loggedInAt - Date.now()) / 1000) + maxSessionSeconds;
}

/** Whether the provider authenticated the person within the last ten minutes. */
export function isFresh({ authenticatedAt }: Pick<Session, 'authenticatedAt'>): boolean {
  return Date.now() - authenticatedAt < tenMinutes;
}

const tenMinutes = 600_000;
const idleSeconds = 7 * 86_400;
const maxSessionSeconds = 30 * 86_400;

/** Milliseconds. A new cookie in every response would be too many. */
const renewAfter = 86_400_000;

function parseSession(value: unknown): Session | undefined {
  const { id, name, authenticatedAt, loggedInAt } = (value ?? {}) as Readonly<Record<string, unknown>>;
  const account = typeof id === 'string' ? parseAccountId(id) : undefined;
  const hasTimes = typeof authenticatedAt === 'number' && typeof loggedInAt === 'number';
  if (account === undefined || typeof name !== 'string' || !hasTimes) return undefined;
  return { id: account, name, authenticatedAt, loggedInAt };
}
