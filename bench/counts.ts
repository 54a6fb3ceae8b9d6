import { alternate, latencies, rates } from './comparison.ts';
import { type ServerProcess, startServer } from './child.ts';
import { sendLoad } from './load.ts';
import { startPostgres } from './peers/postgres.ts';
import { type LoadRequest, postCount, send } from './request.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median, medianRatio } from './statistics.ts';

/** Durable posts of counts, against Fastify with PostgreSQL. */
export async function* counts(stage: Stage): AsyncGenerator<Row> {
  const requests = stage.bots.slice(0, 1000).map(postCount);
  await using service = await startWholeService(stage);
  await using database = await startPostgres(stage);
  await using peer = await startServer({
    command: ['bench/peers/fastify-posts.js'],
    env: { DATABASE_PORT: String(database.port) },
    readyPath: '/ready',
  });
  for (const request of requests.slice(0, 1)) {
    for (const { address } of [service, peer]) await send(address, request);
  }
  for (const connections of [1, 32, 256]) yield* compare(service, peer, requests, connections);
}

async function* compare(
  service: ServerProcess,
  peer: ServerProcess,
  requests: readonly LoadRequest[],
  connections: number,
): AsyncGenerator<Row> {
  const load = (server: ServerProcess) => async (seconds: number) =>
    await sendLoad({ address: server.address, connections, seconds, requests });
  const results = await alternate({ ours: load(service), peers: load(peer) });
  const ours = rates(results.ours);
  const peers = rates(results.peers);
  const ratio = medianRatio(ours, peers);
  yield {
    name: `counts, ${connections} connection${connections === 1 ? '' : 's'}`,
    measured: perSecond(median(ours)),
    peer: `${peerName} ${perSecond(median(peers))}`,
    ratio,
    target: '≥ 1.5 × the peer',
    met: ratio >= 1.5,
  };
  if (connections > 1) return;
  const latency = median(latencies(results.ours));
  yield {
    name: 'one count alone, median',
    measured: milliseconds(latency),
    peer: `${peerName} ${milliseconds(median(latencies(results.peers)))}`,
    ratio: medianRatio(latencies(results.peers), latencies(results.ours)),
    target: '≤ 1 ms',
    met: latency <= 1,
  };
}

const peerName = 'Fastify + PostgreSQL';
