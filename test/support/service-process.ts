import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mainFile } from './command-line.ts';
import { type RunningService, superviseService } from './running-service.ts';
import { ServiceLog } from './service-log.ts';

/** A service in a process of its own, as an operator runs it. */
export interface ServiceProcess extends RunningService {
  readonly process: ChildProcess;
  /** Sends a signal and resolves with the exit code, null when the signal ended it, once it has gone. */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null>;
}

/**
 * Runs `botshelf serve` on a free port and waits until it is ready, or says that it listens without being so.
 * @param command what to run instead: it must end in an `exec` of the service
 */
export async function startServiceProcess(
  root: string,
  env: Readonly<Record<string, string>> = {},
  [program, ...args]: readonly [string, ...string[]] = [process.execPath, mainFile, 'serve'],
): Promise<ServiceProcess> {
  const child = spawn(program, args, {
    env: { ...process.env, ...testSettings(root), ...env },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log = new ServiceLog();
  // Once its standard error is closed as well, so that its last words are not missed.
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end: ServiceProcess['end'] = async (signal): Promise<number | null> => {
    child.kill(signal);
    await gone;
    return child.exitCode;
  };
  superviseService(log, async () => await endProcess(child, end));
  // Before the temp folders are removed.
  const kill = (): unknown => child.kill('SIGKILL');
  process.prependOnceListener('exit', kill);
  child.once('exit', () => process.off('exit', kill));
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      log.add(line);
      const address = /(?:ready|listening) at (http:\/\/[^",]+)/.exec(line)?.[1];
      if (address !== undefined) resolve(address);
    });
    child.once('error', reject);
    child.once('close', (code, signal) =>
      reject(new Error(`the service ended (${code ?? signal}): ${log.text}`)),
    );
  });
  return {
    address,
    process: child,
    log: () => log.text,
    expectLog: (pattern) => log.expect(pattern),
    allowLog: (pattern) => log.allow(pattern),
    end,
  };
}

/** The settings of every service that a test starts. */
export function testSettings(root: string): Readonly<Record<string, string>> {
  return {
    BOTSHELF_CATALOGUE: root,
    BOTSHELF_BASE_URL: 'https://bots.example.org',
    PORT: '0',
    BOTSHELF_RATE_LIMIT: '0',
    BOTSHELF_CONTENT_LIMIT: '0',
    BOTSHELF_COMMANDS_LIMIT: '0',
    BOTSHELF_BAD_TOKEN_LIMIT: '0',
    BOTSHELF_IMAGES: 'off',
  };
}

/** Ends a service, if it still runs, as an operator does. Resolves with what went wrong. */
async function endProcess(child: ChildProcess, end: ServiceProcess['end']): Promise<string | undefined> {
  if (child.exitCode !== null || child.signalCode !== null) {
    await end('SIGTERM');
    return undefined;
  }
  // The service itself gives open connections ten seconds.
  const killing = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const code = await end('SIGTERM');
  clearTimeout(killing);
  return code === 0 ? undefined : `(it ended with ${code ?? child.signalCode} after SIGTERM)`;
}
