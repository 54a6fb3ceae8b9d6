import { alternate, formatRate, median, medianRatio, perSecond, ratioRow, type Row, times } from './rows.ts';
import { getBot, type LoadedServer, loadOf, type LoadRequest, postCount, send, sendLoad } from './load.ts';
import { startReads } from './peers.ts';
import { startWholeService } from './processes.ts';
import type { Stage } from './stage.ts';

/** Reads, against Fastify that has the same responses in memory, and while counts are posted. */
export async function* reads(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const records = stage.bots.slice(0, 1000).map(getBot);
  const headers = { 'Accept-Encoding': 'gzip' };
  const list: LoadRequest = { method: 'GET', path: '/api/v2/bots', headers };
  await using fastify = await startReads(service);
  const servers = { service, fastify };
  yield await compare('one record', servers, async () => records);
  yield await compare('one record, 304', servers, async (server) => await withConditions(server, records));
  yield await compare('the whole list, gzip', servers, async () => [list], 4);
  yield await besidePosts(service, records, stage.bots.slice(0, 1000).map(postCount));
}

async function compare(
  name: string,
  servers: Readonly<Record<'service' | 'fastify', LoadedServer>>,
  requestsFor: (server: LoadedServer) => Promise<readonly LoadRequest[]>,
  connections = 32,
): Promise<Row> {
  const contender = async (server: LoadedServer) => loadOf(server, await requestsFor(server), connections);
  const { service, fastify } = await alternate({
    service: await contender(servers.service),
    fastify: await contender(servers.fastify),
  });
  return ratioRow(name, service, fastify, 'Fastify', 1);
}

/** Adds the ETag that the server has for each address, so that it responds 304. */
async function withConditions(
  { address }: LoadedServer,
  requests: readonly LoadRequest[],
): Promise<LoadRequest[]> {
  const conditional: LoadRequest[] = [];
  for (const request of requests) {
    const { etag } = (await send(address, request)).headers;
    if (typeof etag !== 'string') throw new Error(`${address}${request.path} has no ETag`);
    conditional.push({ ...request, headers: { 'If-None-Match': etag } });
  }
  return conditional;
}

/** Reads while a thousand counts a second are posted, against reads alone. */
async function besidePosts(
  service: LoadedServer,
  gets: readonly LoadRequest[],
  posts: readonly LoadRequest[],
): Promise<Row> {
  const postRates: number[] = [];
  const read = loadOf(service, gets);
  const { alone, beside } = await alternate({
    alone: read,
    beside: async (seconds) => {
      const posting = sendLoad(service, { connections: 16, seconds, requests: posts, rate: 1000 });
      const [reading, { rate }] = await Promise.all([read(seconds), posting]);
      postRates.push(rate);
      return reading;
    },
  });
  const ratio = medianRatio(beside.rate, alone.rate);
  const posted = median(postRates);
  return {
    goal: 'one record beside 1,000/s posts: ≥ 0.8× alone',
    measured: `${times(ratio)}, ${formatRate(beside)} beside ${perSecond(posted)} posts`,
    met: ratio >= 0.8 && posted >= 950,
  };
}
