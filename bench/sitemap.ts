import { getBot, send } from './request.ts';
import { milliseconds, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';

/** The sitemap of all bots as a crawler first requests it, and reads of bots at the same time. */
export async function* sitemap(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const { address } = service;
  const reads = stage.bots.slice(0, 1000).map((bot) => getBot(bot));
  for (const read of reads) await send(address, read);

  const making = timeOf(async () => {
    const response = await fetch(`${address}/sitemap.xml`);
    if (!response.ok) throw new Error(`/sitemap.xml has status ${response.status}`);
    await response.arrayBuffer();
  });
  const made = new AbortController();
  const end = (): void => made.abort();
  making.then(end, end);
  let longest = 0;
  for (let i = 0; !made.signal.aborted; i = (i + 1) % reads.length)
    for (const read of reads.slice(i, i + 1))
      longest = Math.max(longest, await timeOf(async () => await send(address, read)));
  const time = await making;
  yield {
    name: 'sitemap, first request',
    measured: milliseconds(time),
    goal: '≤ 2,000 ms',
    met: time <= 2000,
  };
  const met = longest <= 50;
  yield { name: 'reads beside it, longest', measured: milliseconds(longest), goal: '≤ 50 ms', met };
}

async function timeOf(work: () => Promise<unknown>): Promise<number> {
  const start = performance.now();
  await work();
  return performance.now() - start;
}
