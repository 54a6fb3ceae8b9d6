import { TimeSlice } from './time-slice.ts';

/** Returns a number with its noun in English, such as `1 file` or `2 faults`. */
export function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/**
 * Yields the lines of a text in Latin 1, those of `maxPieceBytes` together, so that its reader can pause. A longer line is cut
 * there, and only its beginning is yielded.
 */
export function* splitLines(content: Buffer): Generator<readonly string[]> {
  for (let start = 0; start < content.length;) {
    const limit = start + maxPieceBytes;
    const end = limit < content.length ? content.lastIndexOf('\n', limit - 1) + 1 : content.length;
    const isCut = end <= start;
    const lines = content.toString('latin1', start, isCut ? limit : end).split('\n');
    if (lines.at(-1) === '') lines.pop();
    yield lines;
    const next = isCut ? content.indexOf('\n', limit) + 1 : end;
    start = next === 0 ? content.length : next;
  }
}

const maxPieceBytes = 4096;

/** Returns how many characters a text has, as schemas count them: code points. Fast, because a client may send long ones. */
export function countCharacters(text: string): number {
  return text.replace(/[\uD800-\uDBFF][\uDC00-\uDFFF]/g, '_').length;
}

/** Returns a value as JSON for a message, shortened to 58 characters. */
export function quoteValue(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= 60) return text;
  return typeof value === 'string' ? `${text.slice(0, 56)}…"` : `${text.slice(0, 57)}…`;
}

/**
 * Escapes characters that are commands to a terminal, change the reading direction or are invisible, and `##[group]`,
 * which some CI run anywhere in a line. All text from outside is printed and logged this way. The escapes are those of
 * JSON, so a JSON document keeps its meaning. Line breaks stay.
 */
export function escapeControls(text: string): string {
  return text.replace(controls, toJsonEscape);
}

/** Escapes a text that is part of a line in the same way, and its line breaks, which could begin a forged line. */
export function escapeLine(text: string): string {
  return escapeControls(text).replaceAll('\n', toJsonEscape);
}

/** Returns a character as JSON escapes it: `\u` and four digits, twice beyond the first plane. */
export function toJsonEscape(character: string): string {
  return character
    .split('')
    .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .join('');
}

const controls = /(?!\n)[\p{Cc}\p{Default_Ignorable_Code_Point}\u2028\u2029]|#(?=#\w*\[)/gu;

/** Escapes a text or the value of an attribute. Removes the characters that XML has no way to write. */
export function escapeXml(text: string): string {
  return text.replace(forbidden, '').replace(/[&<>"\t\n\r]/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** With the flag `u`, half of a surrogate pair is a character of its own. */
const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;

/**
 * The number of letters to add, remove, replace or swap with the next one to make `b` of `a`; `maxDistance + 1` if it
 * is larger than `maxDistance`.
 */
export function computeDistance(a: string, b: string, maxDistance: number): number {
  if (Math.abs(a.length - b.length) > maxDistance) return maxDistance + 1;
  let [beforeLast, last, row] = rows;
  for (let j = 0; j <= b.length; j++) last[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const letter = a.charCodeAt(i - 1);
    // Further from the diagonal the distance is more than `maxDistance`.
    const from = Math.max(1, i - maxDistance);
    const to = Math.min(b.length, i + maxDistance);
    let rowMin = i;
    row[from - 1] = from === 1 ? i : maxDistance + 1;
    for (let j = from; j <= to; j++) {
      const other = b.charCodeAt(j - 1);
      const above = j === i + maxDistance ? maxDistance : (last[j] ?? 0);
      let distance = Math.min(above, row[j - 1] ?? 0, (last[j - 1] ?? 0) - (letter === other ? 1 : 0)) + 1;
      if (i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other)
        distance = Math.min(distance, (beforeLast[j - 2] ?? 0) + 1);
      row[j] = distance;
      rowMin = Math.min(rowMin, distance);
    }
    if (rowMin > maxDistance) return maxDistance + 1;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return Math.min(last[b.length] ?? 0, maxDistance + 1);
}

/** Reused by every call, because a search with a typo makes thousands of calls. */
const rows: readonly [number[], number[], number[]] = [[], [], []];

/**
 * Returns the one of `names` that is most like `name`: with the fewest letters to add, remove, replace or swap. Case and
 * punctuation do not count. Undefined when each differs in more than `maxDistance` letters.
 */
export function findNearestName(
  name: string,
  names: Iterable<string>,
  maxDistance = Infinity,
): string | undefined {
  let nearest: string | undefined;
  let minDistance = maxDistance;
  for (const candidate of names) {
    const differences = computeDistance(toLetters(name), toLetters(candidate), maxNameLength);
    if (differences > minDistance || (differences === minDistance && nearest !== undefined)) continue;
    nearest = candidate;
    minDistance = differences;
  }
  return nearest;
}

function toLetters(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .slice(0, maxNameLength);
}

/** The time to compare two names grows with the product of their lengths. */
const maxNameLength = 60;

/** Bytes that are produced piece by piece, any number of times. */
export interface Pieces {
  /** The approximate number of all bytes. */
  readonly bytes: number;
  read(): AsyncIterable<Buffer>;
}

/** Bytes of a piece: a good size for a socket. */
export const pieceSize = 64 * 1024;

/** Joins parts to pieces, one slice of time after the other. */
export async function* joinToPieces(parts: Iterable<Buffer> | AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  const slice = new TimeSlice();
  let piece: Buffer[] = [];
  let size = 0;
  for await (const part of parts) {
    if (slice.isOver) await slice.next();
    piece.push(part);
    size += part.length;
    if (size < pieceSize) continue;
    yield Buffer.concat(piece);
    [piece, size] = [[], 0];
  }
  yield Buffer.concat(piece);
}

/**
 * Folds differences that do not matter when words are compared: width and other compatible forms, case, marks on Latin,
 * Greek and Cyrillic letters, vowel marks of Arabic and Hebrew, and letters that people type as others. A mark of any
 * other script stays, because it changes the sound: ボ is not ホ. The Cyrillic й stays too: it is a letter of its own,
 * and stems depend on it.
 */
export function normalise(text: string): string {
  if (plain.test(text)) return text.toLowerCase();
  return text
    .normalize('NFKC')
    .toLowerCase()
    .normalize('NFD')
    .replace(marked, (all: string, letter: string) => (all === shortI ? all : letter))
    .normalize('NFC')
    .replace(replaced, (letter) => replacements.get(letter) ?? letter);
}

const plain = /^[\0-\x7f]*$/;
const marked = /([\p{sc=Latin}\p{sc=Greek}\p{sc=Cyrillic}\p{sc=Arabic}\p{sc=Hebrew}])\p{M}+/gu;
const shortI = 'й'.normalize('NFD');

/** Letters in pairs: the second replaces the first. */
const replacements = new Map(
  'ł l,ß ss,æ ae,œ oe,þ th,ð d,đ d,ø o,ħ h,ı i,ς σ,أ ا,إ ا,آ ا,ى ي,ة ه'
    .split(',')
    .map((pair) => pair.split(' ') as [string, string]),
);
const replaced = /[łßæœþðđøħıςأإآىة]/gu;
