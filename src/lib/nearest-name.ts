import { damerauDistance } from './damerau.ts';

/**
 * Returns the one of `names` that is most like `name`: with the fewest letters to add, remove, replace or swap. Case and
 * punctuation do not count. Undefined when each differs in more than `most` letters.
 */
export function nearestName(name: string, names: Iterable<string>, most = Infinity): string | undefined {
  let nearest: string | undefined;
  let least = most;
  for (const candidate of names) {
    const differences = damerauDistance(lettersOf(name), lettersOf(candidate), longestName);
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
