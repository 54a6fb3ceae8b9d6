import { deepStrictEqual, ok } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import {
  minContrast,
  schemes,
  computeColours,
  findWorstContrast,
} from '../../../src/catalogue/settings/accent.ts';

describe('the contrast of an accent colour', () => {
  it('is that with the background on which it is hardest to read', () => {
    const rounded = (accent: string, scheme: 'light' | 'dark'): [string, number] => {
      const { background, ratio } = findWorstContrast(accent, scheme);
      return [background, Math.floor(ratio * 100) / 100];
    };
    deepStrictEqual(rounded('#767676', 'light'), ['#dde9cf', 3.59]);
    deepStrictEqual(rounded('#0b5d3b', 'light'), ['#dde9cf', 6.29]);
    deepStrictEqual(rounded('#8be0b4', 'dark')[0], computeColours('#8be0b4', 'dark')['accent-soft']);
  });

  it('is enough for the colours of the stylesheet, whose backgrounds are those that are compared', () => {
    const css = readFileSync(fileURLToPath(import.meta.resolve('#assets/site.css')), 'utf8');
    const blocks = [...css.matchAll(/:root \{[^}]*\}/g)].map(([block]) => block);
    const value = (block: string | undefined, name: string): string =>
      new RegExp(`--${name}: (#\\w{6});`).exec(block ?? '')?.[1] ?? '';
    for (const [i, scheme] of (['light', 'dark'] as const).entries()) {
      for (const name of ['ground', 'surface', 'sunken', 'wall'] as const)
        deepStrictEqual(value(blocks[i], name), schemes[scheme][name]);
      ok(findWorstContrast(value(blocks[i], 'accent'), scheme).ratio >= minContrast);
    }
  });
});
