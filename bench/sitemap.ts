import { setTimeout as rest } from 'node:timers/promises';
import { costOf } from '../test/support/process-cost.ts';
import { getBot, send, timesOf } from './request.ts';
import { milliseconds, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';

/** The sitemap of all bots as a crawler first requests it, and reads of bots at the same time. */
export async function* sitemap(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const { address, pid } = service;
  // The first list of all sorts the bots.
  await send(address, { method: 'GET', path: '/api/v2/bots?limit=1', headers: {} });

  const made = new AbortController();
  const making = costOf(pid, async () => {
    const response = await fetch(`${address}/sitemap.xml`);
    if (!response.ok) throw new Error(`/sitemap.xml has status ${response.status}`);
    await response.arrayBuffer();
  }).finally(() => made.abort());
  making.catch(() => {});
  let longest = 0;
  for (const bot of stage.bots) {
    if (made.signal.aborted) break;
    longest = Math.max(longest, ...(await timesOf(address, [getBot(bot)])));
    await rest(betweenReads);
  }
  const { cpu } = await making;
  yield {
    name: 'sitemap, CPU of its first request',
    measured: milliseconds(cpu),
    goal: '≤ 2,000 ms',
    met: cpu <= 2000,
  };
  const met = longest <= 50;
  yield { name: 'reads beside it, longest', measured: milliseconds(longest), goal: '≤ 50 ms', met };
}

/** Milliseconds, so that the reads themselves take little of the process. */
const betweenReads = 5;
