/** Searches sorted items in halves: returns the index of the first item for which `isBefore` is false, or the length. */
export function findFirstPlace<T>(sorted: ArrayLike<T>, isBefore: (item: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(sorted[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}
