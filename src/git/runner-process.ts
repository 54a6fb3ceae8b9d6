import { once } from 'node:events';
import { Socket } from 'node:net';
import { SerialQueue } from '../lib/serial-queue.ts';
import { messageOf } from '../lib/errors.ts';
import { GitError, runGit } from './run-git.ts';
import { inputPipe, type RunnerResponse, type RunnerRequest, type RunnerStop } from './git-runner.ts';

// The small process that runs the git commands of git-runner.ts. It ends with the service.
process.on('message', (message: RunnerRequest | RunnerStop) => {
  if ('stop' in message) stops.get(message.id)?.abort();
  else void handleRequest(message);
});
process.on('disconnect', () => {
  for (const stop of stops.values()) stop.abort();
  process.exit();
});

const inputs = new Socket({ fd: inputPipe, writable: false });
const stops = new Map<number, AbortController>();
/** Inputs follow each other in the pipe in the order of the requests. */
const reads = new SerialQueue();

async function handleRequest({ id, command, inputBytes }: RunnerRequest): Promise<void> {
  const stop = new AbortController();
  stops.set(id, stop);
  let response: RunnerResponse;
  try {
    const input =
      inputBytes === undefined ? {} : { input: await reads.run(async () => await readInput(inputBytes)) };
    response = { id, output: await runGit({ ...command, ...input }, { signal: stop.signal }) };
  } catch (error) {
    const known = error instanceof GitError;
    response = { id, status: known ? error.status : -1, stderr: known ? error.stderr : messageOf(error) };
  }
  stops.delete(id);
  // The service may have been killed while the command ran: then the channel is closed.
  process.send?.(response, undefined, undefined, () => undefined);
}

async function readInput(bytes: number): Promise<Buffer> {
  // After an error no more input comes.
  if (inputs.errored) throw inputs.errored;
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
