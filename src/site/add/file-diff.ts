import { structuredPatch } from 'diff';

/** A run of lines of a changed file, with lines around them that stay. */
export interface DiffPart {
  /** The number of the first line in the file before, from 1. */
  readonly start: number;
  readonly lines: readonly DiffLine[];
}

export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same';
  readonly text: string;
}

/** Compares two texts line by line; null where that takes too long. */
export function diffOf(before: string, after: string): readonly DiffPart[] | null {
  const patch = structuredPatch('', '', before, after, '', '', { context: 3, timeout: longest });
  return (
    patch?.hunks.map(({ oldStart, lines }) => ({
      start: oldStart,
      lines: lines.filter((line) => !line.startsWith('\\')).map(lineOf),
    })) ?? null
  );
}

/** Milliseconds. The comparison blocks every other request, and a change by a person takes less than one. */
const longest = 20;

function lineOf(line: string): DiffLine {
  const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same';
  return { kind, text: line.slice(1).replace(/\r$/, '') };
}
