/** The current count of each bot that has posted one. */
export async function countsOf(address: string): Promise<Map<string, number>> {
  const response = await fetch(`${address}/api/v2/counts`);
  const counts = Object.entries((await response.json()) as Record<string, { count: number }>);
  return new Map(counts.map(([id, { count }]) => [id, count]));
}
