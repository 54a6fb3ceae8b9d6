import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { autopost } from '../../../clients/typescript/src/index.ts';

/*
 * Posts the counts that come as lines: a number, `throw`, `rename`, which changes the commands, or `wait`, which waits for
 * some posts; says what happens. The end of the lines stops it. An hour takes a fifth of a second.
 * test/process/clients/driver.py does the same.
 */
const wait = globalThis.setTimeout;
globalThis.setTimeout = ((callback: () => void, ms: number, ...values: []) => {
  if (ms > 3_000_000) console.log(`waits ${Math.round(ms / 60_000)} minutes`);
  return wait(callback, ms > 3_000_000 ? ms / 18_000 : ms, ...values);
}) as typeof wait;
const [baseUrl = '', id = ''] = process.argv.slice(2);
let line = '';
let name = 'play';
const posting = autopost({
  baseUrl,
  id,
  token: process.env['BOTSHELF_TOKEN'] ?? '',
  intervalMs: 50,
  timeoutMs: 500,
  userAgent: 'driver/1.0',
  count: () => {
    if (line === 'throw') throw new Error('no count');
    return line === '' ? undefined : Number(line);
  },
  // As discord.js has them.
  commands: () => new Map([['1', { id: '1', name, nameLocalizations: { de: 'spiel' }, options: [] }]]),
  onPost: (count) => {
    console.log(`posted ${count}`);
    throw new Error('onPost fails');
  },
  onError: async (error) => {
    console.log(`error ${(error as Error).message}`);
    throw new Error('onError fails');
  },
});
for await (const next of createInterface({ input: process.stdin })) {
  if (next === 'wait') await sleep(300);
  else if (next === 'rename') name = 'sing';
  else line = next;
  console.log(`did ${next}`);
}
await posting.stop();
console.log('stopped');
