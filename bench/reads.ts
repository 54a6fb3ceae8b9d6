import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from './child.ts';
import { alternate, type Contender, rateAndCpu, rates } from './comparison.ts';
import { type CostResult, type LoadedServer, measureLoad } from './cost.ts';
import { startNginx } from './peers/nginx.ts';
import type { StoredResponse } from './peers/stored-responses.ts';
import { getBot, type LoadRequest, send } from './request.ts';
import type { Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { medianRatio } from './statistics.ts';

/** Reads, against Fastify and bare node:http that have the same responses in memory, and nginx that has them in files. */
export async function* reads(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const records = stage.bots.slice(0, 1000).map((bot) => getBot(bot));
  const list: LoadRequest = {
    method: 'GET',
    path: '/api/v2/bots',
    headers: { 'Accept-Encoding': 'gzip' },
  };
  const responses = await storeResponses(service, [...records, list]);
  const file = join(stage.tempFolder(), 'responses.json');
  writeFileSync(file, JSON.stringify(responses));
  await using fastify = await startServer({
    command: ['bench/peers/fastify-reads.js', file],
    readyPath: '/ready',
  });
  await using node = await startServer({ command: ['bench/peers/node-reads.js', file], readyPath: '/ready' });
  await using nginx = await startNginx(stage, responses);
  const servers: Servers = { service, fastify, node, nginx };
  yield* compare('one record', servers, records, 32);
  yield* compare('one record, 304', servers, records, 32, { isConditional: true });
  yield* compare('the whole list, gzip', servers, [list], 4);
}

interface Servers {
  readonly service: LoadedServer;
  readonly fastify: LoadedServer;
  readonly node: LoadedServer;
  /** Undefined where it is not installed. */
  readonly nginx: LoadedServer | undefined;
}

async function storeResponses(
  { address }: LoadedServer,
  requests: readonly LoadRequest[],
): Promise<StoredResponse[]> {
  const responses: StoredResponse[] = [];
  for (const request of requests) {
    const { headers, body } = await send(address, request);
    const kept = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !addedByNode.includes(name) ? [[name, value] as const] : [],
    );
    responses.push({
      path: request.path,
      headers: Object.fromEntries(kept),
      base64: body.toString('base64'),
    });
  }
  return responses;
}

async function* compare(
  name: string,
  servers: Servers,
  requests: readonly LoadRequest[],
  connections: number,
  { isConditional = false } = {},
): AsyncGenerator<Row> {
  const contenders: Record<string, Contender<CostResult>> = {};
  for (const [key, server] of Object.entries<LoadedServer | undefined>({ ...servers })) {
    if (server === undefined) continue;
    const sent = isConditional ? await withConditions(server, requests) : requests;
    contenders[key] = async (seconds) => await measureLoad(server, { connections, seconds, requests: sent });
  }
  const results = await alternate(contenders);
  const { service = [] } = results;
  for (const { key, title, least } of peers) {
    const peer = results[key];
    const ratio = peer && medianRatio(rates(service), rates(peer));
    yield {
      name,
      measured: rateAndCpu(service),
      peer: peer ? `${title} ${rateAndCpu(peer)}` : missingNginx,
      ...(ratio !== undefined && { ratio }),
      goal: least === undefined ? '–' : `≥ ${least.toFixed(1)} × the peer`,
      met: least === undefined || (ratio ?? 0) >= least,
    };
  }
}

/** Adds the ETag that the server has for each address, so that it responds 304. */
async function withConditions(
  { address }: LoadedServer,
  requests: readonly LoadRequest[],
): Promise<LoadRequest[]> {
  const conditional: LoadRequest[] = [];
  for (const request of requests) {
    const { headers } = await send(address, request);
    const etag = headers['etag'];
    if (typeof etag !== 'string') throw new Error(`${address}${request.path} has no ETag`);
    conditional.push({ ...request, headers: { ...request.headers, 'If-None-Match': etag } });
  }
  return conditional;
}

const addedByNode = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

/** nginx is the upper limit. */
const peers = [
  { key: 'fastify', title: 'Fastify', least: 1.0 },
  { key: 'node', title: 'node:http', least: 0.9 },
  { key: 'nginx', title: 'nginx', least: undefined },
] as const;

const missingNginx = 'install the package "nginx-light"';
