import { messageOf } from '../../lib/errors.ts';
import { GitError } from './git-error.ts';
import type { RunnerRequest, RunnerResponse, RunnerStop } from './git-runner.ts';
import { runGit } from './run-git.ts';

// The small process that runs the git commands of git-runner.ts. It ends with the service.
process.on('message', (message: RunnerRequest | RunnerStop) => {
  if ('stop' in message) stops.get(message.id)?.abort();
  else void handleRequest(message);
});
process.on('disconnect', () => {
  for (const stop of stops.values()) stop.abort();
  process.exit();
});

const stops = new Map<number, AbortController>();

async function handleRequest({ id, command }: RunnerRequest): Promise<void> {
  const stop = new AbortController();
  stops.set(id, stop);
  let response: RunnerResponse;
  try {
    response = { id, output: await runGit(command, { signal: stop.signal }) };
  } catch (error) {
    const known = error instanceof GitError;
    response = { id, status: known ? error.status : -1, stderr: known ? error.stderr : messageOf(error) };
  }
  stops.delete(id);
  // The service may have been killed while the command ran: then the channel is closed.
  process.send?.(response, undefined, undefined, () => undefined);
}
