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

/** Returns the postings of a word that another word follows at a distance. Both inputs are in ascending order. */
export function findFollowed(first: Uint32Array, second: Uint32Array, distance: number): Uint32Array {
  const followed: number[] = [];
  for (let i = 0, next = 0; i < first.length && next < second.length; i++) {
    const wanted = (first[i] ?? 0) + distance;
    while ((second[next] ?? Infinity) < wanted) next++;
    if (second[next] === wanted) followed.push(first[i] ?? 0);
  }
  return new Uint32Array(followed);
}

/** The stored value of a share of 1. */
export const shareOfOne = 100;

/** The last place of a field; later words share it. */
export const maxPlace = 511;
