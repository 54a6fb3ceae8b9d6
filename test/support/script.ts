import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { tempFolder } from './temp-folder.ts';

export interface Ran {
  readonly code: number | null;
  /** The standard output and the standard error. */
  readonly output: string;
}

/**
 * Runs a shell script in a group of its own, with a home of its own. A service that it starts is stopped once it is ready,
 * and the exit status is 0 then.
 * @param whenReady called with the service's address before that
 */
export async function runScript(
  script: string,
  folder: string,
  env: Readonly<Record<string, string>>,
  whenReady: (address: string) => Promise<void> = async () => {},
): Promise<Ran> {
  const child = spawn('bash', ['-c', script], {
    cwd: folder,
    env: { ...env, HOME: tempFolder() },
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  let visit: Promise<void> | undefined;
  const take = (piece: Buffer): void => {
    output += String(piece);
    const address = /ready at (http:\/\/[^"\s]+)/.exec(output)?.[1];
    if (visit !== undefined || address === undefined) return;
    visit = whenReady(address).finally(() => process.kill(-Number(child.pid), 'SIGTERM'));
    // Awaited below, and until then nobody handles its error.
    visit.catch(() => {});
  };
  child.stdout.on('data', take);
  child.stderr.on('data', take);
  const [code] = (await once(child, 'close')) as [number | null];
  await visit;
  return { code: visit === undefined ? code : 0, output };
}
