import type { VNode } from 'preact';
import { msPerDay } from '../../bot/clock.ts';
import type { CountAt } from '../../counts/count-history.ts';
import { useLanguage } from '../page/page-context.tsx';

/**
 * The counts of a bot over time: a line unless they are all the same, the first and the last count, and a table of all.
 * Empty for fewer than two days.
 * @param props.counts of days without gaps, ascending
 */
export function CountChart({ counts }: { readonly counts: readonly CountAt[] }): VNode | null {
  const { t, text, integer, day } = useLanguage();
  const [first, last] = [counts.at(0), counts.at(-1)];
  if (first === undefined || last === undefined || counts.length < 2) return null;
  const dayOf = (period: number): string => day(period * msPerDay);
  const summary = text('chart.summary', {
    first: first.count,
    firstDay: dayOf(first.period),
    last: last.count,
    lastDay: dayOf(last.period),
  });
  const line = formatLinePath(counts);
  return (
    <figure class="chart">
      {counts.some(({ count }) => count !== first.count) && (
        <svg
          role="img"
          aria-label={summary}
          viewBox={`0 0 ${chartWidth} ${chartHeight}`}
          preserveAspectRatio="none"
        >
          <path
            d={line}
            fill="none"
            stroke="currentColor"
            stroke-width="2.5"
            stroke-linejoin="round"
            vector-effect="non-scaling-stroke"
          />
          <path d={`${line}V${chartHeight}H0z`} fill="currentColor" opacity="0.09" />
        </svg>
      )}
      <figcaption>{summary}</figcaption>
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
 * Returns the line through two or more counts as the `d` of an SVG path, in a box of 640 × 160: time from left to
 * right, the lowest count at the bottom, the highest at the top. The box is at least a quarter of the highest count
 * high, so that small changes stay around the middle.
 */
export function formatLinePath(counts: readonly CountAt[]): string {
  const values = counts.map(({ count }) => count);
  const [lowest, highest] = [Math.min(...values), Math.max(...values)];
  const span = Math.max(highest - lowest, highest / 4, 1);
  const points = values.map((value, i) => {
    const x = (i / (values.length - 1)) * chartWidth;
    const y = chartHeight / 2 - ((value - (lowest + highest) / 2) / span) * (chartHeight - 2 * chartMargin);
    return `${round(x)} ${round(y)}`;
  });
  return `M${points.join('L')}`;
}

const chartWidth = 640;
const chartHeight = 160;

/** Keeps the line from being cut in half at the edges. */
const chartMargin = 4;

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
