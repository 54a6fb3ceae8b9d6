import { setTimeout as rest } from 'node:timers/promises';
import { BotSearch } from '../src/catalogue/search/bot-search.ts';
import { Catalogue } from '../src/catalogue/catalogue.ts';
import { silentLog } from '../src/lib/log.ts';
import { defaultNeeds } from '../test/support/needs.ts';
import { languages } from './languages.ts';
import { getBot, loadOf, type LoadRequest, manyConnections, send, timesOf } from './load.ts';
import { startWholeService } from './processes.ts';
import { Random } from './random.ts';
import { atMost, megabytes, milliseconds, percentile, perSecond, type Row, times } from './rows.ts';
import type { Stage } from './stage.ts';

/** Searches: building the index, one query, a typo, and a hundred a second next to reads. */
export async function* search(stage: Stage): AsyncGenerator<Row> {
  yield* inThisProcess(stage);
  yield* overHttp(stage);
}

/** How long the index takes to build, and its memory, in this process. */
async function* inThisProcess({ catalogue: root }: Stage): AsyncGenerator<Row> {
  const catalogue = new Catalogue({ root, log: silentLog, snapshot: null });
  await catalogue.load();
  await catalogue.bots.unpacked();
  catalogue.store.bots.all();
  const before = heapMegabytes();
  const index = new BotSearch(catalogue.store.bots, () => {}, defaultNeeds);
  const started = performance.now();
  await index.update();
  const built = (performance.now() - started) / 1000;
  yield atMost('search index built, without pages', built, 10, (value) => `${value.toFixed(1)} s`);
  yield atMost('search index, memory without pages', heapMegabytes() - before, 30, megabytes);
  index.close();
  await catalogue.close();
}

async function* overHttp(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const { address } = service;
  const random = new Random(2);
  yield latencyRow('one search', await timeSearches(address, random));

  const load = loadOf(service, stage.bots.slice(0, 1000).map(getBot));
  const seconds = 10;
  const read = async (): Promise<number> => (await load(seconds)).rate;
  await read();
  const alone = await read();
  for (const searchesASecond of [50, 100]) {
    const taken: number[] = [];
    let refused = 0;
    const search = async (request: LoadRequest): Promise<void> => {
      const sent = performance.now();
      const isAnswered = await send(address, request, manyConnections).then(
        () => true,
        () => false,
      );
      if (isAnswered) taken.push(performance.now() - sent);
      else refused++;
    };
    const sent: Promise<void>[] = [];
    const requests = searches(seconds * searchesASecond, random);
    const reading = read();
    const started = performance.now();
    for (const [number, request] of requests.entries()) {
      await rest(started + (number * 1000) / searchesASecond - performance.now());
      sent.push(search(request));
    }
    const beside = await reading;
    await Promise.all(sent);
    const row = latencyRow(`${searchesASecond}/s searches beside reads`, taken, 100);
    yield { ...row, measured: `${row.measured}, ${refused} refused` };
    yield {
      goal: `reads beside ${searchesASecond}/s searches: ≥ 0.5× alone`,
      measured: `${times(beside / alone)}, ${perSecond(beside)}`,
      met: beside / alone >= 0.5,
    };
  }
}

/** Returns the milliseconds of 700 searches, after 100 others. */
export async function timeSearches(address: string, random = new Random(2)): Promise<number[]> {
  return (await timesOf(address, searches(800, random))).slice(100);
}

/** Returns searches as the site sends them: for the best 24. */
function searches(count: number, random: Random): LoadRequest[] {
  return Array.from({ length: count }, () => {
    const path = `/api/v2/bots?nsfw=false&limit=24&q=${encodeURIComponent(drawQuery(random))}`;
    return { method: 'GET', path, headers: {} };
  });
}

/** One to three words, as often as they are used; in two of seven queries a word with two letters swapped. */
function drawQuery(random: Random): string {
  if (random.chance(2 / 7)) return typo(random);
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

function heapMegabytes(): number {
  globalThis.gc?.();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 1e6;
}

function latencyRow(name: string, taken: readonly number[], most = 15): Row {
  const p99 = percentile(taken, 0.99);
  return {
    goal: `${name}, p99: ≤ ${most} ms`,
    measured: `${milliseconds(p99)}, p50 ${milliseconds(percentile(taken, 0.5))}`,
    met: p99 <= most,
  };
}
