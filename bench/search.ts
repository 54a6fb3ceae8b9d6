import { defaultNeeds } from '../test/support/needs.ts';
import { noCounts } from '../test/support/counts.ts';
import { setTimeout as rest } from 'node:timers/promises';
import { Catalogue } from '../src/catalogue/store/catalogue.ts';
import { BotLists } from '../src/catalogue/lists/bot-lists.ts';
import { SortedIndexes } from '../src/catalogue/lists/sorted-indexes.ts';
import { BotSearch } from '../src/catalogue/search/bot-search.ts';
import { silentLog } from '../src/lib/log.ts';
import { sendLoad } from './load.ts';
import { searchFor, someWords, typo } from './queries.ts';
import { Random } from './random.ts';
import { getBot, timesOf } from './request.ts';
import { milliseconds, perSecond, plainRow, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { percentile } from './statistics.ts';

/** Searches: building the index, one query, a typo, and a hundred a second beside reads. */
export async function* search(stage: Stage): AsyncGenerator<Row> {
  yield* buildIndex(stage);
  await using service = await startWholeService(stage);
  const { address } = service;
  const random = new Random(2);
  const timesOfSearches = async (count: number, query: () => string): Promise<number[]> =>
    await timesOf(
      address,
      Array.from({ length: count }, () => searchFor(query())),
    );
  await timesOfSearches(100, () => someWords(random));
  yield latencyRow('one search', await timesOfSearches(500, () => someWords(random)));
  yield latencyRow('one search with a typo', await timesOfSearches(200, () => typo(random)));

  const reads = stage.bots.slice(0, 1000).map((bot) => getBot(bot));
  const read = async (): Promise<number> =>
    (await sendLoad({ address, connections: 32, seconds, requests: reads })).rate;
  await read();
  const alone = await read();
  const sent: Promise<number[]>[] = [];
  const reading = read();
  const started = performance.now();
  for (let number = 0; number < seconds * searchesASecond; number++) {
    await rest(started + (number * 1000) / searchesASecond - performance.now());
    sent.push(timesOf(address, [searchFor(someWords(random))]));
  }
  const beside = await reading;
  const times = (await Promise.all(sent)).flat();
  const rate = times.length / ((performance.now() - started) / 1000);
  yield latencyRow(`${perSecond(rate)} searches beside reads`, times, 100);
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
  catalogue.store.bots.all();
  const before = megabytes();
  const cpuBefore = cpu();
  const index = new BotSearch(catalogue.store.bots, () => {}, defaultNeeds);
  const started = performance.now();
  await index.update();
  const texts = (performance.now() - started) / 1000;
  const textsCpu = (cpu() - cpuBefore) / 1000;
  const textsMegabytes = megabytes() - before;
  await index.complete();
  const pages = (performance.now() - started) / 1000;
  const pagesCpu = (cpu() - cpuBefore) / 1000;
  const pagesMegabytes = megabytes() - before;
  const lists = new BotLists(catalogue.store.bots, index, new SortedIndexes(catalogue.store.bots, noCounts));
  const random = new Random(3);
  await cpuOfSearches(lists, 300, () => someWords(random));
  const queries = await cpuOfSearches(lists, 500, () => someWords(random));
  const typos = await cpuOfSearches(lists, 200, () => typo(random));
  index.close();
  await catalogue.close();
  yield latencyRow('CPU of one search', queries);
  yield latencyRow('CPU of one search with a typo', typos);
  yield plainRow(
    'search index, CPU of building it',
    `${textsCpu.toFixed(1)} s, with pages ${pagesCpu.toFixed(1)} s`,
  );
  yield {
    name: 'search index, built',
    measured: `${texts.toFixed(1)} s, with pages ${pages.toFixed(1)} s`,
    goal: '≤ 10 s without pages',
    met: texts <= 10,
  };
  yield {
    name: 'search index, memory',
    measured: `${textsMegabytes.toFixed(0)} MB, with pages ${pagesMegabytes.toFixed(0)} MB`,
    goal: '≤ 30 MB without pages',
    met: textsMegabytes <= 30,
  };
}

/** Searches one after the other; returns the milliseconds of CPU that each took. */
async function cpuOfSearches(lists: BotLists, count: number, query: () => string): Promise<number[]> {
  const times: number[] = [];
  for (let i = 0; i < count; i++) {
    const cpuBefore = cpu();
    await lists.elements({ q: query(), nsfw: false, limit: 24 });
    times.push(cpu() - cpuBefore);
  }
  return times;
}

/** Milliseconds of CPU of this process so far, with its threads. */
function cpu(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
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

const seconds = 10;
const searchesASecond = 100;
