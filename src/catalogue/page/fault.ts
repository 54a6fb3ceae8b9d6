/** A broken rule in a file, and what to do about it. */
export interface Fault {
  /** Relative to the catalogue's folder, with `/`. */
  readonly path: string;
  /** Counted from 1, in UTF-16 units as editors do; 1:1 where the fault is in the file as a whole. */
  readonly line: number;
  readonly column: number;
  /** The rule's stable name. */
  readonly rule: string;
  /** The problem, a colon, and the fix. */
  readonly message: string;
}

/** Faults of one kind that are reported of a file at once. */
export const maxFaults = 100;

/** Returns a fault of a file as a whole. */
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
  let line = 1;
  let start = 0;
  for (let end = text.indexOf('\n'); end !== -1 && end < offset; end = text.indexOf('\n', start)) {
    line += 1;
    start = end + 1;
  }
  return { line, column: offset - start + 1 };
}
