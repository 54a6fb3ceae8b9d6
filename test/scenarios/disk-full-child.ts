import { once } from 'node:events';
import { silentLog } from '../../src/lib/log.ts';
import { StateStore } from '../../src/counts/state-store.ts';
import { messageOf } from '../../src/lib/errors.ts';
import { botId } from '../support/sample.ts';
import { FileRef } from '../support/file-ref.ts';

/**
 * Posts until it is refused, because a file may not grow any more; then waits for its parent to lift the limit,
 * posts what it had before and something new, and is killed. Tells its parent each step.
 */
const [, , folder = '', refPath = ''] = process.argv;
const store = new StateStore({
  folder,
  ref: new FileRef(refPath),
  stateSeconds: 3600,
  log: silentLog,
});
await store.load();
const homer = botId('190519304972663312');

await store.setCount(homer, 1);
await store.checkpoint();

let answered = 1;
let refusal: string | undefined;
while (refusal === undefined) {
  try {
    await store.setCount(homer, answered + 1);
    answered++;
  } catch (error) {
    refusal = messageOf(error);
  }
}
const together = await Promise.allSettled(
  [1, 2, 3].map(async (count) => await store.setCount(botId(`1${count}`), count)),
);
process.send?.({
  answered,
  refusal,
  together: together.map(({ status }) => status),
  read: store.count(homer),
  faults: store.failures().map(({ message }) => message),
});
await once(process, 'message');

await store.setCount(homer, answered);
await store.setCount(botId('14'), 4);
process.send?.({ faults: store.failures().length });
await once(process, 'message');
