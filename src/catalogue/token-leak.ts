import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { asError, type Finding } from './check.ts';
import { codeOf } from '../system-error.ts';

/**
 * The first thing in a file that looks like a token. What is no regular file, or has more than `largest`
 * bytes, is not looked through. Memory stays bounded.
 */
export function findingsOfLeak(root: string, path: string, largest: number): Finding[] {
  let descriptor: number;
  try {
    descriptor = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return [];
  }
  try {
    const stat = fstatSync(descriptor);
    const place = stat.isFile() && stat.size <= largest ? placeOfToken(descriptor) : undefined;
    return place ? [asError({ path, ...place, rule: 'token', message })] : [];
  } finally {
    closeSync(descriptor);
  }
}

const message =
  'this looks like a bot token: remove it and make a new one (botshelf token, or the Token button), as others may have read it';

const prefix = 'bsh_';

/** The prefix, 256 bits and a checksum, in base62. */
const token = /bsh_[0-9A-Za-z]{49}(?![0-9A-Za-z])/;

/** A token may stand across two pieces: the last bytes of one, more than a token has, are looked at again with the next. */
const overlap = 64;

const piece = Buffer.allocUnsafeSlow(1024 * 1024);

function placeOfToken(descriptor: number): TextPlace | undefined {
  let line = 1;
  let kept = 0;
  /** How much of the line is in earlier pieces. */
  let column = 1;
  for (;;) {
    const read = readSync(descriptor, piece, kept, piece.length - kept, null);
    const length = kept + read;
    const bytes = piece.subarray(0, length);
    const at = bytes.includes(prefix) ? token.exec(bytes.toString('latin1'))?.index : undefined;
    const isCutOff = at !== undefined && at + overlap > length && read > 0;
    if (at !== undefined && !isCutOff) return placeAfter({ line, column }, bytes.subarray(0, at));
    if (read === 0) return undefined;
    kept = Math.min(overlap, length);
    ({ line, column } = placeAfter({ line, column }, bytes.subarray(0, length - kept)));
    piece.copyWithin(0, length - kept, length);
  }
}

interface TextPlace {
  readonly line: number;
  readonly column: number;
}

function placeAfter({ line, column }: TextPlace, bytes: Buffer): TextPlace {
  const start = bytes.lastIndexOf(newline) + 1;
  const rest = bytes.toString('utf8', start).length;
  return { line: line + newlinesIn(bytes), column: start > 0 ? rest + 1 : column + rest };
}

const newline = 0x0a;

function newlinesIn(bytes: Buffer): number {
  let count = 0;
  for (let at = bytes.indexOf(newline); at !== -1; at = bytes.indexOf(newline, at + 1)) count += 1;
  return count;
}
