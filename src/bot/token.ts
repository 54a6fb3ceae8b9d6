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
  return timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

const prefix = 'bsh_';
const bodyLength = 43;
const checksumLength = 6;
const digits = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

function computeChecksum(body: string): string {
  return toBase62(BigInt(crc32(body)), checksumLength);
}

function toBase62(value: bigint, length: number): string {
  let text = '';
  for (let rest = value; text.length < length; rest /= 62n) text = digits.charAt(Number(rest % 62n)) + text;
  return text;
}

/** A line and column of a text, counted from 1; columns in UTF-16 units. */
export interface TextPlace {
  readonly line: number;
  readonly column: number;
}

export const tokenRule = 'token';

/** Whether a text has what looks like a token. */
export function holdsToken(text: string): boolean {
  return token.test(text);
}

/** Returns the text with all but the first characters of what looks like a token removed, so that it can be shown. */
export function maskTokens(text: string): string {
  return text.replaceAll(new RegExp(token, 'g'), `${prefix}…`);
}

/** Finds the first text that looks like a token in bytes that come piece by piece. Keeps only a few of them. */
export class TokenSearch {
  #line = 1;
  #column = 1;
  #rest = Buffer.alloc(0);
  #found: TextPlace | undefined;

  push(piece: Buffer): void {
    if (!this.#found) this.#search(this.#rest.length > 0 ? Buffer.concat([this.#rest, piece]) : piece, false);
  }

  /** Ends the search after the last piece. Returns the place of the first token; undefined without one. */
  end(): TextPlace | undefined {
    if (!this.#found) this.#search(this.#rest, true);
    return this.#found;
  }

  #search(bytes: Buffer, whole: boolean): void {
    const at = bytes.includes(prefix) ? token.exec(bytes.toString('latin1'))?.index : undefined;
    if (at !== undefined && (whole || at + overlapBytes <= bytes.length)) {
      this.#advance(bytes.subarray(0, at));
      this.#found = { line: this.#line, column: this.#column };
      return;
    }
    const done = Math.max(0, bytes.length - overlapBytes);
    this.#advance(bytes.subarray(0, done));
    this.#rest = Buffer.from(bytes.subarray(done));
  }

  #advance(bytes: Buffer): void {
    const start = bytes.lastIndexOf('\n') + 1;
    const rest = bytes.toString('utf8', start).length;
    this.#line += bytes.toString('latin1').split('\n').length - 1;
    this.#column = start > 0 ? rest + 1 : this.#column + rest;
  }
}

/** The prefix, then 256 bits and a checksum in base62. */
const token = /bsh_[0-9A-Za-z]{49}(?![0-9A-Za-z])/;

/** A token may be across two pieces: the last bytes of one, more than a token has, are searched again with the next. */
const overlapBytes = 64;
