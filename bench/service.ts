import { execFileSync } from 'node:child_process';
import { setTimeout as rest } from 'node:timers/promises';
import { type ServerProcess, startServer } from './child.ts';
import type { Stage } from './stage.ts';

/** Starts the service on the stage's catalogue, as an operator would, but without limits for posts. */
export async function startService(
  stage: Stage,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  return await startServer({
    command: ['src/main.js', 'serve'],
    readyPath: '/readyz',
    env: {
      BOTSHELF_CATALOGUE: stage.catalogue,
      BOTSHELF_VAR: stage.var,
      BOTSHELF_RATE_LIMIT: '0',
      BOTSHELF_BAD_TOKEN_LIMIT: '0',
      BOTSHELF_IMAGES: 'off',
      ...env,
    },
  });
}

/** Starts it and waits until the watcher is up, so that its own work is over. */
export async function startWholeService(
  stage: Stage,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const service = await startService(stage, env);
  while ((await partFaults(service)).length > 0) await rest(20);
  return service;
}

/** What /readyz says does not work. */
async function partFaults({ address }: ServerProcess): Promise<string[]> {
  const response = await fetch(`${address}/readyz`);
  const { parts } = (await response.json()) as { parts: Record<string, { faults: string[] }> };
  return Object.values(parts).flatMap(({ faults }) => faults);
}

/** The resident memory of a process, in megabytes. */
export function residentMegabytes({ pid }: ServerProcess): number {
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024;
}
