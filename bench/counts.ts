import { alternate, type Contender, latencies, rates } from './comparison.ts';
import { type ServerProcess, startServer } from './child.ts';
import { sendLoad } from './load.ts';
import { startPostgres } from './peers/postgres.ts';
import { type LoadRequest, postCount } from './request.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median, medianRatio } from './statistics.ts';

/** Durable posts of counts, against Fastify with PostgreSQL where that is installed. */
export async function* counts(stage: Stage): AsyncGenerator<Row> {
  const requests = stage.bots.slice(0, 1000).map(postCount);
  await using service = await startWholeService(stage);
  await using database = await startPostgres(stage);
  await using peer =
    database &&
    (await startServer({
      command: ['bench/peers/fastify-posts.js'],
      env: { DATABASE_PORT: String(database.port) },
      readyPath: '/ready',
    }));
  const servers = { ours: service, ...(peer && { peer }) };
  for (const connections of [1, 32, 256]) yield* compare(servers, requests, connections);
}

async function* compare(
  servers: Readonly<Record<string, ServerProcess>>,
  requests: readonly LoadRequest[],
  connections: number,
): AsyncGenerator<Row> {
  const contenders = Object.entries(servers).map(([name, { address }]): [string, Contender] => [
    name,
    async (seconds) => await sendLoad({ address, connections, seconds, requests }),
  ]);
  const { ours = [], peer } = await alternate(Object.fromEntries(contenders));
  const ratio = peer ? medianRatio(rates(ours), rates(peer)) : undefined;
  yield {
    name: `counts, ${connections} connection${connections === 1 ? '' : 's'}`,
    measured: perSecond(median(rates(ours))),
    peer: peer ? `Fastify + PostgreSQL ${perSecond(median(rates(peer)))}` : missing,
    ...(ratio !== undefined && { ratio }),
    goal: '≥ 1.5 × the peer',
    met: ratio !== undefined && ratio >= 1.5,
  };
  if (connections > 1) return;
  const latency = median(latencies(ours));
  yield {
    name: 'one count alone, median',
    measured: milliseconds(latency),
    peer: peer ? `Fastify + PostgreSQL ${milliseconds(median(latencies(peer)))}` : missing,
    ...(peer && { ratio: medianRatio(latencies(peer), latencies(ours)) }),
    goal: '≤ 1 ms',
    met: latency <= 1,
  };
}

const missing = 'install the package "postgresql"';
