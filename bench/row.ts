import type { Stage } from './stage.ts';

/** One line of the table: what was measured, beside its peer of the same run and the target. */
export interface Row {
  readonly name: string;
  readonly measured: string;
  readonly peer?: string;
  /** How many times better than the peer; left out where there is none. */
  readonly ratio?: number;
  readonly target: string;
  readonly met: boolean;
}

/** A group of rows that share a running service; each is given as soon as it is measured. */
export type RowGroup = (stage: Stage) => AsyncGenerator<Row>;

/** The table's heading, as wide as its rows. */
export function headingLine(): string {
  return line(['row', 'measured', 'peer', 'ratio', 'target', 'met']);
}

export function rowLine({ name, measured, peer, ratio, target, met }: Row): string {
  return line([
    name,
    measured,
    peer ?? '–',
    ratio === undefined ? '–' : ratio.toFixed(ratio < 100 ? 2 : 0),
    target,
    met ? 'yes' : 'NO',
  ]);
}

/** The line of rows that could not be measured. */
export function failureLine(group: string, why: string): string {
  return `${group.padEnd(widths[0] ?? 0)}  not measured: ${why}`;
}

export function perSecond(rate: number): string {
  return `${rate >= 100 ? Math.round(rate).toLocaleString('en') : rate.toFixed(1)}/s`;
}

export function milliseconds(time: number): string {
  return `${time.toFixed(time < 10 ? 2 : 1)} ms`;
}

const widths = [36, 16, 36, 7, 28, 3];

function line(cells: readonly string[]): string {
  return cells
    .map((cell, i) => cell.padEnd(widths[i] ?? 0))
    .join('  ')
    .trimEnd();
}
