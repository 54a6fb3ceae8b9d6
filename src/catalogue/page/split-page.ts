import type { TextFault } from './front-matter.ts';

/** Finds an unresolved merge conflict: its three kinds of marker lines, in order. */
export function findConflict(text: string): TextFault | undefined {
  const offset = findLine(text, '<<<<<<< ', 0);
  const middle = findLine(text, '=======', offset);
  if (findLine(text, '>>>>>>> ', middle) === -1) return undefined;
  return createTextFault(
    offset,
    'merge-conflict',
    'a merge conflict begins here: resolve it and remove the markers',
  );
}

/** Returns the offsets at which the front matter of a page file begins and ends, or why it has none. */
export function splitPage(text: string): { readonly start: number; readonly end: number } | TextFault {
  const opener = /^---(?:json)?\r?\n/.exec(text)?.[0];
  if (opener === undefined) return createTextFault(0, 'opener', describeOpener(text));
  const newline = text.indexOf('\n---', opener.length - 1);
  if (newline === -1) {
    return createTextFault(0, 'closer', 'the front matter has no end: put a line --- after its last }');
  }
  if (!/^---(?:\r?\n|\r?$)/.test(text.slice(newline + 1, newline + 6))) {
    const message = 'this line ends the front matter but is not ---: write --- alone on it';
    return createTextFault(newline + 1, 'closer', message);
  }
  const end = newline + 1;
  const blank = longBlank.exec(text.slice(opener.length, end));
  if (blank) {
    const message = 'more than 200 blank characters in a row: remove them';
    return createTextFault(opener.length + blank.index, 'blank-run', message);
  }
  return { start: opener.length, end: Math.max(end, opener.length) };
}

/** Returns the offset of the next line that begins with `start`; -1 when there is none, or when `from` is -1. */
function findLine(text: string, start: string, from: number): number {
  if (from === -1 || text.startsWith(start, from)) return from;
  const newline = text.indexOf(`\n${start}`, from);
  return newline === -1 ? -1 : newline + 1;
}

/** gray-matter takes quadratic time over long runs of blanks in front matter. */
const longBlank = /\s{201}/;

function describeOpener(text: string): string {
  if (text.startsWith('<<<<<<<'))
    return 'the file begins with a merge conflict: resolve it and remove the markers';
  const line = text.slice(0, 40).split(/\r?\n/, 1)[0] ?? '';
  return line.startsWith('---')
    ? `the first line is ${JSON.stringify(line)}: write --- alone, the front matter is JSON`
    : 'the file does not begin with front matter: make its first line ---';
}

function createTextFault(offset: number, rule: string, message: string): TextFault {
  return { offset, rule, message };
}
