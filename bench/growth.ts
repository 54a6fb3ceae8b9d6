import { rmSync } from 'node:fs';
import type { ServerProcess } from './child.ts';
import { measureLoad } from './cost.ts';
import { searchFor, someWords } from './queries.ts';
import { Random } from './random.ts';
import { getBot, type LoadRequest, postBot, postCount, send, timesOf } from './request.ts';
import { milliseconds, plainRow, type Row } from './row.ts';
import { runTime } from './run-time.ts';
import { residentMegabytes, startWholeService, untilIdle } from './service.ts';
import { setStage, type Stage } from './stage.ts';
import { timeStarts } from './starts.ts';
import { median, percentile } from './statistics.ts';

/** What the same work takes with more and more bots. Yields the rows of each size, beside those of the size before. */
export function growth(sizes: readonly number[]): (stage: Stage) => AsyncGenerator<Row> {
  return async function* (stage) {
    let before: Figures | undefined;
    for (const size of sizes) {
      const figures = await measure(stage.bots.length === size ? stage : await setStage(size));
      yield* rowsOf(size, figures, before);
      before = figures;
    }
  };
}

interface Figures {
  /** Seconds of CPU until it is ready. */
  readonly firstStart: number;
  readonly restart: number;
  /** Microseconds of CPU for each response. */
  readonly read: number;
  readonly count: number;
  /** Milliseconds. */
  readonly edit: number;
  readonly page: number;
  readonly searches: readonly number[];
  readonly list: { readonly seconds: number; readonly megabytes: number };
  /** Megabytes: of the process when it is at rest, how much more at most while the list was sent, and of all records. */
  readonly memory: number;
  readonly memoryOfList: number;
  readonly records: number;
  /** How both starts are shown. */
  readonly shown: readonly [first: string, again: string];
}

async function measure(stage: Stage): Promise<Figures> {
  rmSync(stage.var, { recursive: true, force: true });
  const [first] = await timeStarts(stage, 1);
  const [again] = await timeStarts(stage, 1);
  if (first === undefined || again === undefined) throw new Error('the service did not start');
  await using service = await startWholeService(stage);
  const memory = residentMegabytes(service);
  const some = stage.bots.slice(0, 1000);
  const costOf = async (requests: readonly LoadRequest[]): Promise<number> => {
    const costs: number[] = [];
    for (let round = 0; round < 4; round++)
      costs.push((await measureLoad(service, { connections: 32, seconds: 2, requests })).cpu);
    return median(costs.slice(1));
  };
  const read = await costOf(some.map((bot) => getBot(bot)));
  const count = await costOf(some.map(postCount));
  const edits = some.slice(0, 20).map((bot) => postBot(bot, '{"website":"https://example.org/{n}"}'));
  const edit = median(await timesOf(service.address, edits));
  const random = new Random(4);
  const searches = await timesOf(
    service.address,
    Array.from({ length: 200 }, () => searchFor(someWords(random))),
  );
  const pages = Array.from({ length: 50 }, (_, i) => pageBehind(stage, i));
  const page = median(await timesOf(service.address, pages));
  // What the searches have left is not the list's.
  await untilIdle(service);
  const { added, ...list } = await sendList(service);
  return {
    firstStart: first.cpu,
    restart: again.cpu,
    read,
    count,
    edit,
    page,
    searches,
    list,
    memory,
    memoryOfList: added,
    records: await megabytesOfRecords(stage, service),
    shown: [runTime(first), runTime(again)],
  };
}

/** A page of a hundred bots that nobody requested before, in the order of names. */
function pageBehind({ bots }: Stage, i: number): LoadRequest {
  const after = Buffer.from(JSON.stringify(['m', bots[i]?.id ?? ''])).toString('base64url');
  return { method: 'GET', path: `/api/v2/bots?limit=100&sort=name&after=${after}`, headers: {} };
}

/** Requests the whole list with gzip, and looks at the memory of the service until it has arrived. */
async function sendList(service: ServerProcess): Promise<Figures['list'] & { readonly added: number }> {
  const before = residentMegabytes(service);
  let highest = before;
  const look = setInterval(() => (highest = Math.max(highest, residentMegabytes(service))), 200);
  try {
    const headers = { 'Accept-Encoding': 'gzip' };
    const sent = performance.now();
    const { body } = await send(service.address, { method: 'GET', path: '/api/v2/bots', headers });
    return {
      seconds: (performance.now() - sent) / 1000,
      megabytes: body.length / 1e6,
      added: highest - before,
    };
  } finally {
    clearInterval(look);
  }
}

/** The bytes of all records, from those of a thousand. */
async function megabytesOfRecords({ bots }: Stage, { address }: ServerProcess): Promise<number> {
  const some = bots.slice(0, 1000);
  let bytes = 0;
  for (const bot of some) bytes += (await send(address, getBot(bot))).body.length;
  return ((bytes / some.length) * bots.length) / 1e6;
}

function* rowsOf(size: number, now: Figures, before: Figures | undefined): Generator<Row> {
  const name = (what: string): string => `${size.toLocaleString('en')} bots, ${what}`;
  const flat = (what: string, value: number, former: number | undefined): Row => ({
    name: name(what),
    measured: `${Math.round(value)} µs of CPU`,
    ...(former !== undefined && { peer: `a tenth ${Math.round(former)} µs`, ratio: former / value }),
    goal: '≤ 1.2 × a tenth of the bots',
    met: former === undefined || value <= 1.2 * former,
  });
  yield flat('one record', now.read, before?.read);
  yield flat('one count', now.count, before?.count);
  yield plainRow(name('one edit, median'), milliseconds(now.edit));
  yield plainRow(name('page of 100, cold, median'), milliseconds(now.page));
  const [p50, p99] = [percentile(now.searches, 0.5), percentile(now.searches, 0.99)];
  yield plainRow(name('one search, p50 and p99'), `${milliseconds(p50)}, ${milliseconds(p99)}`);
  const { seconds, megabytes } = now.list;
  yield plainRow(name('the whole list, gzip'), `${seconds.toFixed(1)} s, ${megabytes.toFixed(1)} MB`);
  yield {
    name: name('memory while it is sent'),
    measured: `${now.memoryOfList.toFixed(0)} MB more`,
    goal: '≤ 100 MB more',
    met: now.memoryOfList <= 100,
  };
  const most = 1.5 * now.records + 150;
  const perBot = (now.memory * 1000) / size;
  yield {
    name: name('memory at rest'),
    measured: `${now.memory.toFixed(0)} MB, ${perBot.toFixed(1)} kB a bot, records ${now.records.toFixed(0)} MB`,
    goal: `≤ ${most.toFixed(0)} MB`,
    met: now.memory <= most,
  };
  const starts = [
    ['first start', now.firstStart, before?.firstStart, now.shown[0]],
    ['restart', now.restart, before?.restart, now.shown[1]],
  ] as const;
  for (const [what, value, former, measured] of starts)
    yield {
      name: name(what),
      measured,
      ...(former !== undefined && { peer: `a tenth CPU ${former.toFixed(2)} s`, ratio: former / value }),
      goal: '≤ 12 × a tenth of the bots',
      met: former === undefined || value <= 12 * former,
    };
}
