import { setTimeout as rest } from 'node:timers/promises';
import { type LoadedServer, loadOf, type LoadRequest, postCount, send, timesOf } from './load.ts';
import { startService, untilIdle } from './processes.ts';
import { alternate, atMost, formatRate, median, milliseconds, percentile, type Row } from './rows.ts';
import type { Stage, StageBot } from './stage.ts';

/** The web pages, as a browser requests them. */
export async function* pages(stage: Stage): AsyncGenerator<Row> {
  await using service = await startService(stage);
  const { address } = service;
  const front = page('/');
  const [first = 0] = await timesOf(address, [front]);
  yield atMost('front page, first after the start', first, 1000, milliseconds);
  await untilIdle(service);
  const slowest = percentile(await timeColdPages(address, stage.bots), 0.99);
  yield atMost('bot page, cold, after 50 others, p99', slowest, 15, milliseconds);
  yield await warm('bot pages, warm', service, stage.bots.slice(0, 1000).map(toPage));
  const kilobytes = (await bytesOf(address, `/bots/${stage.bots[0]?.id}`)) / 1000;
  yield atMost('bot page with its stylesheet, sent', kilobytes, 60, (size) => `${size.toFixed(1)} kB`);

  const besideCounts: number[] = [];
  for (const bot of stage.bots.slice(0, 200)) {
    await send(address, postCount(bot));
    await rest(50);
    besideCounts.push(...(await timesOf(address, [front])));
  }
  yield atMost('front page while counts arrive, p99', percentile(besideCounts, 0.99), 50, milliseconds);
  // After a minute no list is shown that is out of date (`CurrentCache`).
  await rest(61_000);
  const [quiet = 0] = await timesOf(address, [front]);
  yield atMost('front page, first after a count and a quiet minute', quiet, 50, milliseconds);
  yield await warm('front page, warm', service, [front]);
  yield atMost('page of a list, cold, median', median(await timeListPages(address)), 50, milliseconds);
}

/** Returns the milliseconds of the pages of 1,000 bots, requested for the first time. */
export async function timeColdPages(address: string, bots: readonly StageBot[]): Promise<number[]> {
  // The first pages of a process wait for its code to be compiled.
  await timesOf(address, bots.slice(-50).map(toPage));
  return await timesOf(address, bots.slice(0, 1000).map(toPage));
}

function toPage({ id }: StageBot): LoadRequest {
  return page(`/bots/${id}`);
}

export async function timeListPages(address: string): Promise<number[]> {
  const pages = ['popular', 'newest', 'edited', 'name'].flatMap((sort) =>
    [1, 2, 3, 4, 5].map((number) => page(`/?sort=${sort}&page=${number}`)),
  );
  return await timesOf(address, pages);
}

async function warm(name: string, server: LoadedServer, requests: readonly LoadRequest[]): Promise<Row> {
  const { rounds } = await alternate({ rounds: loadOf(server, requests) });
  return { goal: `${name}: ≥ 10,000/s`, measured: formatRate(rounds), met: median(rounds.rate) >= 10_000 };
}

/** Returns the bytes of a page and of the stylesheet that it links to, as they are sent. */
async function bytesOf(address: string, path: string): Promise<number> {
  const html = await send(address, { method: 'GET', path, headers: { Accept: 'text/html' } });
  const stylesheet = /<link rel="stylesheet" href="([^"]+)"/.exec(html.body.toString())?.[1];
  if (stylesheet === undefined) throw new Error(`${path} has no stylesheet`);
  const sent = [path, new URL(stylesheet, address).pathname].map(
    async (file) => await send(address, page(file)),
  );
  return (await Promise.all(sent)).reduce((sum, { body }) => sum + body.length, 0);
}

function page(path: string): LoadRequest {
  const headers = {
    Accept: 'text/html,*/*;q=0.8',
    'Accept-Language': 'en-GB,en;q=0.9',
    'Accept-Encoding': 'gzip, br',
  };
  return { method: 'GET', path, headers };
}
