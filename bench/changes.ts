import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { streamCommands } from './fast-import.ts';
import { type LoadRequest, timesOf } from './request.ts';
import { milliseconds, plainRow, type Row } from './row.ts';
import { residentMegabytes, startService, untilIdle } from './service.ts';
import type { Stage } from './stage.ts';
import { median, percentile } from './statistics.ts';

/** What changed in bots, of which each was changed twice, a commit each. */
export async function* changes(stage: Stage): AsyncGenerator<Row> {
  const catalogue = join(stage.tempFolder(), 'catalogue');
  execFileSync('git', ['clone', '-q', '--shared', stage.catalogue, catalogue]);
  await streamCommands(catalogue, [], edits(stage));
  execFileSync('git', ['reset', '-q', '--hard'], { cwd: catalogue });
  const folder = stage.tempFolder();
  const index = join(folder, 'changes');

  await using service = await startService({ ...stage, catalogue, var: folder });
  const { address } = service;
  const started = performance.now();
  let memory = 0;
  for (;;) {
    memory = Math.max(memory, residentMegabytes(service));
    const response = await fetch(`${address}/api/v2/bots/${stage.bots[0]?.id}/changes`);
    if (response.ok) break;
    await rest(500);
  }
  const seconds = (performance.now() - started) / 1000;
  yield plainRow(
    `index of ${stage.bots.length * 2} commits, filled after the start`,
    `${seconds.toFixed(0)} s`,
  );
  await untilIdle(service);
  const after = residentMegabytes(service).toFixed(0);
  yield plainRow('memory, highest until then and after', `${memory.toFixed(0)} MB, ${after} MB`);
  const sizes = readdirSync(index).map((name) => statSync(join(index, name)).size);
  yield plainRow('size of the index', `${(sizes.reduce((sum, size) => sum + size, 0) / 1e6).toFixed(0)} MB`);

  const open = (path: string) =>
    stage.bots.slice(0, 2000).map(({ id }): LoadRequest => page(`/bots/${id}${path}`));
  await timesOf(
    address,
    stage.bots.slice(-100).map(({ id }) => page(`/bots/${id}/changes`)),
  );
  const times = await timesOf(address, open('/changes'));
  const slowest = percentile(times, 0.99);
  yield plainRow('page of what changed, cold, median', milliseconds(median(times)));
  yield {
    name: 'page of what changed, cold, p99',
    measured: milliseconds(slowest),
    goal: '≤ 50 ms',
    met: slowest <= 50,
  };
  const bots = await timesOf(address, open(''));
  yield plainRow(
    'page of a changed bot, cold, median and p99',
    `${milliseconds(median(bots))}, ${milliseconds(percentile(bots, 0.99))}`,
  );
}

function page(path: string): LoadRequest {
  return { method: 'GET', path, headers: { Accept: 'text/html' } };
}

/** Two edits of each bot's main page, the last one in the last 90 days. */
function* edits({ catalogue, bots }: Stage): Generator<string> {
  const now = Math.floor(Date.now() / 1000);
  let parent = 'from refs/heads/main^0\n';
  for (const [round, daysAgo] of [200, 40].entries())
    for (const [i, { path }] of bots.entries()) {
      const text = readFileSync(join(catalogue, path), 'utf8').replace(
        /"description": "/,
        `"description": "${round === 0 ? 'Once' : 'Now'} `,
      );
      const who = `Ada <ada@example.org> ${now - daysAgo * 86_400 + i} +0000`;
      const head = `commit refs/heads/main\nauthor ${who}\ncommitter ${who}\ndata 4\nEdit\n${parent}`;
      yield `${head}M 100644 inline ${path}\ndata ${Buffer.byteLength(text)}\n${text}\n`;
      parent = '';
    }
}
