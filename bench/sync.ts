import { execFileSync } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import type { ServerProcess } from './child.ts';
import { getBot, type LoadRequest, postBot, postCount, takeNumbers } from './request.ts';
import { milliseconds, type Row } from './row.ts';
import { startWholeService } from './service.ts';
import { editPage, type Stage, type StageBot } from './stage.ts';
import { median, percentile } from './statistics.ts';

/** A replica and its remote: how soon a commit there is visible here, and what a large merge does to reads and posts. */
export async function* sync(stage: Stage): AsyncGenerator<Row> {
  const { replica, person } = shareRepository(stage);
  await using service = await startWholeService(replica, {
    BOTSHELF_REMOTE: 'origin',
    BOTSHELF_SYNC_SECONDS: '3600',
    BOTSHELF_WEBHOOK_SECRET: secret,
  });
  yield await visibleAfterWebhook(service, stage, person);
  yield* largeMerge(service, stage, person);
}

const secret = 'of the benchmark';
const rounds = 10;
const mergedFiles = 1000;

interface Shared {
  /** The stage, with a clone for the service. */
  readonly replica: Stage;
  /** Another clone, in which pull requests are merged. */
  readonly person: string;
}

function shareRepository(stage: Stage): Shared {
  const folder = stage.tempFolder();
  const [shared, clone, person] = ['shared.git', 'clone', 'person'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  git(folder, 'clone', '-q', '--bare', '--shared', stage.catalogue, shared);
  git(stage.catalogue, 'push', '-q', shared, 'refs/botshelf/state');
  for (const to of [clone, person]) git(folder, 'clone', '-q', '--shared', shared, to);
  return { replica: { ...stage, catalogue: clone, var: join(folder, 'var') }, person };
}

async function visibleAfterWebhook(service: ServerProcess, stage: Stage, person: string): Promise<Row> {
  const times: number[] = [];
  for (const [round, bot] of stage.bots.slice(0, rounds).entries()) {
    const before = await etagOf(service, bot);
    merge(person, [bot], `https://example.org/round-${round}`);
    const called = performance.now();
    await callHook(service, round);
    while ((await etagOf(service, bot)) === before) await rest(1);
    times.push(performance.now() - called);
    await rest(500);
  }
  const time = median(times);
  return {
    name: 'remote commit, webhook to visible',
    measured: milliseconds(time),
    goal: '≤ 1,000 ms',
    met: time <= 1000,
  };
}

async function* largeMerge(service: ServerProcess, stage: Stage, person: string): AsyncGenerator<Row> {
  const many = Math.min(mergedFiles, Math.floor(stage.bots.length / 2));
  const merged = stage.bots.slice(-many);
  const [read, posted] = stage.bots;
  if (read === undefined || posted === undefined) throw new Error('there is no bot to post to');
  const alone = await probe(service, read, posted, rest(3000));
  merge(person, merged, 'https://example.org/merged');
  const started = performance.now();
  const merging = (async () => {
    await callHook(service, rounds);
    // To ask for all of them would take longer than the merge.
    for (const bot of merged.filter((_, i) => i % 40 === 0)) {
      while ((await websiteOf(service, bot)) !== 'https://example.org/merged') await rest(5);
    }
    return performance.now() - started;
  })();
  const beside = await probe(service, read, posted, Promise.all([merging, rest(3000)]));
  const time = await merging;
  yield {
    name: `merge of ${many.toLocaleString('en')} files, all visible`,
    measured: milliseconds(time),
    goal: '≤ 3,000 ms',
    met: time <= 3000,
  };
  const p99 = percentile(beside.reads, 0.99);
  const p99Alone = percentile(alone.reads, 0.99);
  yield {
    name: 'reads beside the merge, p99',
    measured: milliseconds(p99),
    peer: `alone ${milliseconds(p99Alone)}`,
    ratio: p99Alone / p99,
    goal: '≤ 50 ms more than alone',
    met: p99 - p99Alone <= 50,
  };
  const longest = Math.max(...beside.posts);
  const longestAlone = Math.max(...alone.posts);
  yield {
    name: 'posts of content beside the merge, longest',
    measured: milliseconds(longest),
    peer: `alone ${milliseconds(longestAlone)}`,
    ratio: longestAlone / longest,
    goal: '≤ 500 ms more than alone',
    met: longest - longestAlone <= 500,
  };
  const counts = percentile(beside.counts, 0.99);
  const countsAlone = percentile(alone.counts, 0.99);
  yield {
    name: 'counts beside the merge, p99',
    measured: milliseconds(counts),
    peer: `alone ${milliseconds(countsAlone)}`,
    ratio: countsAlone / counts,
    goal: '≤ 50 ms more than alone',
    met: counts - countsAlone <= 50,
  };
}

interface Waiting {
  /** Milliseconds that each read, each post of content and each count took. */
  readonly reads: readonly number[];
  readonly posts: readonly number[];
  readonly counts: readonly number[];
}

/** Reads and posts, each one after the other, until `end` resolves. */
async function probe(
  { address }: ServerProcess,
  read: StageBot,
  posted: StageBot,
  end: Promise<unknown>,
): Promise<Waiting> {
  const over = new AbortController();
  const ended = end.finally(() => over.abort());
  const time = async ({ path, ...init }: LoadRequest, pause: number): Promise<number[]> => {
    const times: number[] = [];
    while (!over.signal.aborted) {
      // Not with `send`, whose one connection all would wait for.
      const body = init.body?.replace('{n}', String(takeNumbers(1)));
      const sent = performance.now();
      const response = await fetch(address + path, { ...init, ...(body === undefined ? {} : { body }) });
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${path} responds ${response.status}`);
      times.push(performance.now() - sent);
      await rest(pause);
    }
    return times;
  };
  const [reads, posts, counts] = await Promise.all([
    time(getBot(read), 2),
    time(postBot(posted, '{"website":"https://example.org/{n}"}'), 20),
    time(postCount(posted), 5),
    ended,
  ]);
  return { reads, posts, counts };
}

/** Edits the bots' pages in one commit of a person, and pushes it. */
function merge(person: string, bots: readonly StageBot[], website: string): void {
  for (;;) {
    git(person, 'fetch', '-q', 'origin');
    git(person, 'reset', '-q', '--hard', 'origin/main');
    for (const { path } of bots) editPage(person, path, { website, edited: Date.now() });
    git(person, 'commit', '-q', '-a', '-m', `Edit ${bots.length} bots`);
    try {
      git(person, 'push', '-q', 'origin', 'main');
      return;
    } catch {
      // The replica has pushed in between.
    }
  }
}

async function callHook({ address }: ServerProcess, round: number): Promise<void> {
  const body = JSON.stringify({ round, at: Date.now() });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'X-Hub-Signature-256': `sha256=${signature}` };
  const { status } = await fetch(`${address}/hooks/push`, { method: 'POST', headers, body });
  if (status !== 202) throw new Error(`the webhook responds ${status}`);
}

async function etagOf({ address }: ServerProcess, bot: StageBot): Promise<string | null> {
  const response = await fetch(address + getBot(bot).path);
  await response.arrayBuffer();
  return response.headers.get('etag');
}

async function websiteOf({ address }: ServerProcess, bot: StageBot): Promise<string | null> {
  const response = await fetch(address + getBot(bot).path);
  return ((await response.json()) as { website: string | null }).website;
}

function git(folder: string, ...args: string[]): void {
  const identity = ['-c', 'user.name=Bench', '-c', 'user.email=bench@localhost', '-c', 'gc.auto=0'];
  execFileSync('git', [...identity, ...args], { cwd: folder, stdio: 'pipe' });
}
