import { execFileSync } from 'node:child_process';
import { cpus } from 'node:os';
import { join } from 'node:path';
import type { ServerProcess } from './child.ts';
import { alternate, type Contender, rateAndCpu, rates } from './comparison.ts';
import { type CostResult, type LoadedServer, measureLoad } from './cost.ts';
import { type NginxServer, startProxy } from './peers/nginx.ts';
import { getBot, type LoadRequest, timesOf } from './request.ts';
import { plainRow, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { medianRatio } from './statistics.ts';

/** Read-only copies of one list behind nginx: one, two and four of them, beside one without nginx. */
export async function* mirrors(stage: Stage): AsyncGenerator<Row> {
  const machines: ServerProcess[] = [];
  const proxies: [number, NginxServer][] = [];
  try {
    for (const clone of shareRepository(stage)) machines.push(await startWholeService(clone, readOnly));
    for (const count of counts) {
      const proxy = await startProxy(stage, machines.slice(0, count));
      if (proxy !== undefined) proxies.push([count, proxy]);
    }
    yield* compareAll(stage, machines, proxies);
  } finally {
    await Promise.all(
      [...machines, ...proxies.map(([, proxy]) => proxy)].map((one) => one[Symbol.asyncDispose]()),
    );
  }
}

async function* compareAll(
  stage: Stage,
  machines: readonly ServerProcess[],
  proxies: readonly (readonly [number, NginxServer])[],
): AsyncGenerator<Row> {
  const [alone] = machines;
  if (alone === undefined || proxies.length === 0) {
    yield plainRow('copies behind nginx', 'not run: nginx is missing, install the package "nginx-light"');
    return;
  }
  yield plainRow(
    'what the figures below mean',
    `load, nginx and all copies share ${cpus().length} cores; CPU is that of nginx and copies for a request`,
  );
  const bots = stage.bots.slice(0, 1000);
  const pages = bots.slice(0, 100).map(({ id }): LoadRequest => {
    return { method: 'GET', path: `/bots/${id}`, headers: { 'Accept-Encoding': 'gzip' } };
  });
  // Each machine renders a page once.
  for (const { address } of machines) await timesOf(address, pages);
  const servers = proxies.map(([count, { address, pids }]): [string, LoadedServer] => {
    const all = [...pids, ...machines.slice(0, count).flatMap((machine) => machine.pids)];
    return [String(count), { address, pids: all }];
  });
  const contenders = Object.fromEntries([['alone', alone] as const, ...servers]);
  yield* compare(
    'one record',
    bots.map((bot) => getBot(bot)),
    contenders,
  );
  yield* compare('bot page, warm', pages, contenders);
}

const counts = [1, 2, 4];

async function* compare(
  name: string,
  requests: readonly LoadRequest[],
  servers: Readonly<Record<string, LoadedServer>>,
): AsyncGenerator<Row> {
  const contenders: Record<string, Contender<CostResult>> = {};
  for (const [key, server] of Object.entries(servers))
    contenders[key] = async (seconds) => await measureLoad(server, { connections: 32, seconds, requests });
  const { alone = [], ...proxied } = await alternate(contenders);
  for (const [count, results] of Object.entries(proxied)) {
    yield {
      ...plainRow(`${name}, nginx with ${count}`, rateAndCpu(results)),
      peer: `one, directly ${rateAndCpu(alone)}`,
      ratio: medianRatio(rates(results), rates(alone)),
    };
  }
}

const readOnly = { BOTSHELF_REMOTE: 'origin', BOTSHELF_READ_ONLY: 'on', BOTSHELF_SYNC_SECONDS: '3600' };

/** Returns the stage with a clone and a `var` for each machine. */
function shareRepository(stage: Stage): Stage[] {
  const folder = stage.tempFolder();
  const shared = join(folder, 'shared.git');
  const git = (...args: string[]): string => execFileSync('git', args, { cwd: folder, encoding: 'utf8' });
  git('clone', '-q', '--bare', '--shared', stage.catalogue, shared);
  git('-C', stage.catalogue, 'push', '-q', shared, 'refs/botshelf/state');
  return Array.from({ length: Math.max(...counts) }, (_, i) => {
    const clone = join(folder, `clone-${i}`);
    git('clone', '-q', '--shared', shared, clone);
    return { ...stage, catalogue: clone, var: join(folder, `var-${i}`) };
  });
}
