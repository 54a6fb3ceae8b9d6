import { setTimeout as rest } from 'node:timers/promises';
import { type LoadedServer, loadOf, postCount, send, timesUntil } from './load.ts';
import { startKoaCounts, startPostgresCounts, startSqliteCounts } from './peers.ts';
import { startWholeService } from './processes.ts';
import {
  alternate,
  formatRate,
  median,
  medianRatio,
  milliseconds,
  notInstalled,
  ratioRow,
  type Row,
  times,
} from './rows.ts';
import { git, type Stage } from './stage.ts';

/**
 * Durable posts of counts, against Fastify with PostgreSQL and with SQLite where those are installed, and against the
 * least that Koa, its router and the journal cost; then posts while thousands of counts are committed to Git.
 */
export async function* counts(stage: Stage): AsyncGenerator<Row> {
  yield* besidePeers(stage);
  yield* besideCheckpoint(stage);
}

async function* besidePeers(stage: Stage): AsyncGenerator<Row> {
  await using service = await startWholeService(stage);
  await using postgres = await startPostgresCounts(stage);
  await using sqlite = await startSqliteCounts(stage);
  await using koa = await startKoaCounts(stage);
  const requests = stage.bots.slice(0, 1000).map(postCount);
  for (const connections of [1, 256]) {
    const load = (server: LoadedServer) => loadOf(server, requests, connections);
    const ours = await alternate({
      service: load(service),
      koa: load(koa),
      postgres: postgres && load(postgres),
      sqlite: sqlite && load(sqlite),
    });
    if (connections === 1) {
      const [alone, peer] = [ours.service.latency, ours.postgres.latency];
      yield {
        goal: 'one count alone: ≤ PostgreSQL',
        measured: postgres
          ? `${milliseconds(median(alone))} beside ${milliseconds(median(peer))}`
          : notInstalled,
        met: medianRatio(peer, alone) >= 1,
      };
      continue;
    }
    const name = `counts, ${connections} connections`;
    yield ratioRow(name, ours.service, ours.postgres, 'PostgreSQL', 1.5);
    yield ratioRow(name, ours.service, ours.sqlite, 'SQLite', 1);
    const ratio = medianRatio(ours.service.cpu, ours.koa.cpu);
    yield {
      goal: `CPU of ${name}: ≤ 1.4× Koa`,
      measured: `${times(ratio)}, ${formatRate(ours.service)} beside ${formatRate(ours.koa)}`,
      met: ratio <= 1.4,
    };
  }
}

/** What a post waits while thousands of counts are committed to Git, against a time without a checkpoint. */
async function* besideCheckpoint(stage: Stage): AsyncGenerator<Row> {
  const without = await timePosts(stage, 3600);
  const beside = await timePosts(stage, secondsBetweenCheckpoints);
  const enough = beside.checkpointed >= Math.min(3000, stage.bots.length / 2);
  yield {
    goal: `counts beside a checkpoint of ${beside.checkpointed.toLocaleString('en')}, longest: ≤ 20 ms more than without`,
    measured: `${milliseconds(beside.longest)}, without ${milliseconds(without.longest)}`,
    met: enough && beside.longest - without.longest <= 20,
  };
}

const secondsBetweenCheckpoints = 2;

interface Waiting {
  /** Milliseconds that the longest post of a round took: the median of three rounds. */
  readonly longest: number;
  /** How many counts the largest checkpoint of a round had, in the round where that was least. */
  readonly checkpointed: number;
}

/** Posts counts of 3,300 bots in one second, then one every 2 ms until a checkpoint was due. */
async function timePosts(stage: Stage, stateSeconds: number): Promise<Waiting> {
  await using service = await startWholeService(stage, { BOTSHELF_STATE_SECONDS: String(stateSeconds) });
  const [lone, ...many] = stage.bots.slice(0, 3301).map(postCount);
  if (lone === undefined) throw new Error('there is no bot to post to');
  const post = async (time: number): Promise<number[]> =>
    await timesUntil(rest(time), service.address, lone, 2);
  await post(500);
  const rounds: number[][] = [];
  const checkpointed: number[] = [];
  for (let round = 0; round < 3; round++) {
    const before = stateTip(stage);
    if (stateSeconds === secondsBetweenCheckpoints) {
      // After a checkpoint, so that the next one has all that comes within its time, and not a part.
      await send(service.address, lone);
      while (stateTip(stage) === before) await rest(20);
    }
    const tip = stateTip(stage);
    await loadOf(service, many)(1);
    rounds.push(await post((secondsBetweenCheckpoints + 1) * 1000));
    const log = git(stage.catalogue, 'log', '--format=%s', `${tip}..refs/botshelf/state`);
    checkpointed.push(Math.max(0, ...[...log.matchAll(/^Count (\d+) bots?$/gm)].map(([, n]) => Number(n))));
  }
  return {
    longest: median(rounds.map((all) => Math.max(...all))),
    checkpointed: Math.min(...checkpointed),
  };
}

function stateTip({ catalogue }: Stage): string {
  return git(catalogue, 'rev-parse', 'refs/botshelf/state').trim();
}
