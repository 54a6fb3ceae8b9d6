import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fastImport } from '../src/git/commit/fast-import.ts';
import { Maintenance } from '../src/git/maintenance.ts';
import { RepositoryOpener } from '../src/git/repository.ts';
import { silentLog } from '../src/lib/log.ts';
import { CountHistory } from '../src/counts/count-history.ts';
import { pruneHistory } from '../src/counts/prune-history.ts';
import type { State } from '../src/counts/state.ts';
import { Random } from './random.ts';
import { plainRow, type Row } from './row.ts';
import { type Stage, type StageBot, stateFiles, stateOf } from './stage.ts';

/**
 * What the history of counts adds to the repository: every bot has posted in each hour of some days, so each hour has a
 * commit in which all files are others, as the last commit of an hour is to that of the hour before.
 */
export async function* history(stage: Stage): AsyncGenerator<Row> {
  for (const [name, next] of Object.entries(models)) yield* measure(stage, name, next);
}

/** The count after a bot's count. */
type Model = (count: number, random: Random) => number;

const models: Readonly<Record<string, Model>> = {
  'counts that go up and down a little': (count, random) =>
    random.fraction() < 0.5 ? count : Math.max(1, count + random.integer(-2, 3)),
  'counts that are drawn anew': (_count, random) => random.integer(1, 100_000),
};

async function* measure(stage: Stage, model: string, next: Model): AsyncGenerator<Row> {
  const folder = stage.tempFolder();
  execFileSync('git', ['init', '-q', folder]);
  const repositoryOpener = new RepositoryOpener(folder);
  const counts = new HourlyCounts(folder, stage, next);
  let now = Date.UTC(2026, 0, 1) / 1000;
  /** Posts for some days, and once on the day after, which lets these be pruned. */
  const live = async (days: number): Promise<number> => {
    for (let hour = 0; hour < days * 24; hour++, now += 3600) {
      counts.commit(now);
      if (hour % 24 === 23) await maintain(repositoryOpener, 0);
    }
    counts.commit(now);
    await maintain(repositoryOpener, now);
    return reachableMegabytes(folder);
  };
  const read = async (): Promise<number> => {
    const started = performance.now();
    const options = { repositoryOpener, latest: () => undefined, folder: stage.tempFolder(), log: silentLog };
    await new CountHistory({ ...options, now: () => now * 1000 }).update();
    return (performance.now() - started) / 1000;
  };
  try {
    const before = await live(3);
    const seconds = await read();
    const day = ((await live(2)) - before) / 2;
    yield {
      name: `a day of ${model}, pruned`,
      measured: `${day.toFixed(1)} MB`,
      goal: '≤ 10 MB',
      met: day <= 10,
    };
    yield plainRow('three pruned days, read from Git', `${seconds.toFixed(1)} s`);
  } finally {
    repositoryOpener.close();
  }
}

async function maintain(repositoryOpener: RepositoryOpener, since: number): Promise<void> {
  const prune = async (repository: Parameters<typeof pruneHistory>[0]): Promise<number | undefined> =>
    await pruneHistory(repository, since);
  const maintenance = new Maintenance({ repositoryOpener, log: silentLog, prune });
  await maintenance.run();
  await maintenance.close();
}

class HourlyCounts {
  readonly #folder: string;
  readonly #bots: readonly StageBot[];
  readonly #counts: Float64Array;
  readonly #state: State;
  readonly #random = new Random(7);
  readonly #next: Model;
  #isFirst = true;

  constructor(folder: string, { bots }: Stage, next: Model) {
    this.#folder = folder;
    this.#bots = bots;
    this.#state = stateOf(bots);
    this.#next = next;
    this.#counts = Float64Array.from(bots, () => Math.round(10 ** (1 + 4 * this.#random.fraction())));
  }

  /** Commits the counts of an hour (seconds since the epoch), posted at any time of it. */
  commit(time: number): void {
    for (const [i, { id }] of this.#bots.entries()) {
      const value = this.#next(this.#counts[i] ?? 0, this.#random);
      this.#counts[i] = value;
      this.#state.merge(id, { count: { value, at: time * 1000 - this.#random.integer(0, 1_799_999) } });
    }
    const from = this.#isFirst ? '' : 'from refs/botshelf/state^0\n';
    this.#isFirst = false;
    const head = `commit refs/botshelf/state\ncommitter Bench <bench@localhost> ${time} +0000\ndata 13\nCount bots...\n${from}`;
    execFileSync('git', fastImport, {
      cwd: this.#folder,
      input: `${head}${stateFiles(this.#state, this.#bots)}\ndone\n`,
    });
  }
}

/** The size of the packs of all that is reached, with their indexes. */
function reachableMegabytes(folder: string): number {
  const packs = join(folder, '.git/objects/pack');
  const names = readdirSync(packs);
  const cruft = new Set(
    names.filter((name) => name.endsWith('.mtimes')).map((name) => name.replace(/\..*/, '')),
  );
  const reached = names.filter((name) => !cruft.has(name.replace(/\..*/, '')));
  return reached.reduce((sum, name) => sum + statSync(join(packs, name)).size, 0) / 1e6;
}
