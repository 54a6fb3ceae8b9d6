import { hash, randomBytes, timingSafeEqual } from 'node:crypto';
import { crc32 } from 'node:zlib';

declare const brand: unique symbol;

/**
 * The secret a bot posts with: `bsh_`, 256 random bits in 43 base62 digits, and the CRC32 of all that in 6.
 * So junk is refused without a look-up, and a scanner that finds one knows what it has.
 */
export type Token = string & { readonly [brand]: 'Token' };

/** The SHA-256 of a token, `sha256:` and 64 hex digits: all that is ever kept of it. */
export type TokenDigest = string & { readonly [brand]: 'TokenDigest' };

/** A token nobody has had before. */
export function newToken(): Token {
  const body = `${prefix}${base62(BigInt(`0x${randomBytes(32).toString('hex')}`), bodyLength)}`;
  return `${body}${checksum(body)}` as Token;
}

/** The token that `text` is but for white space around it, or undefined when it is none. */
export function parseToken(text: string): Token | undefined {
  const token = text.trim();
  if (!/^bsh_[0-9A-Za-z]{49}$/.test(token)) return undefined;
  const end = prefix.length + bodyLength;
  return token.slice(end) === checksum(token.slice(0, end)) ? (token as Token) : undefined;
}

export function tokenDigest(token: Token): TokenDigest {
  return `sha256:${hash('sha256', token)}` as TokenDigest;
}

/** The digest that `text` is, or undefined when it is none. */
export function parseTokenDigest(text: string): TokenDigest | undefined {
  return /^sha256:[0-9a-f]{64}$/.test(text) ? (text as TokenDigest) : undefined;
}

/** Whether two digests are the same, in a time that tells nothing about where they differ. */
export function sameDigest(a: TokenDigest, b: TokenDigest): boolean {
  return timingSafeEqual(Buffer.from(a, 'latin1'), Buffer.from(b, 'latin1'));
}

const prefix = 'bsh_';
const bodyLength = 43;
const checksumLength = 6;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function checksum(body: string): string {
  return base62(BigInt(crc32(body)), checksumLength);
}

function base62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text;
}
