import { createHmac } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import { getBot, type LoadedServer, manyConnections, postBot, postCount, send, timesUntil } from './load.ts';
import { startWholeService } from './processes.ts';
import { atMost, besideAlone, median, milliseconds, percentile, type Row } from './rows.ts';
import { editPage, git, shareStage, type Stage, type StageBot } from './stage.ts';

/** A replica and its remote: how soon a commit there is visible here, and what a large merge does to reads and posts. */
export async function* sync(stage: Stage): AsyncGenerator<Row> {
  // Pull requests are merged in the clone of a person.
  const { clone, person, var: varFolder } = shareStage(stage);
  await using service = await startWholeService(
    { ...stage, catalogue: clone, var: varFolder },
    { BOTSHELF_REMOTE: 'origin', BOTSHELF_SYNC_SECONDS: '3600', BOTSHELF_WEBHOOK_SECRET: secret },
  );
  const visible = await timeVisible(service, stage, person);
  yield atMost('remote commit, webhook to visible', visible, 1000, milliseconds);
  yield* largeMerge(service, stage, person);
}

const secret = 'of the benchmark';

/** Returns the median time from the webhook of a commit to its bot's new response, in milliseconds. */
async function timeVisible(service: LoadedServer, stage: Stage, person: string): Promise<number> {
  const times: number[] = [];
  for (const [round, bot] of stage.bots.slice(0, 10).entries()) {
    const website = `https://example.org/round-${round}`;
    mergeEdits(person, [bot], website);
    const called = performance.now();
    await callHook(service);
    await untilVisible(service, bot, website);
    times.push(performance.now() - called);
    await rest(500);
  }
  return median(times);
}

async function* largeMerge(service: LoadedServer, stage: Stage, person: string): AsyncGenerator<Row> {
  const many = Math.min(1000, Math.floor(stage.bots.length / 2));
  const merged = stage.bots.slice(-many);
  const [read, posted] = stage.bots;
  if (read === undefined || posted === undefined) throw new Error('there is no bot to post to');
  const alone = await probe(service, read, posted, rest(3000));
  const website = 'https://example.org/merged';
  mergeEdits(person, merged, website);
  const started = performance.now();
  const merging = (async () => {
    await callHook(service);
    // To ask for all of them would take longer than the merge.
    for (const bot of merged.filter((_, i) => i % 40 === 0)) await untilVisible(service, bot, website);
    return performance.now() - started;
  })();
  const beside = await probe(service, read, posted, Promise.all([merging, rest(3000)]));
  const name = `merge of ${many.toLocaleString('en')} files, all visible`;
  yield atMost(name, await merging, 3000, milliseconds);
  const p99 = (times: readonly number[]): number => percentile(times, 0.99);
  const longest = (times: readonly number[]): number => Math.max(...times);
  yield besideAlone('reads beside the merge, p99', p99(beside.reads), p99(alone.reads), 50);
  yield besideAlone('edits beside the merge, longest', longest(beside.edits), longest(alone.edits), 500);
  yield besideAlone('counts beside the merge, p99', p99(beside.counts), p99(alone.counts), 50);
}

interface Waiting {
  /** Milliseconds that each read, each edit and each count took. */
  readonly reads: readonly number[];
  readonly edits: readonly number[];
  readonly counts: readonly number[];
}

/** Reads and posts, each one after the other, until `end` resolves. */
async function probe(
  { address }: LoadedServer,
  read: StageBot,
  posted: StageBot,
  end: Promise<unknown>,
): Promise<Waiting> {
  const [reads, edits, counts] = await Promise.all([
    timesUntil(end, address, getBot(read), 2),
    timesUntil(end, address, postBot(posted, '{"website":"https://example.org/{n}"}'), 20),
    timesUntil(end, address, postCount(posted), 5),
    end,
  ]);
  return { reads, edits, counts };
}

/** Edits the bots' pages in one commit of a person, and pushes it. */
function mergeEdits(person: string, bots: readonly StageBot[], website: string): void {
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

async function callHook({ address }: LoadedServer): Promise<void> {
  const body = JSON.stringify({ at: Date.now() });
  const signature = createHmac('sha256', secret).update(body).digest('hex');
  const headers = { 'X-Hub-Signature-256': `sha256=${signature}` };
  await send(address, { method: 'POST', path: '/hooks/push', headers, body }, manyConnections);
}

async function untilVisible({ address }: LoadedServer, bot: StageBot, website: string): Promise<void> {
  for (;;) {
    const { body } = await send(address, getBot(bot), manyConnections);
    if ((JSON.parse(body.toString()) as { website: string | null }).website === website) return;
    await rest(1);
  }
}
