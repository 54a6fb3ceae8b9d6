import { isDeepStrictEqual } from 'node:util';
import { diffArrays } from 'diff';

/**
 * Merges two changed versions of a text by line. Where both changed the same or adjacent lines, theirs stay, and
 * `isDropped` says that a change of ours was lost.
 */
export function mergeLines(
  base: string,
  ours: string,
  theirs: string,
): { readonly text: string; readonly isDropped: boolean } {
  const lines = splitLines(base);
  const [mine, others] = [findHunks(lines, splitLines(ours)), findHunks(lines, splitLines(theirs))];
  if (mine === undefined || others === undefined) return { text: theirs, isDropped: true };
  const alone = mine.filter((hunk) => !others.some(({ from, to }) => from <= hunk.to && hunk.from <= to));
  let end = 0;
  const parts = [...alone, ...others]
    .toSorted((a, b) => a.from - b.from)
    .flatMap(({ from, to, text }) => {
      const before = lines.slice(end, from);
      end = to;
      return [...before, text];
    });
  return {
    text: [...parts, ...lines.slice(end)].join(''),
    isDropped: mine.some((hunk) => ![...alone, ...others].some((other) => isDeepStrictEqual(other, hunk))),
  };
}

/** A text that replaces the lines from `from` up to `to`, exclusive, of another. */
interface Hunk {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/** Returns the changes between two texts; undefined if there are too many. */
function findHunks(before: readonly string[], after: readonly string[]): Hunk[] | undefined {
  const parts = diffArrays([...before], [...after], { maxEditLength: maxMergedLines });
  const hunks: Hunk[] = [];
  let at = 0;
  for (const { added, removed, value } of parts ?? []) {
    const last = hunks.at(-1);
    const text = added ? value.join('') : '';
    const to = at + (added ? 0 : value.length);
    if (last?.to === at && (added || removed)) hunks.splice(-1, 1, { ...last, to, text: last.text + text });
    else if (added || removed) hunks.push({ from: at, to, text });
    at = to;
  }
  return parts && hunks;
}

/** Returns the lines of a text, each with its end. */
function splitLines(text: string): readonly string[] {
  return text.match(/[^\n]*\n|[^\n]+$/g) ?? [];
}

/** Lines in which two texts may differ: the time grows with their square. */
const maxMergedLines = 800;
