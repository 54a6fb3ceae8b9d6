import { alternate, latencies, rates } from './comparison.ts';
import { sendLoad } from './load.ts';
import { timeGitCommits } from './peers/git-commits.ts';
import { type LoadRequest, postBot } from './request.ts';
import { milliseconds, perSecond, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import type { Stage, StageBot } from './stage.ts';
import { median } from './statistics.ts';

/** Posts that become commits on the branch, against plain git in a clone. */
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
    target: '≤ 25 ms',
    met: latency <= 25,
  };
  const rate = median(rates(results.together));
  yield {
    name: 'edits, 256 connections',
    measured: perSecond(rate),
    peer: `${peerName} ${perSecond(1000 / commit)}`,
    ratio: rate / (1000 / commit),
    target: '≥ 1,000/s',
    met: rate >= 1000,
  };
}

const peerName = 'git add + commit';

function postEdit(bot: StageBot, i: number): LoadRequest {
  const category = i % 2 === 0 ? 'fun' : 'utility';
  return postBot(bot, `{"category":"${category}","website":"https://example.org/{n}"}`);
}
