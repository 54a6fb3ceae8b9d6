import { doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import type { CountAt } from '../../../src/counts/count-history.ts';
import { CountChart, formatLinePath } from '../../../src/site/bot/bot-panels.tsx';
import { inEnglish } from '../../support/languages.ts';

describe('the chart of counts', () => {
  it('is a line from left to right, the highest count at the top, which does not fill its height with a small change', () => {
    for (const [counts, path] of [
      [[0, 50, 100], 'M0 156L320 80L640 4'],
      [[100, 0], 'M0 4L640 156'],
      [[100, 103], 'M0 88.9L640 71.1'],
    ] as const)
      strictEqual(formatLinePath(days(counts)), path);
  });

  it('is not drawn where the count stays the same, and nothing without counts', () => {
    const html = render(days([5, 5]));
    doesNotMatch(html, /<svg/);
    match(html, /<figcaption>5 on November 21, 2026, 5 on November 22, 2026\.<\/figcaption>/);
    strictEqual(render(days([5])), '');
    strictEqual(render([]), '');
  });

  it('has numbers of any size on it, without a word that is no number', () => {
    doesNotMatch(formatLinePath(days([0, 10_000_000_000, 1])), /NaN|e\+|Infinity/);
  });

  it('tells a screen reader what it shows, and has all numbers in a table behind it', () => {
    const html = render(days([156, 170]));
    const summary = '156 on November 21, 2026, 170 on November 22, 2026.';
    match(html, new RegExp(`<svg role="img" aria-label="${summary}"`));
    match(html, new RegExp(`<figcaption>${summary}</figcaption>`));
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
