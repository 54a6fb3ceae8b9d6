import { setTimeout as rest } from 'node:timers/promises';
import { sendLoad } from './load.ts';
import { type LoadRequest, postCount, send, timesOf } from './request.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { startService, untilIdle } from './service.ts';
import type { Stage } from './stage.ts';
import { median, percentile } from './statistics.ts';

/** The web pages, as a browser requests them. */
export async function* pages(stage: Stage): AsyncGenerator<Row> {
  await using service = await startService(stage);
  const { address } = service;
  const front = page('/');
  const [first = 0] = await timesOf(address, [front]);
  yield {
    name: 'front page, first after the start',
    measured: milliseconds(first),
    goal: '≤ 1 s',
    met: first <= 1000,
  };
  await untilIdle(service);
  const bots = stage.bots.slice(0, 1000).map(({ id }) => page(`/bots/${id}`));
  // The first pages of a process wait for its code to be compiled.
  await timesOf(
    address,
    stage.bots.slice(-pagesBefore).map(({ id }) => page(`/bots/${id}`)),
  );

  const slowest = percentile(await timesOf(address, bots), 0.99);
  yield {
    name: `bot page, cold, after ${pagesBefore} others, p99`,
    measured: milliseconds(slowest),
    goal: '≤ 15 ms',
    met: slowest <= 15,
  };
  yield await warm('bot pages, warm', address, bots);
  const bytes = await bytesOf(address, bots[0]?.path ?? '/');
  const kilobytes = `${(bytes / 1000).toFixed(1)} kB`;
  yield {
    name: 'bot page with its stylesheet, sent',
    measured: kilobytes,
    goal: '≤ 60 kB',
    met: bytes <= 60_000,
  };

  const besideCounts = await timesBesideCounts(stage, address, front);
  yield slow('front page while counts arrive, p99', percentile(besideCounts, 0.99));
  await rest(quietMinute);
  yield slow('front page, first after a count and a quiet minute', median(await timesOf(address, [front])));
  yield await warm('front page, warm', address, [front]);

  const lists = ['popular', 'newest', 'edited', 'name'].flatMap((sort) =>
    [1, 2, 3, 4, 5].map((number) => page(`/?sort=${sort}&page=${number}`)),
  );
  const times = await timesOf(address, lists);
  yield slow('page of a list, cold, median', median(times));
}

async function warm(name: string, address: string, requests: readonly LoadRequest[]): Promise<Row> {
  const rates: number[] = [];
  for (let round = 0; round < 5; round++)
    rates.push((await sendLoad({ address, connections: 32, seconds: 2, requests })).rate);
  const rate = median(rates);
  return { name, measured: perSecond(rate), goal: '≥ 10,000/s', met: rate >= 10_000 };
}

function slow(name: string, time: number): Row {
  return { name, measured: milliseconds(time), goal: '≤ 50 ms', met: time <= 50 };
}

/** Returns the milliseconds that each of 200 requests took, with a new count before each. */
async function timesBesideCounts({ bots }: Stage, address: string, request: LoadRequest): Promise<number[]> {
  const times: number[] = [];
  for (const bot of bots.slice(0, 200)) {
    await send(address, postCount(bot));
    await rest(50);
    times.push(...(await timesOf(address, [request])));
  }
  return times;
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

const pagesBefore = 50;

/** Milliseconds after which no list is shown that is out of date (`CurrentCache`). */
const quietMinute = 61_000;
