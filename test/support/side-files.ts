/** The text of a profile. */
export function profile(keys: Readonly<Record<string, unknown>> = {}): string {
  return `${JSON.stringify({ name: 'Ada', ...keys }, null, 2)}\n`;
}

/** The text of a file of a collection. */
export function collection(keys: Readonly<Record<string, unknown>>, page = ''): string {
  const all = { title: 'For small servers', description: 'Bots that need no set-up.', ...keys };
  return `---\n${JSON.stringify(all, null, 2)}\n---\n\n${page}`;
}
