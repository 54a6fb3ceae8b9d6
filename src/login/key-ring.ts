import { createHash, hkdfSync } from 'node:crypto';
import { EncryptJWT, errors, jwtDecrypt } from 'jose';

/** The contents of a sealed text. */
export interface SealContents {
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
