import type { LoadResult } from './load.ts';
import type { Stage } from './stage.ts';

/** One figure and its goal. */
export interface Row {
  /** What was measured, with the goal behind it if there is one, such as `front page, warm: ≥ 10,000/s`. */
  readonly goal: string;
  readonly measured: string;
  /** Undefined for a figure without a goal. */
  readonly met?: boolean;
  /** What tells how the figure grows with the list: a time, CPU or bytes. */
  readonly cost?: number;
}

/** Measures the rows of a group on the stage, and yields each as soon as it is known. */
export type RowGroup = (stage: Stage) => AsyncGenerator<Row>;

export const heading = '| goal | measured | command |\n|---|---|---|';

/** Returns the table of rows that were measured with lists of several sizes, ascending, by their goals. */
export function formatGrowth(sizes: readonly number[], rows: ReadonlyMap<string, readonly Row[]>): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const head = ['', ...sizes.map((size) => `${size.toLocaleString('en')} bots`), 'grows'];
  const lines = Array.from(rows, ([goal, measured]) =>
    line([goal, ...measured.map((row) => row.measured), describeGrowth(sizes, measured)]),
  );
  return [line(head), line(head.map(() => '---')), ...lines].join('\n');
}

/** Compares the costs with the smallest and the largest list. */
function describeGrowth(sizes: readonly number[], rows: readonly Row[]): string {
  const ratioOf = (all: readonly (number | undefined)[]): number => (all.at(-1) ?? NaN) / (all[0] ?? NaN);
  const growth = ratioOf(rows.map(({ cost }) => cost));
  if (Number.isNaN(growth)) return '';
  if (growth <= 1.5) return 'flat';
  return growth <= 1.5 * ratioOf(sizes) ? 'with the list' : 'worse';
}

/** Returns a row of the table in docs/benchmarks.md. */
export function formatRow({ goal, measured, met }: Row, command: string): string {
  const cells = [`${met === false ? '**missed** ' : ''}${goal}`, measured, command];
  return `| ${cells.map((cell) => cell.replaceAll('|', '/')).join(' | ')} |`;
}

/** Returns the row of a figure that may be `most` at most. */
export function atMost(name: string, value: number, most: number, format: (value: number) => string): Row {
  return { goal: `${name}: ≤ ${format(most)}`, measured: format(value), met: value <= most };
}

/** Returns the row of a time in milliseconds that may be `most` more next to something else than alone. */
export function besideAlone(name: string, beside: number, alone: number, most: number): Row {
  return {
    goal: `${name}: ≤ ${milliseconds(most)} more than alone`,
    measured: `${milliseconds(beside)}, alone ${milliseconds(alone)}`,
    met: beside - alone <= most,
  };
}

export const notInstalled = 'the peer is not installed: see docs/benchmarks.md';

/** Returns the row of a rate that has to be `least` times that of a peer. */
export function ratioRow(name: string, ours: Rounds, peer: Rounds, title: string, least: number): Row {
  const goal = `${name}: ≥ ${least}× ${title}`;
  if (peer.rate.length === 0) return { goal, measured: notInstalled, met: false };
  const ratio = medianRatio(ours.rate, peer.rate);
  return {
    goal,
    measured: `${times(ratio)}, ${formatRate(ours)} beside ${formatRate(peer)}`,
    met: ratio >= least,
  };
}

export function perSecond(rate: number): string {
  return `${rate >= 100 ? Math.round(rate).toLocaleString('en') : rate.toFixed(1)}/s`;
}

/** Returns the median rate, with the CPU of the server for each request. */
export function formatRate({ rate, cpu }: Pick<Rounds, 'rate' | 'cpu'>): string {
  return `${perSecond(median(rate))} (CPU ${microseconds(median(cpu))})`;
}

export function microseconds(time: number): string {
  return `${Math.round(time).toLocaleString('en')} µs`;
}

export function milliseconds(time: number): string {
  return `${time >= 10 ? time.toLocaleString('en', { maximumFractionDigits: 1 }) : Number(time.toFixed(2))} ms`;
}

export function megabytes(size: number): string {
  return `${size.toLocaleString('en', { maximumFractionDigits: 0 })} MB`;
}

export function times(ratio: number): string {
  return `${ratio.toFixed(ratio < 100 ? 2 : 0)}×`;
}

/** Returns the middle of the values; of two middles the upper one. */
export function median(values: readonly number[]): number {
  return percentile(values, 0.5);
}

/** Returns the value that `share` (0 to 1) of the values are below. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
}

/** Returns the median of the rounds' ratios: what slows the machine down for a while slows both sides of a ratio. */
export function medianRatio(ours: readonly number[], peer: readonly number[]): number {
  return median(ours.map((value, round) => value / (peer[round] ?? Number.NaN)));
}

/** What the loads of a contender measured, by round. */
export type Rounds = Readonly<Record<keyof LoadResult, readonly number[]>>;

/** Sends its load for some seconds; undefined for a peer that is not installed, whose rounds are empty. */
export type Contender = ((seconds: number) => Promise<LoadResult>) | undefined;

/** Runs the contenders in turns, after a warm-up: five rounds of two seconds each. */
export async function alternate<K extends string>(
  contenders: Readonly<Record<K, Contender>>,
): Promise<Record<K, Rounds>> {
  const runs = Object.entries<Contender>(contenders).map(([name, run]) => ({
    name,
    run,
    results: [] as LoadResult[],
  }));
  for (const { run } of runs) await run?.(1);
  for (let round = 0; round < 5; round++)
    for (const { run, results } of runs) if (run) results.push(await run(2));
  const rounds = runs.map(({ name, results }) => {
    const pick = (key: keyof LoadResult): number[] => results.map((result) => result[key]);
    return [name, { rate: pick('rate'), latency: pick('latency'), cpu: pick('cpu') }];
  });
  return Object.fromEntries(rounds) as Record<K, Rounds>;
}
