/** The part of a bot in which a word occurs. */
export const Field = { name: 0, description: 1, page: 2, commands: 3 } as const;
export type Field = (typeof Field)[keyof typeof Field];

/**
 * Returns the number of the bot of a posting. A posting is a number of 32 bits: 21 for the bot, 2 for the field, and 9
 * for the place of the word in the field. So the posting of the next word is one higher.
 */
export function botOf(posting: number): number {
  return posting >>> 11;
}

export function fieldOf(posting: number): Field {
  return ((posting >>> 9) & 3) as Field;
}

export function placeOf(posting: number): number {
  return posting & maxPlace;
}

/**
 * Returns the postings of a word that another word follows in the same field, at a distance from `min` to `max`. Both
 * inputs are in ascending order.
 */
export function findFollowed(first: Uint32Array, second: Uint32Array, min: number, max = min): Uint32Array {
  if (followed.length < first.length) followed = new Uint32Array(first.length);
  let [size, next] = [0, 0];
  for (let i = 0; i < first.length; i++) {
    const posting = first[i] ?? 0;
    while ((second[next] ?? Infinity) < posting + min) next++;
    const found = second[next];
    if (found === undefined) break;
    if (found <= posting + max && found >>> 9 === posting >>> 9) followed[size++] = posting;
  }
  return followed.slice(0, size);
}

/** Reused by every call, because few of many postings are followed. */
let followed = new Uint32Array();

/** Merges two lists of postings in ascending order. */
export function mergePostings(a: Uint32Array, b: Uint32Array): Uint32Array {
  if (a.length === 0 || b.length === 0) return a.length === 0 ? b : a;
  const merged = new Uint32Array(a.length + b.length);
  let [i, j] = [0, 0];
  while (i < a.length && j < b.length) {
    const [x, y] = [a[i] ?? 0, b[j] ?? 0];
    merged[i + j] = x < y ? x : y;
    if (x < y) i++;
    else j++;
  }
  merged.set(a.subarray(i), i + j);
  merged.set(b.subarray(j), i + j);
  return merged;
}

/** The stored value of a share of 1. */
export const shareOfOne = 100;

/** The last place of a field; later words share it. */
export const maxPlace = 511;
