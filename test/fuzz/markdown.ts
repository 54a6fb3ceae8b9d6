import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { hostileHtml } from '../support/hostile-html.ts';
import { picture, render, wrongs } from '../support/safe-html.ts';
import type { Target } from './fuzzer.ts';
import { split } from './words.ts';

/** Only the allowed parts of a page are left, in their place, in bounds, and the same each time. */
export const markdown: Target = {
  words: [
    `<img src="${picture}" width=32 align=right>`,
    '- [x] ',
    ...split(
      'href="https://a.example/" style= onclick= id="a" align=center colspan=9 javascript: data: <br> <!-- --> <![CDATA[ ]]> \n\n \n > - # |a|b|\n|-|:-:|\n| ** ` ```js\n [a]( ![a]( [a]: ](#a) ) " &lt; &#0; &colon; \0 https:// :tada: \\',
    ),
    ...split(
      'a abbr b blockquote button caption center code dd details div dl dt form h1 h2 i img li math mglyph mi noscript object ol option p plaintext pre ruby rt script section select span style summary svg table tbody td template textarea th title tr ul x-a xmp',
    ).flatMap((tag) => [`<${tag}>`, `</${tag}>`, `<${tag} `]),
    ...Object.values(hostileHtml),
  ],
  seeds: Object.values(hostileHtml),
  libraries: ['markdown-it', 'parse5'],
  maxLength: 2000,
  test: (input) => {
    const text = input.toString();
    const html = render(text);
    if (html === null) return;
    deepStrictEqual(wrongs(html), []);
    strictEqual(render(text), html);
    ok(html.length < 20_000 + 100 * text.length, `${html.length} characters of ${text.length}`);
  },
};
