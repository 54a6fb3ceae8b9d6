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
  /** What follows `npm run bench --`. */
  readonly command: string;
}

/** Measures the rows of a group on the stage, and yields each as soon as it is known. */
export type RowGroup = (stage: Stage) => AsyncGenerator<Row>;

/** The head of the table, in markdown: rows can be pasted into docs/benchmarks.md. */
export function headingLines(): string {
  const names = ['figure', 'goal', 'peer', 'ratio', 'date', 'machine', 'command', 'met'];
  return `${line(names)}\n${line(names.map(() => '---'))}`;
}

/** The row as a line of the table. */
export function rowLine({ name, measured, peer, ratio, goal, met }: Row, run: Run): string {
  const times = ratio === undefined ? '' : ratio.toFixed(ratio < 100 ? 2 : 0);
  const { date, machine, command } = run;
  return line([
    `${name}: ${measured}`,
    goal,
    peer ?? '',
    times,
    date,
    machine,
    `\`${command}\``,
    met ? 'yes' : '**no**',
  ]);
}

/** The line of a group whose rows could not be measured. */
export function failureLine(why: string, { date, machine, command }: Run): string {
  return line([`not measured: ${why}`, '', '', '', date, machine, `\`${command}\``, '**no**']);
}

export function perSecond(rate: number): string {
  return `${rate >= 100 ? Math.round(rate).toLocaleString('en') : rate.toFixed(1)}/s`;
}

export function milliseconds(time: number): string {
  return `${time.toFixed(time < 10 ? 2 : 1)} ms`;
}

const widths = [52, 24, 36, 6, 10, 15, 10, 6];

function line(cells: readonly string[]): string {
  const padded = cells.map((cell, i) => cell.replaceAll('|', '\\|').padEnd(widths[i] ?? 0));
  return `| ${padded.join(' | ')} |`;
}
