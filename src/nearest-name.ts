/**
 * Returns the one of `names` that is most like `name`: with the fewest letters to add, remove, replace or swap. Case and
 * punctuation do not count. Undefined when each differs in more than `most` letters.
 */
export function nearestName(name: string, names: Iterable<string>, most = Infinity): string | undefined {
  let nearest: string | undefined;
  let least = most;
  for (const candidate of names) {
    const differences = distance(lettersOf(name), lettersOf(candidate));
    if (differences > least || (differences === least && nearest !== undefined)) continue;
    nearest = candidate;
    least = differences;
  }
  return nearest;
}

function lettersOf(name: string): string {
  return name
    .toLowerCase()
    .replaceAll(/[^a-z]/g, '')
    .slice(0, longestName);
}

/** The time to compare two names grows with the product of their lengths. */
const longestName = 60;

/** Returns how many letters have to be added, removed, replaced or swapped with their neighbour. */
function distance(from: string, to: string): number {
  let before: number[] = [];
  let row = Array.from({ length: to.length + 1 }, (_, i) => i);
  for (let i = 0; i < from.length; i++) {
    const next = [i + 1];
    for (let j = 0; j < to.length; j++) {
      const replaced = (row[j] ?? 0) + Number(from[i] !== to[j]);
      const isSwapped = i > 0 && j > 0 && from[i] === to[j - 1] && from[i - 1] === to[j];
      const swapped = isSwapped ? (before[j - 1] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, (row[j + 1] ?? 0) + 1, (next[j] ?? 0) + 1, swapped));
    }
    [before, row] = [row, next];
  }
  return row.at(-1) ?? 0;
}
