import { setTimeout as rest } from 'node:timers/promises';
import { msPerDay } from '../src/bot/clock.ts';
import { compareBotIds } from '../src/bot/id.ts';
import { CountHistory } from '../src/counts/count-history.ts';
import { toDay, toDayPath } from '../src/counts/state.ts';
import { RepositoryOpener } from '../src/git/repository.ts';
import { silentLog as log } from '../src/lib/log.ts';
import { importCommits, importFile } from './catalogue.ts';
import { Random } from './random.ts';
import { atMost, type Row } from './rows.ts';
import { git, packedMegabytes, type Stage } from './stage.ts';

const dayCount = 730;
const maxBots = 20_000;

/** Two years in which the counts of up to 20,000 bots change every day: what a day adds to the repository, and the first read. */
export async function* days(stage: Stage): AsyncGenerator<Row> {
  const folder = stage.tempFolder();
  const bots = stage.bots.slice(0, maxBots);
  git(folder, 'init', '-q');
  await importCommits(folder, generateDays(bots.map(({ id }) => id).toSorted(compareBotIds)));
  const size = (packedMegabytes(folder) / dayCount / bots.length) * 100_000;
  yield atMost('a day of 100,000 bots in Git', size, 3, (all) => `${all.toFixed(2)} MB`);
  const repositoryOpener = new RepositoryOpener(folder);
  const history = new CountHistory({ repositoryOpener, latest: () => undefined, log });
  const started = performance.now();
  const cpu = process.cpuUsage();
  history.start();
  for (const [name, most] of [
    ['90 days', 2],
    [`${dayCount} days`, 20],
  ] as const) {
    const { version } = history;
    while (history.version === version) await rest(5);
    const wall = (performance.now() - started) / 1000;
    const { user, system } = process.cpuUsage(cpu);
    yield {
      goal: `first read of ${name}, ${bots.length} bots: ≤ ${most} s`,
      measured: `${wall.toFixed(1)} s, CPU ${((user + system) / 1e6).toFixed(1)} s`,
      met: wall <= most,
    };
  }
  await history.close();
  repositoryOpener.close();
}

/** Yields a commit with a file for each day; a count goes up or down by a few hundredths a day. */
function* generateDays(ids: readonly string[]): Generator<string> {
  const random = new Random(1);
  const counts = ids.map(() => random.integer(10, 20_000));
  const today = toDay(Date.now());
  yield 'commit refs/botshelf/state\ncommitter Bench <bench@localhost> 1700000000 +0000\ndata 5\nCount\n';
  for (let day = today - dayCount; day < today; day++) {
    const lines = ids.map((id, i) => {
      counts[i] = Math.max(
        1,
        Math.round((counts[i] ?? 0) * (0.97 + 0.06 * random.fraction())) + random.integer(-1, 1),
      );
      return `${id} ${counts[i]} ${(day + 1) * msPerDay - random.integer(1, msPerDay / 48)}\n`;
    });
    yield importFile(toDayPath(day), lines.join(''));
  }
}
