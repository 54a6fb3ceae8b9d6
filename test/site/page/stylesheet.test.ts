import { deepStrictEqual, doesNotMatch, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { assets } from '../../../src/site/page/assets.ts';

describe('the stylesheet', () => {
  it('is sent without its comments and indentation, and with all of its rules', () => {
    const sent = assets.stylesheet.body.toString();
    doesNotMatch(sent, /\/\*|\n\s/);
    const source = readFileSync(fileURLToPath(import.meta.resolve('#assets/site.css')), 'utf8');
    const wordsOf = (css: string): string[] =>
      css
        .replaceAll(/\/\*[^]*?\*\//g, ' ')
        .split(/\s+/)
        .filter(Boolean);
    deepStrictEqual(wordsOf(sent.replaceAll(/\.[\w-]{10}\.woff2/g, '.woff2')), wordsOf(source));
  });

  it('names no left and no right, so that it fits both directions', () => {
    const lines = assets.stylesheet.body.toString().split('\n');
    const physical = /(?:^|-)(?:left|right)(?:-\w+)*\s*:|(?:text-align|float|clear)\s*:\s*(?:left|right)/;
    strictEqual(lines.filter((line) => physical.test(line.trim())).join(), '');
  });
});
