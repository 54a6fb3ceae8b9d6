import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

declare const brand: unique symbol;

/**
 * The secret that a bot posts with: `bsh_`, 256 random bits in 43 base62 digits, and the CRC32 of all that in 6.
 * The checksum lets the service refuse junk without a look-up, and scanners recognise a leaked token.
 */
export type Token = string & { readonly [brand]: 'Token' };

/** The SHA-256 of a token, `sha256:` and 64 hex digits: the only part of it that is stored. */
export type TokenDigest = string & { readonly [brand]: 'TokenDigest' };

export function createToken(): Token {
  const body = `${prefix}${toBase62(BigInt(`0x${randomBytes(32).toString('hex')}`), bodyLength)}`;
  return `${body}${computeChecksum(body)}` as Token;
}

/** Returns `text`, without white space around it, as a token; undefined when it is not one. */
export function parseToken(text: string): Token | undefined {
  const token = text.trim();
  if (!/^bsh_[0-9A-Za-z]{49}$/.test(token)) return undefined;
  const end = prefix.length + bodyLength;
  return token.slice(end) === computeChecksum(token.slice(0, end)) ? (token as Token) : undefined;
}

export function computeDigest(token: Token): TokenDigest {
  return `sha256:${hash('sha256', token)}` as TokenDigest;
}

/** Whether two digests are the same, in constant time. */
export function isSameDigest(a: TokenDigest, b: TokenDigest): boolean {
  left.write(a, 'latin1');
  right.write(b, 'latin1');
  return timingSafeEqual(left, right);
}

/** Two digests that are compared. */
const [left, right] = [Buffer.alloc(71), Buffer.alloc(71)];

const prefix = 'bsh_';
const bodyLength = 43;
const checksumLength = 6;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function computeChecksum(body: string): string {
  let text = '';
  for (let rest = crc32(body); text.length < checksumLength; rest = Math.floor(rest / digits.length))
    text = digits.charAt(rest % digits.length) + text;
  return text;
}

function toBase62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text;
}
