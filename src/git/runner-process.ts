import { once } from 'node:events';
import { Socket } from 'node:net';
import { messageOf } from '../system-error.ts';
import { directClient } from './git-client.ts';
import { GitExit } from './git-exit.ts';
import { inputPipe, type RunnerAnswer, type RunnerRequest, type RunnerStop } from './git-runner.ts';

// The small process that git-runner.ts has git commands run in. It lives as long as the service does.
process.on('message', (message: RunnerRequest | RunnerStop) => {
  if ('stop' in message) stops.get(message.id)?.abort();
  else void answer(message);
});
process.on('disconnect', () => process.exit());

const inputs = new Socket({ fd: inputPipe, writable: false });
const stops = new Map<number, AbortController>();
let reading: Promise<unknown> = Promise.resolve();

async function answer({ id, command, inputBytes }: RunnerRequest): Promise<void> {
  const stop = new AbortController();
  stops.set(id, stop);
  let result: RunnerAnswer;
  try {
    const input = inputBytes === undefined ? {} : { input: await nextInput(inputBytes) };
    result = { id, output: await directClient.run({ ...command, ...input }, stop.signal) };
  } catch (error) {
    const known = error instanceof GitExit;
    result = { id, exitCode: known ? error.exitCode : -1, stderr: known ? error.stderr : messageOf(error) };
  }
  stops.delete(id);
  // The service may have been killed while the command ran: then nobody waits for the answer.
  process.send?.(result, undefined, undefined, () => undefined);
}

/** Inputs come one behind the other, in the order of the requests. */
async function nextInput(bytes: number): Promise<Buffer> {
  const next = reading.then(async () => await readInput(bytes));
  reading = next;
  return await next;
}

async function readInput(bytes: number): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let missing = bytes; missing > 0;) {
    const chunk = inputs.read(Math.min(missing, inputs.readableLength || 1)) as Buffer | null;
    if (chunk === null) await once(inputs, 'readable');
    else {
      chunks.push(chunk);
      missing -= chunk.length;
    }
  }
  return Buffer.concat(chunks, bytes);
}
