import { deepStrictEqual, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';

const axe = readFileSync(fileURLToPath(import.meta.resolve('axe-core/axe.min.js')), 'utf8');

/**
 * Returns what axe finds in a page, a line each. It comes through the debugger, so the page's own policy stays on.
 * @param rules the only rules to apply; all where left out, with the one on the size of what is pressed
 */
export async function axeViolations(page: Page, rules?: readonly string[]): Promise<string[]> {
  await page.evaluate(`if (!('axe' in window)) { ${axe} }`);
  const options = {
    resultTypes: ['violations'],
    // There are no frames, and no rule that is on reads style sheets or media.
    iframes: false,
    preload: false,
    ...(rules === undefined ? { rules: { 'target-size': { enabled: true } } } : { runOnly: rules }),
  };
  return await page.evaluate(`axe.run(${JSON.stringify(options)}).then(({ violations }) =>
    violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html.slice(0, 200)).join(' | ')))`);
}

/**
 * Checks a page at these widths: it is not wider than the screen, and axe finds nothing at the last of them.
 * @param name what a failure calls the page
 */
export async function checkAtWidths(page: Page, name: string, widths: readonly number[]): Promise<void> {
  for (const width of widths) {
    await page.setViewportSize({ width, height: 900 });
    ok((await excessWidth(page)) <= 0, `${name}, ${width} pixels wide`);
  }
  deepStrictEqual(await axeViolations(page), [], `${name}, ${widths.at(-1)} pixels wide`);
}

/** Checks the contrast of a page in dark colours. */
export async function checkInDark(page: Page, name: string): Promise<void> {
  await page.emulateMedia({ colorScheme: 'dark' });
  deepStrictEqual(await axeViolations(page, ['color-contrast']), [], `${name}, dark`);
  await page.emulateMedia({ colorScheme: 'light' });
}

/** Run in a page before anything else: notes what moves after it was painted. */
export const observeShifts = `
  globalThis.shifts = [];
  new PerformanceObserver((list) => {
    for (const { value, sources } of list.getEntries()) {
      const moved = sources.map(({ node, previousRect: was, currentRect: is }) =>
        [was.y, is.y, was.height, is.height, node?.outerHTML?.slice(0, 100) ?? node?.nodeValue].join(' '));
      shifts.push({ value, moved });
    }
  }).observe({ type: 'layout-shift', buffered: true });`;

/** Checks that a page with `observeShifts` has not moved. @param limit the sum of layout shifts that nobody sees */
export async function checkStillness(page: Page, name: string, limit = 0.001): Promise<void> {
  const shifts = await page.evaluate<{ value: number; moved: string[] }[]>(
    'new Promise((resolve) => requestAnimationFrame(() => setTimeout(() => resolve(shifts), 50)))',
  );
  const sum = shifts.reduce((total, { value }) => total + value, 0);
  const moved = shifts.flatMap(({ value, moved }) => moved.map((text) => `${value} ${text}`));
  ok(sum < limit, `${name} has moved by ${sum}:\n${moved.join('\n')}`);
}

/** Returns by how many pixels a page has to be scrolled sideways. */
export async function excessWidth(page: Page): Promise<number> {
  return await page.evaluate('document.documentElement.scrollWidth - innerWidth');
}
