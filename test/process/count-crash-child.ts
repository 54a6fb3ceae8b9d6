import { writeSync } from 'node:fs';
import { armFailpoint } from '../../src/lib/failpoint.ts';
import { silentLog } from '../../src/lib/log.ts';
import { StateStore } from '../../src/counts/state-store.ts';
import { botId } from '../support/sample.ts';
import { FileRef } from '../support/file-ref.ts';

/**
 * Posts counts that grow, checkpointer after each round, and says on standard output what is asked for and what is
 * answered; it goes on until the named failpoint kills it.
 */
const [, , folder = '', refPath = '', failpoint = ''] = process.argv;
const store = new StateStore({ folder, ref: new FileRef(refPath), stateSeconds: 3600, log: silentLog });
await store.load();
for (let round = 1; ; round++) {
  if (round === 3) armFailpoint(failpoint);
  await Promise.all(Array.from({ length: 20 }, async (_, bot) => await post(bot, round)));
  await post(0, round + 0.5);
  await store.checkpoint();
}

async function post(bot: number, round: number): Promise<void> {
  const count = round * 2;
  writeSync(1, `asked ${bot} ${count}\n`);
  await store.setCount(botId(`19051930497266${bot}`), count);
  writeSync(1, `answered ${bot} ${count}\n`);
}
