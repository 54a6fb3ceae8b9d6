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

/** Compares two texts line by line; null where too many lines differ or it takes too long. */
export function diffLines(before: string, after: string): readonly DiffPart[] | null {
  const patch = structuredPatch('', '', before, after, '', '', {
    context: 3,
    timeout: maxDiffMs,
    maxEditLength: maxChangedLines,
  });
  return (
    patch?.hunks.map(({ oldStart, lines }) => ({
      start: oldStart,
      lines: lines.filter((line) => !line.startsWith('\\')).map(toDiffLine),
    })) ?? null
  );
}

/** The time grows with the square of the lines that differ, and blocks every other request. */
const maxChangedLines = 800;
const maxDiffMs = 200;

function toDiffLine(line: string): DiffLine {
  const kind = line.startsWith('+') ? 'added' : line.startsWith('-') ? 'removed' : 'same';
  return { kind, text: line.slice(1).replace(/\r$/, '') };
}
