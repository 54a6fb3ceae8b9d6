import { computeDistance } from './damerau.ts';

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
