import { sendLoad } from './load.ts';
import { type LoadRequest, send } from './request.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median } from './statistics.ts';

/** The web pages, as a browser asks for them. */
export async function* pages(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const { address } = service;
  const bots = stage.bots.slice(0, 1000).map(({ id }) => page(`/bots/${id}`));
  for (const request of bots) await send(address, request);
  const rates: number[] = [];
  for (let round = 0; round < 5; round++) {
    rates.push((await sendLoad({ address, connections: 32, seconds: 2, requests: bots })).rate);
  }
  const rate = median(rates);
  yield { name: 'bot pages, warm', measured: perSecond(rate), goal: '≥ 10,000/s', met: rate >= 10_000 };

  const times: number[] = [];
  for (const sort of ['popular', 'newest', 'edited', 'name']) {
    for (let number = 1; number <= 5; number++) {
      const start = performance.now();
      await send(address, page(`/?sort=${sort}&page=${number}`));
      times.push(performance.now() - start);
    }
  }
  const time = median(times);
  yield { name: 'front page, cold', measured: milliseconds(time), goal: '≤ 50 ms', met: time <= 50 };
}

function page(path: string): LoadRequest {
  const headers = { Accept: 'text/html', 'Accept-Language': 'en-GB,en;q=0.9', 'Accept-Encoding': 'gzip, br' };
  return { method: 'GET', path, headers };
}
