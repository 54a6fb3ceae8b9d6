/** Returns a number with its noun in English, such as `1 file` or `2 faults`. */
export function formatCount(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}
