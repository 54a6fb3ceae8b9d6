import { get } from 'node:http';
import { type Cost, costOf } from '../test/support/process-cost.ts';
import type { ServerProcess } from './child.ts';
import { postCount, send } from './request.ts';
import { milliseconds, plainRow, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';

/** What is read as a whole: the memory that the service takes for it, and the CPU for the counts of all bots. */
export async function* openData(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  for (const path of ['/api/v2/bots', '/api/v2/export.ndjson']) {
    for (const encoding of ['gzip', 'identity']) {
      const { memory, bytes, seconds } = await receive(service, path, encoding);
      const added = memory / 1e6;
      yield {
        name: `${path}, ${encoding}, memory while it is sent`,
        measured: `${added.toFixed(0)} MB more for ${(bytes / 1e6).toFixed(0)} MB in ${seconds.toFixed(0)} s`,
        goal: '≤ 100 MB more',
        met: added <= 100,
      };
    }
  }
  for (const bot of stage.bots.slice(0, countedBots)) await send(service.address, postCount(bot));
  const countsCpu = async (): Promise<number> => (await receive(service, '/api/v2/counts', 'gzip')).cpu;
  const rebuilt: number[] = [];
  for (const bot of stage.bots.slice(0, 5)) {
    await send(service.address, postCount(bot));
    rebuilt.push(await countsCpu());
  }
  yield plainRow('all counts, CPU after one has changed', rebuilt.map(milliseconds).join(', '));
  const unchanged = Math.min(await countsCpu(), await countsCpu());
  yield {
    name: 'all counts, CPU where none has changed',
    measured: milliseconds(unchanged),
    goal: '≤ 10 ms, the step of the clock',
    met: unchanged <= 10,
  };
}

/** With more of them posting takes most of the time. */
const countedBots = 100_000;

/** Reads a response and drops it. */
async function receive(
  { address, pid }: ServerProcess,
  path: string,
  encoding: string,
): Promise<Cost & { readonly bytes: number; readonly seconds: number }> {
  const sent = performance.now();
  let bytes = 0;
  const cost = await costOf(
    pid,
    async () =>
      await new Promise<void>((resolve, reject) => {
        get(address + path, { headers: { 'Accept-Encoding': encoding } }, (response) => {
          response.on('data', (chunk: Buffer) => (bytes += chunk.length));
          response.on('end', resolve).on('error', reject);
        }).on('error', reject);
      }),
  );
  return { ...cost, bytes, seconds: (performance.now() - sent) / 1000 };
}
