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

export function newToken(): Token {
  const body = `${prefix}${base62(BigInt(`0x${randomBytes(32).toString('hex')}`), bodyLength)}`;
  return `${body}${checksum(body)}` as Token;
}

/** Returns `text`, without white space around it, as a token; undefined when it is not one. */
export function parseToken(text: string): Token | undefined {
  const token = text.trim();
  if (!/^bsh_[0-9A-Za-z]{49}$/.test(token)) return undefined;
  const end = prefix.length + bodyLength;
  return token.slice(end) === checksum(token.slice(0, end)) ? (token as Token) : undefined;
}

export function tokenDigest(token: Token): TokenDigest {
  return `sha256:${hash('sha256', token)}` as TokenDigest;
}

/** Whether two digests are the same, in constant time. */
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
