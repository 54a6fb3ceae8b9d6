import type { VNode } from 'preact';
import { msPerDay } from '../../bot/clock.ts';
import type { CountAt } from '../../counts/count-history.ts';
import { useLanguage } from '../page/page-context.tsx';

/**
 * The counts of a bot over time: a line in the text colour with the last count at its end, the lowest and highest
 * count, and a table of all counts. Empty for fewer than two days.
 * @param props.counts of days without gaps, ascending
 */
export function CountChart({ counts }: { readonly counts: readonly CountAt[] }): VNode | null {
  const { t, text, integer, day } = useLanguage();
  const [first, last] = [counts.at(0), counts.at(-1)];
  if (first === undefined || last === undefined || counts.length < 2) return null;
  const range = findRange(counts);
  const end = `${round(100 - (toChartHeight(last, range) / chartHeight) * linePercent)}%`;
  const dayOf = (period: number): string => day(period * msPerDay);
  const summary = {
    first: first.count,
    firstDay: dayOf(first.period),
    last: last.count,
    lastDay: dayOf(last.period),
  };
  return (
    <figure class="chart">
      <svg role="img" aria-labelledby="chart-title chart-summary">
        <title id="chart-title">{text('chart.title')}</title>
        <desc id="chart-summary">{text('chart.summary', summary)}</desc>
        <svg
          viewBox={`0 0 ${chartWidth} ${chartHeight}`}
          y={`${100 - linePercent}%`}
          height={`${linePercent}%`}
          preserveAspectRatio="none"
        >
          <path
            d={formatLinePath(counts)}
            fill="none"
            stroke="currentColor"
            stroke-width="2"
            stroke-linejoin="round"
            vector-effect="non-scaling-stroke"
          />
        </svg>
        <circle cx="100%" cy={end} r="4" fill="currentColor" />
        <text x="100%" y={end} dy="-0.7em" text-anchor="end" aria-hidden="true">
          {integer(last.count)}
        </text>
      </svg>
      <figcaption>
        {dayOf(first.period)} – {dayOf(last.period)}
        <br />
        {t('chart.range', { ...range })}
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
 * Returns the line through two or more counts as the `d` of an SVG path, in a box of 640 × 160: time from left to
 * right, the lowest count at the bottom, the highest at the top. The box is at least a quarter of the highest count
 * high, so that small changes stay around the middle.
 */
export function formatLinePath(counts: readonly CountAt[]): string {
  const range = findRange(counts);
  const points = counts.map((point, i) => {
    const across = (i / (counts.length - 1)) * chartWidth;
    return `${round(across)} ${round(chartHeight - toChartHeight(point, range))}`;
  });
  return `M${points.join('L')}`;
}

/** Returns the height of a count above the bottom of the box. */
function toChartHeight({ count }: CountAt, { lowest, highest }: CountRange): number {
  const span = Math.max(highest - lowest, highest / 4, 1);
  return chartHeight / 2 + ((count - (lowest + highest) / 2) / span) * (chartHeight - 2 * chartMargin);
}

/** The height of the line in percent of the picture; the number at its end is above it. */
const linePercent = 75;

const chartWidth = 640;
const chartHeight = 160;

/** Keeps the line from being cut in half at the edges. */
const chartMargin = 4;

interface CountRange {
  readonly lowest: number;
  readonly highest: number;
}

function findRange(counts: readonly CountAt[]): CountRange {
  const values = counts.map(({ count }) => count);
  return { lowest: Math.min(...values), highest: Math.max(...values) };
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
