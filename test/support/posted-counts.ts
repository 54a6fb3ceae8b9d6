/** The present count of each bot. Counts are in no record; the cursor of a list in their order tells where it stands. */
export async function countsOf(address: string): Promise<Map<string, number>> {
  const counts = new Map<string, number>();
  let path: string | undefined = '/api/v2/bots?sort=-count&limit=1&fields=id';
  while (path !== undefined) {
    const response: Response = await fetch(address + path);
    const [bot] = (await response.json()) as { id: string }[];
    const next: string | undefined = response.headers.get('link')?.slice(1).split('>')[0];
    const cursor = next === undefined ? null : new URL(next).searchParams.get('after');
    const [value] =
      cursor === null ? [0] : (JSON.parse(Buffer.from(cursor, 'base64url').toString()) as [number]);
    if (bot) counts.set(bot.id, Math.max(0, value));
    path = next?.replace(/^https?:\/\/[^/]+/, '');
  }
  return counts;
}
