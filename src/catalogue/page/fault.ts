/** A broken rule in a file, and its fix. */
export interface Fault {
  /** Relative to the catalogue's folder, with `/`. */
  readonly path: string;
  /** Counted from 1, in UTF-16 units as editors do; 1:1 for a fault of the whole file. */
  readonly line: number;
  readonly column: number;
  /** The stable name of the broken rule. */
  readonly rule: string;
  /** The problem, a colon, and the fix. */
  readonly message: string;
}

/** Returns a fault of the whole file. */
export function createFileFault(path: string, rule: string, message: string): Fault {
  return { path, line: 1, column: 1, rule, message };
}

/** Orders faults by path, then by line and column. */
export function compareFaults(a: Fault, b: Fault): number {
  if (a.path !== b.path) return a.path < b.path ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

/** Returns the position of `offset` in `text`, in lines and columns counted from 1. */
export function findPosition(text: string, offset: number): { line: number; column: number } {
  // A file has many faults, and may have a million lines: the next position is looked for from the last one.
  let { line, start } = last.text === text && last.start <= offset ? last : { line: 1, start: 0 };
  for (let end = text.indexOf('\n', start); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  last = { text, line, start };
  return { line, column: offset - start + 1 };
}

/** The last line that was found. */
let last = { text: '', line: 1, start: 0 };
