import { isUtf8 } from 'node:buffer';
import { createReadStream } from 'node:fs';
import { UserError } from '../lib/errors.ts';

/** A line of a text file. */
export interface SourceLine {
  /** Counted from 1. */
  readonly number: number;
  /** Without its end; of a line that is too long, nothing. */
  readonly text: string;
  /** Empty at the end of the file. */
  readonly end: string;
  /** Why the text cannot be used. */
  readonly fault: string | undefined;
}

/** The largest record, in bytes: a line of an export has all pages of a bot. */
export const maxRecordLength = 16 * 1024 * 1024;

/**
 * Reads the lines of a file in UTF-8, or in UTF-16 if it begins with a byte order mark. LF, CRLF and CR end a line.
 * @throws {UserError} for faulty UTF-16
 */
export async function* readLines(path: string): AsyncGenerator<SourceLine> {
  // A character for each byte of UTF-8, so that the characters of a line are decoded together.
  let [line, number, isLong, heldBack] = ['', 0, false, ''];
  const finish = (end: string): SourceLine => {
    const bytes = Buffer.from(line, 'latin1');
    const text = bytes.toString().replace(number++ === 0 ? /^\uFEFF/ : /$^/, '');
    const fault = isLong ? longLineFault : findTextFault(bytes);
    [line, isLong] = ['', false];
    return { number, text, end, fault };
  };
  for await (const piece of readPieces(path)) {
    const bytes = heldBack + piece;
    // LF may follow it.
    heldBack = bytes.endsWith('\r') && piece !== '' ? '\r' : '';
    const parts = bytes.slice(0, bytes.length - heldBack.length).split(/(\r\n|\n|\r)/);
    for (let i = 0; i < parts.length; i += 2) {
      line += parts[i];
      isLong ||= line.length > maxRecordLength;
      if (isLong) line = '';
      const end = parts[i + 1];
      if (end !== undefined) yield finish(end);
    }
  }
  if (line !== '' || isLong) yield finish('');
}

/** Reads a text that is decoded as lines are. @throws {Error} for a text that cannot be decoded */
export function decodeText(bytes: Buffer): string {
  const encoding = findUtf16(bytes);
  if (encoding !== undefined) return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  const fault = findTextFault(bytes);
  if (fault !== undefined) throw new Error(fault);
  return bytes.toString().replace(/^\uFEFF/, '');
}

/** Yields the bytes of a file in UTF-8 as Latin-1, and an empty text at the end. */
async function* readPieces(path: string): AsyncGenerator<string> {
  let decoder: TextDecoder | null | undefined;
  try {
    for await (const chunk of createReadStream(path) as AsyncIterable<Buffer>) {
      const encoding = decoder === undefined ? findUtf16(chunk) : undefined;
      decoder ??= encoding === undefined ? null : new TextDecoder(encoding, { fatal: true });
      const bytes = decoder === null ? chunk : Buffer.from(decoder.decode(chunk, { stream: true }));
      if (bytes.length > 0) yield bytes.toString('latin1');
    }
    decoder?.decode();
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new UserError(`${path} is not UTF-16, which its first bytes say: save it as UTF-8`);
  }
  yield '';
}

function findUtf16([first, second]: Buffer): 'utf-16le' | 'utf-16be' | undefined {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : undefined;
}

function findTextFault(bytes: Buffer): string | undefined {
  if (!isUtf8(bytes)) return 'this is not UTF-8: save the file as UTF-8';
  if (!bytes.includes(0)) return undefined;
  return 'this has NUL characters, as UTF-16 without a byte order mark has: save the file as UTF-8';
}

const longLineFault = `this has more than ${maxRecordLength} bytes: shorten it, or look for a line break that is missing`;
