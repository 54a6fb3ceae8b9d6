import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { mainFile } from './command-line.ts';
import { ServiceLog } from './service-log.ts';

/**
 * A service in a process of its own, as an operator runs it. It ends with the test that started it or, where a
 * `before` hook did, with the file. A test fails when its service logged a warning or an error, or wrote anything
 * else to standard error, that the test has not said to expect.
 */
export interface ServiceProcess {
  readonly address: string;
  readonly process: ChildProcess;
  /** What it has logged so far. */
  log(): string;
  /** Expects a warning or an error that matches: it is no fault, but it is one when the service ends without it. */
  expectLog(pattern: RegExp): void;
  /** Allows a warning or an error that matches, where it depends on chance whether there is one, such as after a kill. */
  allowLog(pattern: RegExp): void;
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
    env: {
      ...process.env,
      BOTSHELF_CATALOGUE: root,
      BOTSHELF_BASE_URL: 'https://bots.example.org',
      PORT: '0',
      BOTSHELF_RATE_LIMIT: '0',
      BOTSHELF_BAD_TOKEN_LIMIT: '0',
      BOTSHELF_IMAGES: 'off',
      ...env,
    },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  const log = new ServiceLog();
  // Once its standard error is closed as well, so that its last words are not missed.
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  const end = async (signal: NodeJS.Signals): Promise<number | null> => {
    child.kill(signal);
    await gone;
    return child.exitCode;
  };
  started.add({ child, log, end, ofTest: testRuns });
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

interface Started {
  readonly child: ChildProcess;
  readonly log: ServiceLog;
  readonly end: (signal: NodeJS.Signals) => Promise<number | null>;
  /** A test or its hooks started it, not a hook of the suite. */
  readonly ofTest: boolean;
}

const started = new Set<Started>();

/** Whether a test runs, with the hooks before and after it. */
let testRuns = false;

before('have the services of a file end with it', function () {
  for (const suite of this.test?.parent?.suites ?? []) {
    suite.afterAll('stop the services of the file', async () => {
      const faults = await endServices([...started]);
      if (faults.length > 0) throw faultOf(faults);
    });
  }
});

beforeEach(() => {
  testRuns = true;
});

afterEach('stop the services of the test', async function () {
  testRuns = false;
  const faults = await endServices([...started].filter(({ ofTest }) => ofTest));
  for (const { log } of started) faults.push(...log.takeUnexpected());
  // Thrown here, it would end the whole run.
  if (faults.length > 0) (this.test as Mocha.Hook).error(faultOf(faults));
});

process.once('exit', () => {
  for (const { child } of started) child.kill('SIGKILL');
});

/** Ends these services, and returns what they have done that they should not have. */
async function endServices(services: readonly Started[]): Promise<string[]> {
  const faults = await Promise.all(
    services.map(async (service) => {
      started.delete(service);
      const { log } = service;
      const wrongEnd = await endService(service);
      return [
        ...(wrongEnd === undefined ? [] : [wrongEnd]),
        ...log.takeUnexpected(),
        ...log.missing().map((pattern) => `(nothing that matches ${pattern}, which was expected)`),
      ];
    }),
  );
  return faults.flat();
}

/** Ends a service, if it still runs, as an operator does. Returns what went wrong. */
async function endService({ child, end }: Started): Promise<string | undefined> {
  if (child.exitCode !== null || child.signalCode !== null) {
    await end('SIGTERM');
    return undefined;
  }
  // The service itself gives open connections ten seconds.
  const impatience = setTimeout(() => child.kill('SIGKILL'), 20_000);
  const code = await end('SIGTERM');
  clearTimeout(impatience);
  return code === 0 ? undefined : `(it ended with ${code ?? child.signalCode} after SIGTERM)`;
}

function faultOf(lines: readonly string[]): Error {
  return new Error(
    `The service logged what no test expects:\n${lines.join('\n')}\n` +
      'Fix the cause or, where the test is about it, say so with service.expectLog(/…/).',
  );
}
