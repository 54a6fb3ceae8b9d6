/** Returns a value as JSON for a message, shortened to 58 characters. */
export function quoteValue(value: unknown): string {
  const text = JSON.stringify(value);
  if (text.length <= 60) return text;
  return typeof value === 'string' ? `${text.slice(0, 56)}…"` : `${text.slice(0, 57)}…`;
}
