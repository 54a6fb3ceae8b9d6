import { defaultWords } from '../test/support/category-words.ts';
import { setTimeout as rest } from 'node:timers/promises';
import { Catalogue } from '../src/catalogue/catalogue.ts';
import { BotSearch } from '../src/catalogue/search/bot-search.ts';
import { silentLog } from '../src/log.ts';
import { languages } from './languages.ts';
import { sendLoad } from './load.ts';
import { Random } from './random.ts';
import { getBot, type LoadRequest, send } from './request.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { percentile } from './statistics.ts';

/** Searches: building the index, one query, a typo, and a hundred a second beside reads. */
export async function* search(stage: Stage): AsyncGenerator<Row> {
  yield* buildIndex(stage);
  await using service = await startWholeService(stage);
  const { address } = service;
  const random = new Random(2);
  await send(address, searchFor('first'));
  // The pages are indexed behind it.
  await rest(secondsOfPages * 1000);
  const timeOf = async (request: LoadRequest): Promise<number> => {
    const sent = performance.now();
    await send(address, request);
    return performance.now() - sent;
  };
  const timesOf = async (query: () => string, count: number): Promise<number[]> => {
    const times: number[] = [];
    for (let i = 0; i < count; i++) times.push(await timeOf(searchFor(query())));
    return times;
  };
  await timesOf(() => someWords(random), 100);
  const queries = await timesOf(() => someWords(random), 500);
  yield latencyRow('one search', queries);
  yield latencyRow('one search with a typo', await timesOf(() => typo(random), 200));

  const reads = stage.bots.slice(0, 1000).map((bot) => getBot(bot));
  const read = async (): Promise<number> =>
    (await sendLoad({ address, connections: 32, seconds, requests: reads })).rate;
  await read();
  const alone = await read();
  const sent: Promise<number>[] = [];
  const reading = read();
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    sent.push(timeOf(searchFor(someWords(random))));
    await rest(1000 / searchesASecond);
  }
  const beside = await reading;
  const times = await Promise.all(sent);
  yield latencyRow(`${perSecond(times.length / seconds)} searches beside reads`, times, 100);
  yield {
    name: 'reads beside these searches',
    measured: perSecond(beside),
    peer: `alone ${perSecond(alone)}`,
    ratio: beside / alone,
    goal: '≥ 0.5 × alone',
    met: beside / alone >= 0.5,
  };
}

/** How long the index takes to build, and what it takes up, in this process. */
async function* buildIndex({ catalogue: root }: Stage): AsyncGenerator<Row> {
  const catalogue = new Catalogue({ root, log: silentLog, snapshot: null });
  await catalogue.load();
  await catalogue.unpacked();
  catalogue.bots.all();
  const before = megabytes();
  const index = new BotSearch(catalogue.bots, () => {}, defaultWords);
  const started = performance.now();
  await index.update();
  const texts = (performance.now() - started) / 1000;
  const textsMegabytes = megabytes() - before;
  await index.complete();
  const pages = (performance.now() - started) / 1000;
  const pagesMegabytes = megabytes() - before;
  index.close();
  await catalogue.close();
  yield {
    name: 'search index, built',
    measured: `${texts.toFixed(1)} s, with pages ${pages.toFixed(1)} s`,
    goal: '≤ 10 s without pages',
    met: texts <= 10,
  };
  yield {
    name: 'search index, memory',
    measured: `${textsMegabytes.toFixed(0)} MB, with pages ${pagesMegabytes.toFixed(0)} MB`,
    goal: '≤ 20 MB without pages',
    met: textsMegabytes <= 20,
  };
}

function megabytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

function latencyRow(name: string, times: readonly number[], most = 15): Row {
  const p99 = percentile(times, 0.99);
  return {
    name: `${name}, p50 and p99`,
    measured: `${milliseconds(percentile(times, 0.5))}, ${milliseconds(p99)}`,
    goal: `p99 ≤ ${most} ms`,
    met: p99 <= most,
  };
}

function searchFor(text: string): LoadRequest {
  return {
    method: 'GET',
    path: `/api/v2/bots?nsfw=false&limit=24&q=${encodeURIComponent(text)}`,
    headers: {},
  };
}

/** One to three words, as often as they are used. */
function someWords(random: Random): string {
  const { words } = random.pick(languages());
  return Array.from({ length: random.integer(1, 3) }, () => words.draw(random)).join(' ');
}

/** A word with two letters swapped. */
function typo(random: Random): string {
  const [language] = languages();
  const word = random.pick((language?.inventions ?? []).filter(({ length }) => length > 6));
  const place = random.integer(1, word.length - 3);
  return `${word.slice(0, place)}${word[place + 1]}${word[place]}${word.slice(place + 2)}`;
}

const seconds = 10;
const searchesASecond = 100;
const secondsOfPages = 60;
