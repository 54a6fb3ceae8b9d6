import { join } from 'node:path';
import {
  getBot,
  loadOf,
  type LoadRequest,
  manyConnections,
  postBot,
  postCount,
  send,
  takeNumbers,
  timesOf,
} from './load.ts';
import { type ServerProcess, startWholeService } from './processes.ts';
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
  await expectReadable(service, stage);
  const rate = median(together.rate);
  const ratio = (rate * commit) / 1000;
  yield {
    goal: 'edits, 256 connections: ≥ 200× git add + commit',
    measured: `${times(ratio)}, ${formatRate(together)} beside ${perSecond(1000 / commit)}`,
    met: ratio >= 200,
  };
  const seconds = 5;
  const countsAlone = percentile(await timeCounts(service, stage, seconds), 0.99);
  const [counted] = await Promise.all([timeCounts(service, stage, seconds), load(32)(seconds)]);
  const beside = percentile(counted, 0.99);
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

/** @throws {Error} unless each of 256 edits at a time can be read right after its response, and the clone is clean then. */
async function expectReadable({ address }: ServerProcess, { catalogue, bots }: Stage): Promise<void> {
  await Promise.all(
    bots.slice(0, 256).map(async (bot) => {
      const website = `https://example.org/${takeNumbers(1)}`;
      await send(address, postBot(bot, `{"website":"${website}"}`), manyConnections);
      const { body } = await send(address, getBot(bot), manyConnections);
      const record = JSON.parse(body.toString()) as { website: string };
      if (record.website !== website)
        throw new Error(`${record.website} is read right after an edit to ${website}`);
    }),
  );
  const status = git(catalogue, 'status', '--porcelain');
  if (status !== '')
    throw new Error(`the clone is not clean after the last response:\n${status.slice(0, 300)}`);
}

/** Posts one count after the other; returns the milliseconds that each took. */
async function timeCounts({ address }: ServerProcess, { bots }: Stage, seconds: number): Promise<number[]> {
  const requests = bots.slice(-1).map(postCount);
  const taken: number[] = [];
  for (const end = performance.now() + seconds * 1000; performance.now() < end;)
    taken.push(...(await timesOf(address, requests)));
  return taken;
}
