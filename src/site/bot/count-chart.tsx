import type { VNode } from 'preact';
import type { CountAt } from '../../bot/count-timeline.ts';
import { useLanguage } from '../language/page-language.tsx';

/**
 * The counts of a bot over time: a line in the colour of the text, and a table of the same numbers behind it. Nothing
 * where there are fewer than two days to compare.
 * @param props.counts of days without gaps, ascending
 */
export function CountChart({ counts }: { readonly counts: readonly CountAt[] }): VNode | null {
  const { t, text, integer, day } = useLanguage();
  const [first, last] = [counts.at(0), counts.at(-1)];
  if (first === undefined || last === undefined || counts.length < 2) return null;
  const { lowest, highest } = rangeOf(counts);
  const dayOf = (period: number): string => day(period * msPerDay);
  const summary = {
    first: first.count,
    firstDay: dayOf(first.period),
    last: last.count,
    lastDay: dayOf(last.period),
  };
  return (
    <figure class="chart">
      <svg
        viewBox={`0 0 ${width} ${height}`}
        role="img"
        aria-labelledby="chart-title chart-summary"
        preserveAspectRatio="none"
      >
        <title id="chart-title">{text('chart.title')}</title>
        <desc id="chart-summary">{text('chart.summary', summary)}</desc>
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
        {dayOf(first.period)} – {dayOf(last.period)}: {integer(lowest)} – {integer(highest)}
      </figcaption>
      <details>
        <summary>{t('chart.showTable')}</summary>
        <table>
          <thead>
            <tr>
              <th scope="col">{t('chart.day')}</th>
              <th scope="col">{t('bot.serverCount')}</th>
            </tr>
          </thead>
          <tbody>
            {counts.toReversed().map(({ period, count }) => (
              <tr key={period}>
                <th scope="row">{dayOf(period)}</th>
                <td>{integer(count)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </details>
    </figure>
  );
}

/**
 * Returns the line through the counts as the `d` of an SVG path, in a box of 640 × 160: time from left to right, the
 * lowest count at the bottom and the highest at the top; a count that stays the same in the middle. At most one point a
 * pixel.
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

const msPerDay = 86_400_000;

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
