import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** The command line as it is run. */
export const mainFile = fileURLToPath(new URL('./dist/src/main.js', import.meta.resolve('#package')));

/** A service in a process of its own, as an operator runs it. */
export interface ServiceProcess {
  readonly address: string;
  readonly process: ChildProcess;
  /** What it has logged so far. */
  log(): string;
  /** Sends a signal and resolves with the exit code, null when the signal ended it, once it has gone. */
  end(signal: 'SIGTERM' | 'SIGINT' | 'SIGKILL'): Promise<number | null>;
}

/**
 * Runs `botshelf serve` on a free port and waits until it is ready.
 * @param command what to run instead: it must end in an `exec` of the service
 */
export async function startServiceProcess(
  root: string,
  env: Readonly<Record<string, string>> = {},
  [program, ...args]: readonly [string, ...string[]] = [process.execPath, mainFile, 'serve'],
): Promise<ServiceProcess> {
  const child = spawn(program, args, {
    env: {
      ...process.env,
      BOTSHELF_CATALOGUE: root,
      PORT: '0',
      BOTSHELF_RATE_LIMIT: '0',
      BOTSHELF_IMAGES: 'off',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => running.delete(child));
  const lines: string[] = [];
  const address = await new Promise<string>((resolve, reject) => {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line);
      const ready = /ready at (http:\/\/[^"]+)/.exec(line)?.[1];
      if (ready !== undefined) resolve(ready);
    });
    child.once('exit', (code, signal) =>
      reject(new Error(`the service ended (${code ?? signal}): ${lines.join('\n')}`)),
    );
  });
  return {
    address,
    process: child,
    log: () => lines.join('\n'),
    end: async (signal) => {
      const gone = child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined;
      child.kill(signal);
      await gone;
      return child.exitCode;
    },
  };
}

const running = new Set<ChildProcess>();

after('stop the service processes', () => {
  for (const child of running) child.kill('SIGKILL');
});
