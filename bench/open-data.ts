import { readFileSync } from 'node:fs';
import { get } from 'node:http';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { type Cost, costOf } from '../test/support/process-cost.ts';
import { importCommits, importFile } from './catalogue.ts';
import { getBot, type LoadedServer, type LoadRequest, postCount, send, timesOf } from './load.ts';
import { startService, startWholeService, untilIdle } from './processes.ts';
import { atMost, megabytes, milliseconds, percentile, type Row } from './rows.ts';
import { git, type Stage } from './stage.ts';

/** What is read as a whole, and what changed in bots. */
export async function* openData(stage: Stage): AsyncGenerator<Row> {
  yield* whole(stage);
  yield* changes(stage);
}

/** The memory that the service takes for the list and the export, and the CPU for the counts of all bots. */
async function* whole(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  for (const path of ['/api/v2/bots', '/api/v2/export.ndjson'])
    for (const encoding of ['gzip', 'identity']) {
      const { memory } = await receive(service, path, encoding);
      yield atMost(`memory for ${path}, ${encoding}`, memory / 1e6, 100, megabytes);
    }
  for (const bot of stage.bots) await send(service.address, postCount(bot));
  const countsCpu = async (): Promise<number> => (await receive(service, '/api/v2/counts', 'gzip')).cpu;
  await countsCpu();
  const unchanged = Math.min(await countsCpu(), await countsCpu());
  yield atMost('all counts, CPU if none has changed', unchanged, 10, milliseconds);
}

/** Reads a response and drops it. */
export async function receive({ address, pid }: LoadedServer, path: string, encoding: string): Promise<Cost> {
  return await costOf(
    pid,
    async () =>
      await new Promise<void>((resolve, reject) => {
        get(address + path, { headers: { 'Accept-Encoding': encoding } }, (response) => {
          response.on('end', resolve).on('error', reject).resume();
        }).on('error', reject);
      }),
  );
}

/** Pages of what changed, of bots of which each was changed twice, a commit each. */
async function* changes(stage: Stage): AsyncGenerator<Row> {
  const folder = stage.tempFolder();
  const catalogue = join(folder, 'catalogue');
  git(folder, 'clone', '-q', '--shared', stage.catalogue, catalogue);
  await importCommits(catalogue, edits(stage));
  git(catalogue, 'reset', '-q', '--hard');
  await using service = await startService({ ...stage, catalogue, var: join(folder, 'var') });
  const { address } = service;
  const [first] = stage.bots.map(getBot);
  // The index is filled after the start; until then the response is a 503.
  while (!(await fetch(`${address}${first?.path}/changes`)).ok) await rest(500);
  await untilIdle(service);
  const pages = stage.bots.map(({ id }): LoadRequest => {
    return { method: 'GET', path: `/bots/${id}/changes`, headers: { Accept: 'text/html' } };
  });
  await timesOf(address, pages.slice(-100));
  const p99 = percentile(await timesOf(address, pages.slice(0, 2000)), 0.99);
  yield atMost('page of what changed, cold, p99', p99, 50, milliseconds);
}

/** Two edits of each bot's main page, the last one in the last 90 days. */
function* edits({ catalogue, bots }: Stage): Generator<string> {
  const now = Math.floor(Date.now() / 1000);
  let parent = 'from refs/heads/main^0\n';
  for (const [word, daysAgo] of [
    ['Once', 200],
    ['Now', 40],
  ] as const)
    for (const [i, { path }] of bots.entries()) {
      const page = readFileSync(join(catalogue, path), 'utf8');
      const edited = page.replace('"description": "', `"description": "${word} `);
      const who = `Ada <ada@example.org> ${now - daysAgo * 86_400 + i} +0000`;
      const head = `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata 4\nEdit\n${parent}`;
      yield head + importFile(path, edited);
      parent = '';
    }
}
