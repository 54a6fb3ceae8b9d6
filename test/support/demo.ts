import { spawn } from 'node:child_process';
import { mainFile } from './command-line.ts';
import { cleanUp } from './cleanup.ts';

/** A `botshelf demo` in a process of its own. It ends with the file's tests. */
export interface DemoProcess {
  readonly address: string;
  /** The catalogue. */
  readonly folder: string;
  /** The standard output so far. */
  stdout(): string;
  /** The standard error so far. */
  stderr(): string;
  /** Sends a signal and resolves with the exit code, null when the signal ended it, once it has gone. */
  end(signal: 'SIGTERM' | 'SIGINT'): Promise<number | null>;
}

/** Runs `botshelf demo` and waits until it says where it is. */
export async function startDemo(env: Readonly<Record<string, string>> = {}): Promise<DemoProcess> {
  const child = spawn(process.execPath, [mainFile, 'demo'], {
    env: { PATH: process.env['PATH'], TMPDIR: process.env['TMPDIR'], ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    await gone;
    return child.exitCode;
  };
  cleanUp(async () => await end('SIGTERM'));
  process.once('exit', () => child.kill('SIGTERM'));
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [address, folder] = await new Promise<[string, string]>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const [, address, folder] = /ready at (http:\S+)\n\n.+: (\/.+)\n/.exec(stdout) ?? [];
      if (address !== undefined && folder !== undefined) resolve([address, folder]);
    });
    child.once('close', (code) => reject(new Error(`the demo ended (${code}): ${stdout}${stderr}`)));
  });
  return { address, folder, stdout: () => stdout, stderr: () => stderr, end };
}
