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
  /** What follows `npm run bench --`. */
  readonly command: string;
}

/** Measures the rows of a group on the stage, and yields each as soon as it is known. */
export type RowGroup = (stage: Stage) => AsyncGenerator<Row>;

/** The heading of a group's rows, in markdown: when, where and how they were measured. */
export function heading({ date, machine, node, command }: Run): string {
  return `### \`${command}\`: ${date}, ${machine}, Node ${node}\n`;
}

/** The row as an item of a list, on two lines of the document at most: rows can be pasted into docs/benchmarks.md. */
export function rowLine({ name, measured, peer, ratio, goal, met }: Row): string {
  const times = ratio === undefined ? '' : `: ${ratio.toFixed(ratio < 100 ? 2 : 0)} ×`;
  const beside = peer === undefined ? '' : `beside ${peer}${times}; `;
  return wrapped(`- ${name}: ${measured}`, `${beside}goal ${goal}: ${met ? 'met' : '**not met**'}`);
}

/** The line of a group whose rows could not be measured. */
export function failureLine(why: string): string {
  return wrapped('- **not measured**', why);
}

/** Returns the row of a figure without a goal. */
export function plainRow(name: string, measured: string): Row {
  return { name, measured, goal: '–', met: true };
}

export function perSecond(rate: number): string {
  return `${rate >= 100 ? Math.round(rate).toLocaleString('en') : rate.toFixed(1)}/s`;
}

export function milliseconds(time: number): string {
  return `${time.toFixed(time < 10 ? 2 : 1)} ms`;
}

function wrapped(begin: string, end: string): string {
  const line = `${begin}; ${end}`;
  return line.length <= widest ? line : `${begin};\n  ${end}`;
}

const widest = 120;
