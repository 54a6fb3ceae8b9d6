import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { join } from 'node:path';
import { codeOf } from '../system-error.ts';
import { type TextPlace, TokenSearch } from './token-search.ts';

/** The result of searching a file on disk. */
export type DiskFinding = { readonly leak: TextPlace } | 'too large' | undefined;

/**
 * Searches a file on disk, piece by piece, for what looks like a token. A file of more than `largest` bytes is not read.
 * Returns undefined where nothing is found, and for anything but a regular file.
 */
export function searchOnDisk(root: string, path: string, largest: number): DiskFinding {
  let descriptor: number;
  try {
    descriptor = openSync(join(root, path), constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch (error) {
    if (codeOf(error) === undefined) throw error;
    return undefined;
  }
  try {
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return undefined;
    if (stat.size > largest) return 'too large';
    const leak = placeOfToken(descriptor);
    return leak && { leak };
  } finally {
    closeSync(descriptor);
  }
}

const piece = Buffer.allocUnsafeSlow(1024 * 1024);

function placeOfToken(descriptor: number): TextPlace | undefined {
  const search = new TokenSearch();
  for (;;) {
    const read = readSync(descriptor, piece, 0, piece.length, null);
    if (read === 0) return search.end();
    search.push(piece.subarray(0, read));
  }
}
