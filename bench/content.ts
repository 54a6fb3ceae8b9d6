import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { loadOf, type LoadRequest, postBot, postCount, takeNumbers, timesUntil } from './load.ts';
import { startWholeService } from './processes.ts';
import {
  alternate,
  besideAlone,
  formatRate,
  median,
  milliseconds,
  percentile,
  perSecond,
  type Row,
  times,
} from './rows.ts';
import { editPage, git, type Stage, type StageBot } from './stage.ts';

/** Posts that become commits on the branch, against plain git in a clone; and counts next to them. */
export async function* content(stage: Stage): AsyncGenerator<Row> {
  const commit = median(timeGitCommits(stage, 10));
  await using service = await startWholeService(stage);
  const requests = stage.bots.slice(0, 1000).map(postEdit);
  const load = (connections: number) => loadOf(service, requests, connections);
  const { alone, together } = await alternate({ alone: load(1), together: load(256) });
  const latency = median(alone.latency);
  yield {
    goal: 'one edit alone: ≥ 4× as fast as git add + commit',
    measured: `${times(commit / latency)}, ${milliseconds(latency)} beside ${milliseconds(commit)}`,
    met: commit / latency >= 4,
  };
  const rate = median(together.rate);
  const ratio = (rate * commit) / 1000;
  yield {
    goal: 'edits, 256 connections: ≥ 200× git add + commit',
    measured: `${times(ratio)}, ${formatRate(together)} beside ${perSecond(1000 / commit)}`,
    met: ratio >= 200,
  };
  const timeCounts = async (end: Promise<unknown>): Promise<number> =>
    percentile(await timesUntil(end, service.address, postCount(stage.bots.at(-1) as StageBot)), 0.99);
  const countsAlone = await timeCounts(rest(5000));
  const beside = await timeCounts(load(32)(5));
  yield besideAlone('counts beside 32 connections that edit, p99', beside, countsAlone, 50);
}

/** Edits a page and commits it with plain git, `many` times in a clone of its own. Returns the milliseconds of each. */
function timeGitCommits(stage: Stage, many: number): number[] {
  const folder = join(stage.tempFolder(), 'clone');
  git(stage.catalogue, 'clone', '--quiet', '--shared', '.', folder);
  return stage.bots.slice(0, many).map(({ path }) => {
    const started = performance.now();
    editPage(folder, path, { website: `https://example.org/${takeNumbers(1)}` });
    git(folder, 'add', '--', path);
    git(folder, 'commit', '--quiet', '-m', 'Update a bot');
    return performance.now() - started;
  });
}

export function postEdit(bot: StageBot, i: number): LoadRequest {
  const category = i % 2 === 0 ? 'fun' : 'utility';
  return postBot(bot, `{"category":"${category}","website":"https://example.org/{n}"}`);
}
