import { join } from 'node:path';
import { type ServerOptions, type ServerProcess, startServer } from './child.ts';
import { alternate, cpus, latencies, rateAndCpu, rates } from './comparison.ts';
import { type CostResult, type LoadedServer, measureLoad } from './cost.ts';
import { timeFlush } from './flush-time.ts';
import { startPostgres } from './peers/postgres.ts';
import { fillSqlite } from './peers/sqlite.ts';
import { type LoadRequest, postCount } from './request.ts';
import { milliseconds, plainRow, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median, medianRatio } from './statistics.ts';

/**
 * Durable posts of counts, against Fastify with PostgreSQL and with SQLite where those are installed, and against the
 * least that Koa, its router and the journal cost.
 */
export async function* counts(stage: Stage): AsyncGenerator<Row> {
  yield plainRow('a flush of the disk', milliseconds(timeFlush(stage)));
  const requests = stage.bots.slice(0, 1000).map(postCount);
  await using service = await startWholeService(stage);
  await using database = await startPostgres(stage);
  await using postgres =
    database &&
    (await startPeer({
      command: ['bench/peers/postgres-counts.js'],
      env: { DATABASE_PORT: String(database.port) },
    }));
  const file = fillSqlite(stage);
  await using sqlite =
    file === undefined ? undefined : await startPeer({ command: ['bench/peers/sqlite-counts.js', file] });
  await using floor = await startPeer({
    command: ['bench/peers/koa-counts.js', join(stage.tempFolder(), 'journal')],
  });
  const servers: Servers = {
    service: {
      address: service.address,
      pids: [service.pid],
      flushes: async () => await journalWrites(service),
    },
    ...(database && postgres && { postgres: peerOf(postgres, database.pid) }),
    ...(sqlite && { sqlite: peerOf(sqlite) }),
    floor: peerOf(floor),
  };
  for (const connections of [1, 32, 256]) yield* compare(servers, requests, connections);
}

interface Servers {
  readonly service: LoadedServer;
  readonly floor: LoadedServer;
  readonly postgres?: LoadedServer;
  readonly sqlite?: LoadedServer;
}

async function startPeer(options: Omit<ServerOptions, 'readyPath'>): Promise<ServerProcess> {
  return await startServer({ ...options, readyPath: '/flushes' });
}

function peerOf({ address, pid }: ServerProcess, ...databases: number[]): LoadedServer {
  const flushes = async (): Promise<number> => Number(await (await fetch(`${address}/flushes`)).text());
  return { address, pids: [pid, ...databases], flushes };
}

async function journalWrites({ address }: ServerProcess): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  return Number(/^botshelf_journal_writes_total (\d+)$/m.exec(metrics)?.[1]);
}

async function* compare(
  servers: Servers,
  requests: readonly LoadRequest[],
  connections: number,
): AsyncGenerator<Row> {
  const contenders = Object.entries<LoadedServer>({ ...servers }).map(([name, server]) => {
    const run = async (seconds: number): Promise<CostResult> =>
      await measureLoad(server, { connections, seconds, requests });
    return [name, run] as const;
  });
  const results = await alternate(Object.fromEntries(contenders));
  const { service = [], floor = [] } = results;
  for (const { key, title, least, missing } of databases) {
    const peer = results[key];
    if (connections === 1) {
      const ratio = peer && medianRatio(latencies(peer), latencies(service));
      yield {
        name: 'one count alone, median',
        measured: milliseconds(median(latencies(service))),
        peer: peer ? `${title} ${milliseconds(median(latencies(peer)))}` : missing,
        ...(ratio !== undefined && { ratio }),
        goal: key === 'postgres' ? "≤ the peer's" : '–',
        met: key === 'sqlite' || (ratio ?? 0) >= 1,
      };
    } else {
      const ratio = peer && medianRatio(rates(service), rates(peer));
      yield {
        name: `counts, ${connections} connections`,
        measured: rateAndCost(service),
        peer: peer ? `${title} ${rateAndCost(peer)}` : missing,
        ...(ratio !== undefined && { ratio }),
        goal: `≥ ${least.toFixed(1)} × the peer`,
        met: (ratio ?? 0) >= least,
      };
    }
  }
  if (connections === 1) return;
  const ratio = medianRatio(cpus(floor), cpus(service));
  yield {
    name: `CPU of counts, ${connections} connections`,
    measured: rateAndCost(service),
    peer: `Koa + router + journal ${rateAndCost(floor)}`,
    ratio,
    goal: "≤ 1.4 × the peer's CPU",
    met: ratio >= 1 / 1.4,
  };
}

function rateAndCost(results: readonly CostResult[]): string {
  const flushes = median(results.map((result) => result.flushes));
  return `${rateAndCpu(results)}, ${flushes.toFixed(2)} flushes`;
}

const databases = [
  {
    key: 'postgres',
    title: 'Fastify + PostgreSQL',
    least: 1.5,
    missing: 'install the package "postgresql"',
  },
  {
    key: 'sqlite',
    title: 'Fastify + SQLite',
    least: 1.0,
    missing: 'run npm install --no-save --ignore-scripts=false better-sqlite3',
  },
] as const;
