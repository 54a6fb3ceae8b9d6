import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { autocannonLoad } from './autocannon.ts';
import { watchOver } from './child.ts';
import { type LoadRequest, send, takeNumbers } from './request.ts';
import { wrkScript } from './wrk-script.ts';

/** Requests sent over and over, each connection waiting for its response before its next request. */
export interface Load {
  readonly address: string;
  readonly connections: number;
  readonly seconds: number;
  readonly requests: readonly LoadRequest[];
  /** Requests a second to send; as many as can be when left out. */
  readonly rate?: number;
}

export interface LoadResult {
  readonly responses: number;
  /** Responses a second. */
  readonly rate: number;
  /** The median time to a response, in milliseconds. */
  readonly latency: number;
}

/** Which program sends the load: wrk costs the least, so that what is measured is the server. */
export const loadProgram = spawnSync('wrk', ['-v']).error === undefined ? 'wrk' : 'autocannon';

/**
 * Sends a load with wrk, else with autocannon.
 * @throws {Error} when any response is missing or has a status above 399; it quotes one if that comes again.
 */
export async function sendLoad(load: Load): Promise<LoadResult> {
  const { responses, seconds, latency, failures } =
    loadProgram === 'wrk' ? await wrkLoad(load) : await autocannonLoad(load);
  if (failures > 0 || responses === 0) {
    const [first] = load.requests;
    if (first) await send(load.address, first);
    throw new Error(`${failures} of ${responses} responses were errors or did not come`);
  }
  return { responses, rate: responses / seconds, latency };
}

/** What a load program counted. */
export interface LoadReport {
  readonly responses: number;
  readonly seconds: number;
  /** Median, milliseconds. */
  readonly latency: number;
  readonly failures: number;
}

async function wrkLoad(load: Load): Promise<LoadReport> {
  const folder = mkdtempSync(join(tmpdir(), 'botshelf-wrk-'));
  try {
    const script = join(folder, 'load.lua');
    writeFileSync(script, wrkScript(load, takeNumbers(numbersPerLoad)));
    const options = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '10s'];
    const child = spawn('wrk', [...options, '-s', script, load.address], {
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const running = watchOver(child);
    let said = '';
    child.stdout.on('data', (chunk: Buffer) => (said += chunk.toString()));
    await once(child, 'close');
    const report = /^\{.*\}$/m.exec(said)?.[0];
    if (report === undefined) throw new Error(`wrk printed no report: ${running.lastWords()}`);
    return JSON.parse(report) as LoadReport;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const numbersPerLoad = 10_000_000;
