import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request as open } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as rest } from 'node:timers/promises';
import type { StageBot } from './stage.ts';

export interface LoadRequest {
  readonly method: 'GET' | 'POST' | 'PUT';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Each {n} in it is replaced by a number of ten digits that no other request has. */
  readonly body?: string;
}

export function getBot({ id }: StageBot): LoadRequest {
  return { method: 'GET', path: `/api/v2/bots/${id}`, headers: {} };
}

/** Returns a post of `keys`, which are JSON with or without {n}. */
export function postBot({ id, token }: StageBot, keys: string): LoadRequest {
  return {
    method: 'POST',
    path: `/api/v2/bots/${id}`,
    headers: { Authorization: token, 'Content-Type': 'application/json' },
    body: `{"bot":${keys}}`,
  };
}

/** Returns a post that sets another count than any before. */
export function postCount(bot: StageBot): LoadRequest {
  return postBot(bot, '{"count":{n}}');
}

/** Takes `many` numbers of ten digits that no request has had; returns the first of them. */
export function takeNumbers(many: number): number {
  const first = nextNumber;
  nextNumber += many;
  return first;
}

let nextNumber = 1_000_000_000;

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** One connection that is kept. */
const oneConnection = new Agent({ keepAlive: true, maxSockets: 1 });

/** As many connections as there are requests at the same time. */
export const manyConnections = new Agent({ keepAlive: true });

/**
 * Sends one request.
 * @throws {Error} with the body when the status is above 399.
 */
export async function send(
  address: string,
  { method, path, headers, body }: LoadRequest,
  agent = oneConnection,
): Promise<ReceivedResponse> {
  const sent = body?.replaceAll('{n}', () => String(takeNumbers(1)));
  const received = await new Promise<ReceivedResponse>((resolve, reject) => {
    const request = open(address + path, { method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    request.on('error', reject);
    request.end(sent);
  });
  if (received.status < 400) return received;
  throw new Error(`${method} ${path} responds ${received.status}: ${received.body.toString().slice(0, 300)}`);
}

/** Sends one request after the other; returns the milliseconds that each took. */
export async function timesOf(address: string, requests: Iterable<LoadRequest>): Promise<number[]> {
  const times: number[] = [];
  for (const request of requests) {
    const sent = performance.now();
    await send(address, request);
    times.push(performance.now() - sent);
  }
  return times;
}

/**
 * Sends a request again and again until `end` is settled, each `pauseMs` after the last response; returns the milliseconds
 * that each took.
 */
export async function timesUntil(
  end: Promise<unknown>,
  address: string,
  request: LoadRequest,
  pauseMs = 0,
): Promise<number[]> {
  const over = new AbortController();
  const stop = (): void => over.abort();
  end.then(stop, stop);
  const times: number[] = [];
  for (; !over.signal.aborted; await rest(pauseMs)) {
    const sent = performance.now();
    await send(address, request, manyConnections);
    times.push(performance.now() - sent);
  }
  return times;
}

/** A server that loads are sent to. */
export interface LoadedServer {
  readonly address: string;
  readonly pid: number;
}

/** Requests sent over and over, each connection waiting for its response before its next request. */
export interface Load {
  readonly connections: number;
  readonly seconds: number;
  readonly requests: readonly LoadRequest[];
  /** Requests a second to send; as many as possible if undefined. */
  readonly rate?: number;
}

export interface LoadResult {
  /** Responses a second. */
  readonly rate: number;
  /** The median time to a response, in milliseconds. */
  readonly latency: number;
  /** Microseconds of CPU of the server for each response, in steps of 10 ms for all of them. */
  readonly cpu: number;
}

/**
 * Sends a load with wrk, which takes the least of the machine for itself.
 * @throws {Error} when any response is missing or has a status above 399; it quotes one if that comes again.
 */
export async function sendLoad({ address, pid }: LoadedServer, load: Load): Promise<LoadResult> {
  const cpuBefore = cpuOf(pid);
  const { responses, seconds, latency, failures } = await runWrk(address, load);
  const cpu = cpuOf(pid) - cpuBefore;
  if (failures > 0 || responses === 0) {
    const [first] = load.requests;
    if (first) await send(address, first);
    throw new Error(`${failures} of ${responses} responses were errors or did not come`);
  }
  return { rate: responses / seconds, latency, cpu: cpu / responses };
}

/** Returns a contender that sends a load of these requests. */
export function loadOf(server: LoadedServer, requests: readonly LoadRequest[], connections = 32) {
  return async (seconds: number): Promise<LoadResult> =>
    await sendLoad(server, { connections, seconds, requests });
}

interface Report {
  readonly responses: number;
  readonly seconds: number;
  readonly latency: number;
  readonly failures: number;
}

async function runWrk(address: string, load: Load): Promise<Report> {
  const folder = mkdtempSync(join(tmpdir(), 'botshelf-wrk-'));
  try {
    const script = join(folder, 'load.lua');
    writeFileSync(script, toScript(address, load, takeNumbers(10_000_000)));
    const options = ['-t1', `-c${load.connections}`, `-d${load.seconds}s`, '--timeout', '10s', '-s', script];
    const wrk = spawn('wrk', [...options, address], { stdio: ['ignore', 'pipe', 'inherit'] });
    const failed = new Promise<never>((_, reject) =>
      wrk.once('error', () => reject(new Error('install the Debian package "wrk"'))),
    );
    const printed = await Promise.race([text(wrk.stdout), failed]);
    const report = /^\{.*\}$/m.exec(printed)?.[0];
    if (report === undefined) throw new Error(`wrk printed no report: ${printed}`);
    return JSON.parse(report) as Report;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Requests are whole texts already, cut at their number, so that sending one costs wrk a concatenation. */
function toScript(address: string, { requests, rate }: Load, firstNumber: number): string {
  const { host } = new URL(address);
  // Requests are ASCII, for which JSON and Lua write a string alike.
  const texts = requests.map((request) =>
    toText(host, request)
      .split('{n}')
      .map((part) => JSON.stringify(part)),
  );
  return `local requests = {\n${texts.map((parts) => `{${parts.join(', ')}}`).join(',\n')}\n}
local sent, number = 0, ${firstNumber}
function request()
  sent = sent + 1
  local text = requests[(sent - 1) % #requests + 1]
  if #text == 1 then return text[1] end
  number = number + 1
  return table.concat(text, string.format("%d", number))
end
${rate === undefined ? '' : toDelay(rate)}
function done(summary, latency)
  local errors = summary.errors
  local failures = errors.connect + errors.read + errors.write + errors.status + errors.timeout
  io.write(string.format('\\n{"responses":%d,"seconds":%f,"latency":%f,"failures":%d}\\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, failures))
end
`;
}

/** Assigns every request a slot in time; one that is late, by a second at most, is sent immediately. */
function toDelay(rate: number): string {
  return `local ffi = require("ffi")
ffi.cdef("typedef struct { long s; long us; } botshelf_time; int gettimeofday(botshelf_time *, void *);")
local time = ffi.new("botshelf_time")
local slot
function delay()
  ffi.C.gettimeofday(time, nil)
  local now = tonumber(time.s) * 1000 + tonumber(time.us) / 1000
  slot = slot and math.max(slot + ${1000 / rate}, now - 1000) or now
  return math.max(0, math.floor(slot - now))
end
`;
}

function toText(host: string, { method, path, headers, body }: LoadRequest): string {
  const lines = Object.entries({ Host: host, ...headers }).map(([name, value]) => `${name}: ${value}\r\n`);
  if (body === undefined) return `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n`;
  const length = body.replaceAll('{n}', '0123456789').length;
  return `${method} ${path} HTTP/1.1\r\n${lines.join('')}Content-Length: ${length}\r\n\r\n${body}`;
}

/** Returns the microseconds of CPU of a process and its descendants, in user and system mode, with those that have ended. */
export function cpuOf(pid: number): number {
  const processes = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((id) => {
      try {
        // The name of the program, in brackets, may contain blanks.
        const words = readFileSync(`/proc/${id}/stat`, 'utf8')
          .replace(/^.*\) /s, '')
          .split(' ')
          .map(Number);
        // User and system time, then those of children that have ended.
        const ticks = words.slice(11, 15).reduce((all, time) => all + time, 0);
        return [{ pid: Number(id), parent: words[1], ticks }];
      } catch {
        // It has just ended.
        return [];
      }
    });
  const ticksBelow = (parent: number): number =>
    processes
      .filter((one) => one.parent === parent)
      .reduce((sum, child) => sum + child.ticks + ticksBelow(child.pid), 0);
  return ((processes.find((one) => one.pid === pid)?.ticks ?? 0) + ticksBelow(pid)) * 10_000;
}
