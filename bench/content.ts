import { execFileSync } from 'node:child_process';
import { alternate, latencies, rates } from './comparison.ts';
import type { ServerProcess } from './child.ts';
import { sendLoad } from './load.ts';
import { timeGitCommits } from './peers/git-commits.ts';
import { getBot, type LoadRequest, postBot, postCount, takeNumbers } from './request.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage, StageBot } from './stage.ts';
import { median, percentile } from './statistics.ts';

/** Posts that become commits on the branch, against plain git in a clone; and counts beside them. */
export async function* content(stage: Stage): AsyncGenerator<Row> {
  const commit = median(timeGitCommits(stage, 10));
  await using service = await startWholeService(stage);
  const requests = stage.bots.slice(0, 1000).map(postEdit);
  const load = (connections: number) => async (seconds: number) =>
    await sendLoad({ address: service.address, connections, seconds, requests });
  const results = await alternate({ alone: load(1), together: load(256) });
  const latency = median(latencies(results.alone));
  yield {
    name: 'one edit alone, median',
    measured: milliseconds(latency),
    peer: `${peerName} ${milliseconds(commit)}`,
    ratio: commit / latency,
    goal: '≥ 4 ×',
    met: commit / latency >= 4,
  };
  const rate = median(rates(results.together));
  await expectReadable(service, stage);
  yield {
    name: 'edits, 256 connections',
    measured: perSecond(rate),
    peer: `${peerName} ${perSecond(1000 / commit)}`,
    ratio: rate / (1000 / commit),
    goal: '≥ 200 ×',
    met: rate / (1000 / commit) >= 200,
  };
  yield* countsBesideEdits(service, stage, load(32));
}

const peerName = 'git add + commit';

function postEdit(bot: StageBot, i: number): LoadRequest {
  const category = i % 2 === 0 ? 'fun' : 'utility';
  return postBot(bot, `{"category":"${category}","website":"https://example.org/{n}"}`);
}

/** @throws {Error} unless each of 256 edits at once can be read right after its response, and the clone is clean then. */
async function expectReadable({ address }: ServerProcess, { catalogue, bots }: Stage): Promise<void> {
  await Promise.all(
    bots.slice(0, 256).map(async (bot) => {
      const website = `https://example.org/${takeNumbers(1)}`;
      const { path, ...init } = postBot(bot, `{"website":"${website}"}`);
      const { status } = await fetch(address + path, { ...init, body: init.body ?? '' });
      const record = (await (await fetch(address + getBot(bot).path)).json()) as { website: string };
      if (status !== 200 || record.website !== website)
        throw new Error(`an edit responds ${status}, and ${record.website} is read instead of ${website}`);
    }),
  );
  const status = execFileSync('git', ['status', '--porcelain'], { cwd: catalogue, encoding: 'utf8' });
  if (status !== '')
    throw new Error(`the clone is not clean after the last response:\n${status.slice(0, 300)}`);
}

/** What a count waits while others edit, against a time without edits. */
async function* countsBesideEdits(
  service: ServerProcess,
  { bots }: Stage,
  edits: (seconds: number) => Promise<unknown>,
): AsyncGenerator<Row> {
  const [bot] = bots.slice(-1);
  if (bot === undefined) throw new Error('there is no bot to post to');
  const seconds = 5;
  const alone = percentile(await timeCounts(service, bot, seconds), 0.99);
  const [times] = await Promise.all([timeCounts(service, bot, seconds), edits(seconds)]);
  const beside = percentile(times, 0.99);
  yield {
    name: 'counts beside 32 connections that edit, p99',
    measured: milliseconds(beside),
    peer: `alone ${milliseconds(alone)}`,
    ratio: alone / beside,
    goal: '≤ 50 ms more than alone',
    met: beside - alone <= 50,
  };
}

/** Posts one count after the other; returns the milliseconds that each took. */
async function timeCounts({ address }: ServerProcess, bot: StageBot, seconds: number): Promise<number[]> {
  const { path, body = '', ...init } = postCount(bot);
  const times: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end;) {
    const sent = performance.now();
    const response = await fetch(address + path, {
      ...init,
      body: body.replace('{n}', String(takeNumbers(1))),
    });
    await response.arrayBuffer();
    if (!response.ok) throw new Error(`a post of a count responds ${response.status}`);
    times.push(performance.now() - sent);
  }
  return times;
}
