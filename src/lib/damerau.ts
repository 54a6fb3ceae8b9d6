/**
 * The number of letters to add, remove, replace or swap with the next one to make `b` of `a`; `most + 1` where it
 * would be more than `most`.
 */
export function damerauDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1;
  let [beforeLast, last, row] = rows;
  for (let j = 0; j <= b.length; j++) last[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const letter = a.charCodeAt(i - 1);
    // Further from the diagonal the distance is more than `most`.
    const from = Math.max(1, i - most);
    const to = Math.min(b.length, i + most);
    let least = i;
    row[from - 1] = from === 1 ? i : most + 1;
    for (let j = from; j <= to; j++) {
      const other = b.charCodeAt(j - 1);
      const above = j === i + most ? most : (last[j] ?? 0);
      let distance = Math.min(above, row[j - 1] ?? 0, (last[j - 1] ?? 0) - (letter === other ? 1 : 0)) + 1;
      if (i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other)
        distance = Math.min(distance, (beforeLast[j - 2] ?? 0) + 1);
      row[j] = distance;
      least = Math.min(least, distance);
    }
    if (least > most) return most + 1;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return Math.min(last[b.length] ?? 0, most + 1);
}

/** Reused by every call, as a search with a typo makes thousands of calls. */
const rows: readonly [number[], number[], number[]] = [[], [], []];
