import { get } from 'node:http';
import { type Cost, costOf } from '../test/support/process-cost.ts';
import { type LoadedServer, postCount, send } from './load.ts';
import { startWholeService } from './processes.ts';
import { atMost, megabytes, milliseconds, type Row } from './rows.ts';
import type { Stage } from './stage.ts';

/** The memory that the service takes for the list and the export, and the CPU for the counts of all bots. */
export async function* openData(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  for (const path of ['/api/v2/bots', '/api/v2/export.ndjson']) {
    const { memory } = await receive(service, path);
    yield atMost(`memory for ${path}, gzip`, memory / 1e6, 100, megabytes);
  }
  for (const bot of stage.bots) await send(service.address, postCount(bot));
  const countsCpu = async (): Promise<number> => (await receive(service, '/api/v2/counts')).cpu;
  await countsCpu();
  const unchanged = Math.min(await countsCpu(), await countsCpu());
  yield atMost('all counts, CPU if none has changed', unchanged, 10, milliseconds);
}

/** Reads a compressed response and drops it. */
export async function receive({ address, pid }: LoadedServer, path: string): Promise<Cost> {
  return await costOf(
    pid,
    async () =>
      await new Promise<void>((resolve, reject) => {
        get(address + path, { headers: { 'Accept-Encoding': 'gzip' } }, (response) => {
          response.on('end', resolve).on('error', reject).resume();
        }).on('error', reject);
      }),
  );
}
