import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as rest } from 'node:timers/promises';
import { formatOpenRef, formatStep } from '../src/proposals/proposal.ts';
import { startServer } from './child.ts';
import { alternate, rates } from './comparison.ts';
import { type LoadResult, sendLoad } from './load.ts';
import { decide, newBot, openProposals } from './open-proposals.ts';
import { getBot, postCount, timesOf } from './request.ts';
import { milliseconds, perSecond, plainRow, type Row } from './row.ts';
import { untilIdle } from './service.ts';
import type { Stage } from './stage.ts';
import { median, medianRatio, percentile } from './statistics.ts';

/** Counts and reads beside a flood of proposals; a send, an accept, and a start with as many as may be open. */
export async function* proposals(stage: Stage): AsyncGenerator<Row> {
  yield* beside(stage);
  yield* steps(stage);
  yield* start(stage);
}

async function* beside(stage: Stage): AsyncGenerator<Row> {
  await using service = await startServer({
    command: ['bench/flooded-service.js'],
    readyPath: '/readyz',
    env: {
      BOTSHELF_CATALOGUE: stage.catalogue,
      BOTSHELF_VAR: stage.var,
      BOTSHELF_RATE_LIMIT: '0',
      BOTSHELF_IMAGES: 'off',
    },
  });
  await untilIdle(service);
  const { address, pid } = service;
  const bots = stage.bots.slice(0, 1000);
  let floodedMs = 0;
  const flooded = async <T>(work: () => Promise<T>): Promise<T> => {
    const began = performance.now();
    process.kill(pid, 'SIGUSR2');
    return await work().finally(() => {
      process.kill(pid, 'SIGUSR2');
      floodedMs += performance.now() - began;
    });
  };
  const post = async (seconds: number): Promise<LoadResult> =>
    await sendLoad({ address, connections: 16, seconds, requests: bots.map(postCount) });
  const counts = await alternate({
    alone: post,
    beside: async (seconds) => await flooded(async () => await post(seconds)),
  });
  const ratio = medianRatio(rates(counts.beside), rates(counts.alone));
  yield {
    name: 'counts beside a flood of proposals',
    measured: perSecond(median(rates(counts.beside))),
    peer: `alone ${perSecond(median(rates(counts.alone)))}`,
    ratio,
    goal: '≥ 0.5 × alone',
    met: ratio >= 0.5,
  };
  const read = async (): Promise<number> =>
    percentile(
      await timesOf(
        address,
        bots.map((bot) => getBot(bot)),
      ),
      0.99,
    );
  const alone: number[] = [];
  const inFlood: number[] = [];
  for (let round = 0; round < 5; round++) {
    await rest(500);
    alone.push(await read());
    inFlood.push(await flooded(read));
  }
  yield {
    name: 'p99 of reads beside a flood of proposals',
    measured: milliseconds(median(inFlood)),
    peer: `alone ${milliseconds(median(alone))}`,
    goal: '≤ 20 ms',
    met: median(inFlood) <= 20,
  };
  const sent = (countClosed(stage.catalogue) * 1000) / floodedMs;
  if (sent === 0) throw new Error('nothing was proposed');
  yield plainRow('proposals sent and withdrawn in the flood', perSecond(sent));
}

/** Counts the proposals that were closed. */
function countClosed(catalogue: string): number {
  const args = ['for-each-ref', '--format=%(objectname)', 'refs/botshelf/closed'];
  return execFileSync('git', args, { cwd: catalogue, encoding: 'utf8' }).split('\n').length - 1;
}

async function* steps(stage: Stage): AsyncGenerator<Row> {
  await using opened = openProposals(stage.catalogue);
  const { proposals } = opened;
  await proposals.load();
  const sends: number[] = [];
  const accepts: number[] = [];
  for (let number = 7_000_000; number < 7_000_020; number++) {
    const sent = newBot(number);
    const began = performance.now();
    const { proposal } = await proposals.send(sent);
    const middle = performance.now();
    await proposals.decide(sent.subject, sent.proposer.id, decide('accepted', proposal.version));
    sends.push(middle - began);
    accepts.push(performance.now() - middle);
  }
  yield plainRow('a proposal is sent, median of 20', milliseconds(median(sends)));
  yield plainRow('a proposal is accepted, median of 20', milliseconds(median(accepts)));
}

async function* start(stage: Stage): AsyncGenerator<Row> {
  const catalogue = join(stage.tempFolder(), 'catalogue');
  execFileSync('git', ['clone', '--quiet', '--shared', stage.catalogue, catalogue]);
  execFileSync('git', ['fast-import', '--quiet', '--force'], {
    cwd: catalogue,
    input: formatImport(catalogue),
  });
  execFileSync('git', ['reset', '--quiet', '--hard'], { cwd: catalogue });
  execFileSync('git', ['pack-refs', '--all'], { cwd: catalogue });
  await using opened = openProposals(catalogue);
  const { proposals } = opened;
  const delay = monitorEventLoopDelay({ resolution: 1 });
  delay.enable();
  const began = performance.now();
  await proposals.load();
  const loaded = performance.now();
  if (proposals.open.length !== maxOpen) throw new Error(`${proposals.open.length} proposals are open`);
  const comparing = proposals.closeAccepted().then(() => performance.now());
  const [first] = proposals.open;
  if (first === undefined) throw new Error('no proposal is open');
  await proposals.withdraw(first.subject, first.proposer.id, first.version);
  const withdrawn = performance.now();
  const compared = await comparing;
  delay.disable();
  const longest = delay.max / 1e6;
  yield {
    name: '10,000 open proposals are read at the start',
    measured: milliseconds(loaded - began),
    goal: '≤ 2000 ms',
    met: loaded - began <= 2000,
  };
  yield plainRow('and compared with the branch, after the start', milliseconds(compared - loaded));
  yield plainRow('a step that is made at the same time', milliseconds(withdrawn - loaded));
  yield {
    name: 'the longest delay of the event loop in that time',
    measured: milliseconds(longest),
    goal: '≤ 100 ms',
    met: longest <= 100,
  };
  rmSync(catalogue, { recursive: true });
}

/** Proposals that may be open. */
const maxOpen = 10_000;

/** What makes the proposals, and a commit after them that changes each folder, so that all are compared with the branch. */
function formatImport(catalogue: string): string {
  const base = execFileSync('git', ['rev-parse', 'HEAD'], { cwd: catalogue, encoding: 'utf8' }).trim();
  const branch = execFileSync('git', ['symbolic-ref', 'HEAD'], { cwd: catalogue, encoding: 'utf8' }).trim();
  const committer = 'committer Bench <bench@localhost> 1700000000 +0000';
  const data = (text: string): string => `data ${Buffer.byteLength(text)}\n${text}\n`;
  const add = (number: number): string =>
    [...newBot(number).pages].map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`).join('');
  const all = Array.from({ length: maxOpen }, (_, i) => 1_000_000 + i).map((number) => {
    const { subject, proposer } = newBot(number);
    const step = { subject, proposer, base, state: 'waiting', sentAt: Date.now(), text: '' } as const;
    const message = formatStep({ ...step, reviewer: null, reason: null, commit: null });
    return `commit ${formatOpenRef(subject, proposer.id)}\n${committer}\n${data(message)}from ${base}\n${add(number)}`;
  });
  const others = Array.from({ length: 1000 }, (_, i) => add(2_000_000 + i)).join('');
  return `${all.join('')}commit ${branch}\n${committer}\n${data('Add bots\n')}from ${base}\n${others}`;
}
