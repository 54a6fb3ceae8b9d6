import { deepStrictEqual } from 'node:assert/strict';
import { assets } from '../../../src/site/page/assets.ts';

describe('the stylesheet', () => {
  it('names no left and no right, so that it fits both directions', () => {
    const lines = assets.stylesheet.body.toString().split('\n');
    const physical = /(?:^|-)(?:left|right)(?:-\w+)*\s*:|(?:text-align|float|clear)\s*:\s*(?:left|right)/;
    deepStrictEqual(
      lines.filter((line) => physical.test(line.trim())),
      [],
    );
  });
});
