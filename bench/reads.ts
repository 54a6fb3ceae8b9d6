import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { alternate, rates } from './comparison.ts';
import { type ServerProcess, startServer } from './child.ts';
import { sendLoad } from './load.ts';
import type { StoredAnswer } from './peers/read-answers.ts';
import { getBot, type LoadRequest, send } from './request.ts';
import { perSecond, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median, medianRatio } from './statistics.ts';

/** Reads, against Fastify and bare node:http that have the same answers in memory. */
export async function* reads(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  const records = stage.bots.slice(0, 1000).map((bot) => getBot(bot));
  const list: LoadRequest = {
    method: 'GET',
    path: '/api/v2/bots',
    headers: { 'Accept-Encoding': 'gzip' },
  };
  const answers = await storeAnswers(service, [...records, list]);
  const file = join(stage.tempFolder(), 'answers.json');
  writeFileSync(file, JSON.stringify(answers));
  await using fastify = await startServer({
    command: ['bench/peers/fastify-reads.js', file],
    readyPath: '/ready',
  });
  await using node = await startServer({ command: ['bench/peers/node-reads.js', file], readyPath: '/ready' });
  const servers: Servers = { service, fastify, node };
  yield* compare('one record', servers, records, 32);
  const conditional = records.map((request, i) => {
    return { ...request, headers: { 'If-None-Match': answers[i]?.headers['etag'] ?? '' } };
  });
  yield* compare('one record, 304', servers, conditional, 32);
  yield* compare('the whole list, gzip', servers, [list], 4);
}

interface Servers {
  readonly service: ServerProcess;
  readonly fastify: ServerProcess;
  readonly node: ServerProcess;
}

async function storeAnswers(
  { address }: ServerProcess,
  requests: readonly LoadRequest[],
): Promise<StoredAnswer[]> {
  const answers: StoredAnswer[] = [];
  for (const request of requests) {
    const { headers, body } = await send(address, request);
    const kept = Object.entries(headers).flatMap(([name, value]) =>
      typeof value === 'string' && !addedByNode.includes(name) ? [[name, value] as const] : [],
    );
    answers.push({ path: request.path, headers: Object.fromEntries(kept), base64: body.toString('base64') });
  }
  return answers;
}

async function* compare(
  name: string,
  { service, fastify, node }: Servers,
  requests: readonly LoadRequest[],
  connections: number,
): AsyncGenerator<Row> {
  const load = (server: ServerProcess) => async (seconds: number) =>
    await sendLoad({ address: server.address, connections, seconds, requests });
  const results = await alternate({ ours: load(service), fastify: load(fastify), node: load(node) });
  const ours = rates(results.ours);
  for (const [peer, least] of [
    ['fastify', 0.9],
    ['node', 0.8],
  ] as const) {
    const ratio = medianRatio(ours, rates(results[peer]));
    yield {
      name,
      measured: perSecond(median(ours)),
      peer: `${peerNames[peer]} ${perSecond(median(rates(results[peer])))}`,
      ratio,
      goal: `≥ ${least} × the peer`,
      met: ratio >= least,
    };
  }
}

const addedByNode = ['date', 'connection', 'keep-alive', 'content-length', 'transfer-encoding'];

const peerNames = { fastify: 'Fastify', node: 'node:http' };
