import type { VNode } from 'preact';
import type { CountAt } from '../../bot/count-timeline.ts';

/** The words of a chart, in the language of the page. */
export interface ChartWords {
  /** Such as “Servers over time”. */
  readonly title: string;
  /** What the line does, in a sentence, for those that do not see it. */
  readonly summary: (first: CountAt, last: CountAt) => string;
  /** The heading above the table, which is closed at first. */
  readonly showTable: string;
  readonly day: string;
  readonly count: string;
  /** A day since the epoch. */
  readonly dayOf: (period: number) => string;
  readonly number: (count: number) => string;
}

export interface CountChartProps {
  /** Days without gaps, ascending. */
  readonly counts: readonly CountAt[];
  readonly words: ChartWords;
  /** Begins the ids of the chart's elements; no other of the page has it. */
  readonly id: string;
}

/**
 * The counts of a bot over time: a line in the colour of the text, and a table of the same numbers behind it. Nothing
 * where there are fewer than two days to compare.
 */
export function CountChart({ counts, words, id }: CountChartProps): VNode | null {
  const [first, last] = [counts.at(0), counts.at(-1)];
  if (first === undefined || last === undefined || counts.length < 2) return null;
  const { lowest, highest } = rangeOf(counts);
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-labelledby={`${id}-title ${id}-summary`}
        preserveAspectRatio="none"
      >
        <title id={`${id}-title`}>{words.title}</title>
        <desc id={`${id}-summary`}>{words.summary(first, last)}</desc>
        <path
          d={linePath(counts)}
          fill="none"
          stroke="currentColor"
          stroke-width="2"
          stroke-linejoin="round"
          vector-effect="non-scaling-stroke"
        />
      </svg>
      <figcaption>
        {words.dayOf(first.period)} – {words.dayOf(last.period)}: {words.number(lowest)} –{' '}
        {words.number(highest)}
      </figcaption>
      <details>
        <summary>{words.showTable}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{words.day}</th>
              <th scope="col">{words.count}</th>
            </tr>
          </thead>
          <tbody>
            {counts.toReversed().map(({ period, count }) => (
              <tr key={period}>
                <th scope="row">{words.dayOf(period)}</th>
                <td>{words.number(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/**
 * The line through the counts as the `d` of an SVG path, in a box of 640 × 160: time from left to right, the lowest count
 * at the bottom and the highest at the top; a count that stays the same in the middle. At most one point a pixel.
 */
export function linePath(counts: readonly CountAt[]): string {
  const { lowest, highest } = rangeOf(counts);
  const [first, last] = [counts.at(0)?.period ?? 0, counts.at(-1)?.period ?? 0];
  const every = Math.ceil(counts.length / width);
  const points = counts
    .filter((_count, i) => (counts.length - 1 - i) % every === 0 || i === 0)
    .map(({ period, count }) => {
      const across = last === first ? 0.5 : (period - first) / (last - first);
      const up = highest === lowest ? 0.5 : (count - lowest) / (highest - lowest);
      return `${round(across * width)} ${round(height - margin - up * (height - 2 * margin))}`;
    });
  return points.length === 0 ? '' : `M${points.join('L')}`;
}

const width = 640;
const height = 160;

/** So that the line is not cut in half at the edges. */
const margin = 4;

function rangeOf(counts: readonly CountAt[]): { readonly lowest: number; readonly highest: number } {
  const values = counts.map(({ count }) => count);
  return { lowest: Math.min(...values), highest: Math.max(...values) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
