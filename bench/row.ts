import type { Stage } from './stage.ts';

/** One figure: what was measured, beside its peer of the same run, and its goal. */
export interface Row {
  readonly name: string;
  readonly measured: string;
  readonly peer?: string;
  /** How many times better than the peer; missing where there is none. */
  readonly ratio?: number;
  readonly goal: string;
  readonly met: boolean;
}

/** When and where rows were measured, and how to do it again. */
export interface Run {
  /** Such as 2026-11-22. */
  readonly date: string;
  readonly machine: string;
  /** Such as 20.20.2. */
  readonly node: string;
  /** What follows `npm run bench --`, without the group; empty where nothing does. */
  readonly options: string;
}

/** Measures the rows of a group on the stage, and yields each as soon as it is known. */
export type RowGroup = (stage: Stage) => AsyncGenerator<Row>;

/** The heading of a group's rows and that of their table, in markdown. */
export function heading(group: string): string {
  return `### \`${group}\`\n\n| result | figure | measured | beside | ratio | goal | run |\n|---|---|---|---|---|---|---|`;
}

/** The rows as those of the table, so that they can be pasted into docs/benchmarks.md: the missed goals first, no goals last. */
export function rowLines(rows: readonly Row[], run: Run): string[] {
  const when = `${run.date}, ${run.machine}, Node ${run.node}${run.options && `, \`${run.options}\``}`;
  const rank = ({ goal, met }: Row): number => (met ? (goal === noGoal ? 2 : 1) : 0);
  return rows
    .toSorted((a, b) => rank(a) - rank(b))
    .map((row) => {
      const { name, measured, peer = '', ratio, goal } = row;
      const times = ratio === undefined ? '' : `${ratio.toFixed(ratio < 100 ? 2 : 0)} ×`;
      const result = ['**not met**', 'met', ''][rank(row)] ?? '';
      return `| ${[result, name, measured, peer, times, goal, when].join(' | ')} |`;
    });
}

/** The row of a group whose figures could not be measured. */
export function failureLine(why: string): string {
  return `| **not measured** | ${why.replaceAll('|', '/')} | | | | | |`;
}

/** Returns the row of a figure without a goal. */
export function plainRow(name: string, measured: string): Row {
  return { name, measured, goal: noGoal, met: true };
}

export function perSecond(rate: number): string {
  return `${rate >= 100 ? Math.round(rate).toLocaleString('en') : rate.toFixed(1)}/s`;
}

export function milliseconds(time: number): string {
  return `${time.toFixed(time < 10 ? 2 : 1)} ms`;
}

const noGoal = '–';
