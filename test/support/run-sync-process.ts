import { spawnSync } from 'node:child_process';
import { openSync } from 'node:fs';
import { receiveMessage, sendMessage, type SyncCommand, type SyncResult } from './run-sync.ts';

// The small process of run-sync.ts. It ends with the tests, which close their end of the pipe.
const [from = '', to = ''] = process.argv.slice(2);
const [requests, responses] = [openSync(from, 'r'), openSync(to, 'w')];
for (;;) {
  let command: SyncCommand;
  try {
    command = receiveMessage(requests) as SyncCommand;
  } catch {
    break;
  }
  const { program, args, ...options } = command;
  const run = spawnSync(program, args, { ...options, encoding: 'utf8', maxBuffer: 2 ** 28 });
  const { status, stdout, stderr, error } = run;
  sendMessage(responses, {
    status,
    stdout: stdout ?? '',
    stderr: `${stderr ?? ''}${error?.message ?? ''}`,
  } satisfies SyncResult);
}
