/** The part of a bot that a word is in. */
export const Field = { name: 0, description: 1, page: 2, commands: 3 } as const;
export type Field = (typeof Field)[keyof typeof Field];

/**
 * Returns the bot of a posting, as its number. A posting is one number of 32 bits: the bot's number in 21, the field in 2,
 * and in 9 the place of the word in that field. So a word is right after another one where its posting is one more.
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

/** Returns the postings of a word that another one follows at a distance. Both are in ascending order. */
export function findFollowed(first: Uint32Array, second: Uint32Array, distance: number): Uint32Array {
  const followed: number[] = [];
  for (let i = 0, next = 0; i < first.length && next < second.length; i++) {
    const wanted = (first[i] ?? 0) + distance;
    while ((second[next] ?? Infinity) < wanted) next++;
    if (second[next] === wanted) followed.push(first[i] ?? 0);
  }
  return new Uint32Array(followed);
}

/** What a share of 1 is kept as. */
export const shareOfOne = 100;

/** Words behind this place of a field have the same one. */
export const maxPlace = 511;
