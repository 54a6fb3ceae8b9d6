/**
 * The number of letters to add, remove, replace or swap with the next one to make `b` of `a`; `most + 1` where it
 * would be more than `maxDistance`.
 */
export function computeDistance(a: string, b: string, maxDistance: number): number {
  if (Math.abs(a.length - b.length) > maxDistance) return maxDistance + 1;
  let [beforeLast, last, row] = rows;
  for (let j = 0; j <= b.length; j++) last[j] = j;
  for (let i = 1; i <= a.length; i++) {
    const letter = a.charCodeAt(i - 1);
    // Further from the diagonal the distance is more than `maxDistance`.
    const from = Math.max(1, i - maxDistance);
    const to = Math.min(b.length, i + maxDistance);
    let rowMin = i;
    row[from - 1] = from === 1 ? i : maxDistance + 1;
    for (let j = from; j <= to; j++) {
      const other = b.charCodeAt(j - 1);
      const above = j === i + maxDistance ? maxDistance : (last[j] ?? 0);
      let distance = Math.min(above, row[j - 1] ?? 0, (last[j - 1] ?? 0) - (letter === other ? 1 : 0)) + 1;
      if (i > 1 && j > 1 && letter === b.charCodeAt(j - 2) && a.charCodeAt(i - 2) === other)
        distance = Math.min(distance, (beforeLast[j - 2] ?? 0) + 1);
      row[j] = distance;
      rowMin = Math.min(rowMin, distance);
    }
    if (rowMin > maxDistance) return maxDistance + 1;
    [beforeLast, last, row] = [last, row, beforeLast];
  }
  return Math.min(last[b.length] ?? 0, maxDistance + 1);
}

/** Reused by every call, as a search with a typo makes thousands of calls. */
const rows: readonly [number[], number[], number[]] = [[], [], []];
