import { execFileSync } from 'node:child_process';
import { setTimeout as rest } from 'node:timers/promises';
import { type ServerProcess, startServer } from './child.ts';
import { cpuOf } from './cost.ts';
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

/** Starts it and waits until its own work is over. */
export async function startWholeService(
  stage: Stage,
  env: Readonly<Record<string, string>> = {},
): Promise<ServerProcess> {
  const service = await startService(stage, env);
  await untilIdle(service);
  return service;
}

/** Waits until the watcher is up, the search index is built and the garbage of the start is collected. */
export async function untilIdle(service: ServerProcess): Promise<void> {
  while ((await partFaults(service)).length > 0) await rest(20);
  for (let quiet = 0; quiet < 3;) {
    const before = cpuOf(service.pids);
    await rest(1000);
    quiet = cpuOf(service.pids) - before < idle ? quiet + 1 : 0;
  }
}

/** Microseconds of CPU a second, as rounds over all folders go on. */
const idle = 200_000;

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
