import { execFileSync } from 'node:child_process';
import { setTimeout as rest } from 'node:timers/promises';
import type { ServerProcess } from './child.ts';
import { sendLoad } from './load.ts';
import { type LoadRequest, postCount, send } from './request.ts';
import { milliseconds, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage } from './stage.ts';
import { median, percentile } from './statistics.ts';

/** What a post waits while thousands of counts are checkpointed, against a time without a checkpoint. */
export async function* postsBesideCheckpoint(stage: Stage): AsyncGenerator<Row> {
  const without = await measure(stage, 3600);
  const beside = await measure(stage, secondsBetweenCheckpoints);
  for (const [name, take] of [
    [`posts beside a checkpoint of ${beside.checkpointed.toLocaleString('en')} counts, longest`, 'longest'],
    ['posts beside that checkpoint, p99', 'p99'],
  ] as const) {
    const waited = beside[take];
    yield {
      name,
      measured: milliseconds(waited),
      peer: `no checkpoint ${milliseconds(without[take])}`,
      ratio: without[take] / waited,
      goal: '≤ 20 ms more than without',
      met: waited - without[take] <= 20 && beside.checkpointed >= Math.min(3000, stage.bots.length / 2),
    };
  }
}

const secondsBetweenCheckpoints = 2;
const rounds = 3;

interface Waiting {
  /** Milliseconds that the longest post of a round took, and its 99th percentile: the median of the rounds. */
  readonly longest: number;
  readonly p99: number;
  /** How many counts the largest checkpoint of a round had, in the round where that was least. */
  readonly checkpointed: number;
}

/** Posts counts of 3,300 bots in one second, then one count each 2 ms until they are checkpointed if they ever are. */
async function measure(stage: Stage, stateSeconds: number): Promise<Waiting> {
  await using service = await startWholeService(stage, { BOTSHELF_STATE_SECONDS: String(stateSeconds) });
  const [lone, ...many] = stage.bots.slice(0, 3301).map(postCount);
  if (lone === undefined) throw new Error('there is no bot to post to');
  await probe(service, lone, 500);
  const all: number[][] = [];
  const checkpointed: number[] = [];
  const checkpoints = stateSeconds === secondsBetweenCheckpoints;
  for (let round = 0; round < rounds; round++) {
    if (checkpoints) await checkpointOf(stage, async () => await send(service.address, lone));
    const tip = stateTip(stage);
    await sendLoad({ address: service.address, connections: 32, seconds: 1, requests: many });
    all.push(await probe(service, lone, (secondsBetweenCheckpoints + 1) * 1000));
    checkpointed.push(largestCheckpoint(stage, tip));
  }
  return {
    longest: median(all.map((times) => Math.max(...times))),
    p99: median(all.map((times) => percentile(times, 0.99))),
    checkpointed: Math.min(...checkpointed),
  };
}

/** Has something checkpointed, so that the next checkpoint has all that comes within its time, and not a part. */
async function checkpointOf(stage: Stage, post: () => Promise<unknown>): Promise<void> {
  const tip = stateTip(stage);
  await post();
  while (stateTip(stage) === tip) await rest(20);
}

/** Sends the request again and again, each time 2 ms after the response; returns what each took in milliseconds. */
async function probe({ address }: ServerProcess, request: LoadRequest, time: number): Promise<number[]> {
  const end = performance.now() + time;
  const times: number[] = [];
  while (performance.now() < end) {
    const sent = performance.now();
    await send(address, request);
    times.push(performance.now() - sent);
    await rest(2);
  }
  return times;
}

function stateTip({ catalogue }: Stage): string {
  return execFileSync('git', ['rev-parse', 'refs/botshelf/state'], {
    cwd: catalogue,
    encoding: 'utf8',
  }).trim();
}

function largestCheckpoint({ catalogue }: Stage, since: string): number {
  const args = ['log', '--format=%s', `${since}..refs/botshelf/state`];
  const subjects = execFileSync('git', args, { cwd: catalogue, encoding: 'utf8' });
  return Math.max(0, ...[...subjects.matchAll(/^Count (\d+) bots?$/gm)].map(([, many]) => Number(many)));
}
