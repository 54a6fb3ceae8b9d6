import { doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import type { CountAt } from '../../../src/counts/count-history.ts';
import { CountChart, formatLinePath } from '../../../src/site/bot/count-chart.tsx';
import { inEnglish } from '../../support/languages.ts';

describe('the chart of counts', () => {
  it('is a line from left to right, the highest count at the top', () => {
    strictEqual(formatLinePath(days([0, 50, 100])), 'M0 156L320 80L640 4');
    strictEqual(formatLinePath(days([100, 0])), 'M0 4L640 156');
  });

  it('does not fill its height with a small change', () => {
    strictEqual(formatLinePath(days([100, 103])), 'M0 88.9L640 71.1');
  });

  it('says the lowest and the highest count, and has the last one at the end of the line', () => {
    const html = render(days([100, 1200, 0, 50]));
    match(
      html,
      /<figcaption>November 19, 2026 – November 22, 2026<br\/>Lowest 0, highest 1,200\.<\/figcaption>/,
    );
    match(html, /<circle cx="100%" cy="95\.2%"[^>]*>.*<text x="100%" y="95\.2%"[^>]*>50<\/text>/);
  });

  it('is a line in the middle where the count stays the same, and nothing without counts', () => {
    strictEqual(formatLinePath(days([5, 5])), 'M0 80L640 80');
    strictEqual(render(days([5])), '');
    strictEqual(render([]), '');
  });

  it('has numbers of any size on it, without a word that is no number', () => {
    doesNotMatch(formatLinePath(days([0, 10_000_000_000, 1])), /NaN|e\+|Infinity/);
  });

  it('tells a screen reader what it shows, and has all numbers in a table behind it', () => {
    const html = render(days([156, 170]));
    match(html, /<svg[^>]* role="img" aria-labelledby="chart-title chart-summary"/);
    match(html, /<title id="chart-title">Servers over time<\/title>/);
    match(html, /<desc id="chart-summary">156 on November 21, 2026, 170 on November 22, 2026\.<\/desc>/);
    match(html, /<details><summary>Show as a table<\/summary><table>/);
    match(
      html,
      /<th scope="row">November 22, 2026<\/th><td>170<\/td>.*<th scope="row">November 21, 2026<\/th><td>156<\/td>/,
    );
  });
});

/** Returns counts of days that end on 22 November 2026. */
function days(counts: readonly number[]): CountAt[] {
  const last = Date.UTC(2026, 10, 22) / 86_400_000;
  return counts.map((count, i) => ({ period: last - counts.length + 1 + i, count }));
}

function render(counts: readonly CountAt[]): string {
  return renderToString(inEnglish(<CountChart counts={counts} />));
}
