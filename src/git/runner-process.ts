import { messageOf } from '../system-error.ts';
import { directClient } from './git-client.ts';
import { GitExit } from './git-exit.ts';
import type { RunnerAnswer, RunnerRequest } from './git-runner.ts';

// The small process that git-runner.ts has git commands run in. It lives as long as the service does.
process.on('message', (request: RunnerRequest) => void answer(request));
process.on('disconnect', () => process.exit());

async function answer({ id, command }: RunnerRequest): Promise<void> {
  let result: RunnerAnswer;
  try {
    result = { id, output: await directClient.run(command) };
  } catch (error) {
    const known = error instanceof GitExit;
    result = { id, exitCode: known ? error.exitCode : -1, stderr: known ? error.stderr : messageOf(error) };
  }
  if (process.connected) process.send?.(result);
}
