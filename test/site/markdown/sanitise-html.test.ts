import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { readCases, unquote } from '../../support/fixture-lines.ts';
import { hostileHtml } from '../../support/hostile-html.ts';
import { hostilePages } from '../../support/hostile-pages.ts';
import { render, wrongs } from '../../support/safe-html.ts';

const rendered = (text: string): string => render(text) ?? 'null';

describe('HTML of strangers', () => {
  describe('leaves nothing that runs, loads or leaves its place by', () => {
    for (const [name, text] of Object.entries(hostileHtml)) {
      it(name, () => {
        deepStrictEqual(wrongs(rendered(text)), []);
        deepStrictEqual(wrongs(rendered(`<div>\n${text}\n</div>`)), []);
        deepStrictEqual(wrongs(rendered(`- **a** ${text}\n- b`)), []);
      });
    }
  });

  it('of 20,000 characters comes to an end and to a page of bounded size, in which nothing is left @slow', () => {
    for (const [name, text] of Object.entries(hostilePages)) {
      const html = render(text);
      ok(html === null || html.length < 400_000, name);
      if (html !== null && html.length < 60_000) deepStrictEqual(wrongs(html), [], name);
    }
  });

  it('that would become too many elements, or too deep, is not laid out', () => {
    for (const name of [
      'bold that every paragraph opens again',
      'thirteen kinds of emphasis that every paragraph opens again',
      'a wide table of empty rows',
      'nested <div>',
    ])
      strictEqual(render(hostilePages[name] ?? ''), null, name);
  });

  for (const { title, input, expected } of readCases('html'))
    it(title, () => strictEqual(rendered(unquote(input)).trimEnd(), expected.join('\n')));

  it('ends with its table, be it left open', () =>
    strictEqual(render('<table><tr><td>a'), render('<table><tr><td>a</td></tr></table>')));

  it('is shown where it is allowed', () => {
    const all =
      '<p><b>b</b> <kbd>k</kbd> <sub>1</sub> <sup>2</sup> <del>d</del> <mark>m</mark> <abbr title="t">a</abbr><br>x</p>' +
      '<hr><ul><li>i</li></ul><ol start="3"><li>i</li></ol><dl><dt>t</dt><dd>d</dd></dl>' +
      '<blockquote>q</blockquote><details open=""><summary>s</summary>d</details>';
    strictEqual(render(all), all);
  });

  it('has its headings below that of the page, together with those of markdown', () => {
    const html = rendered('<h1 align="center">A</h1>\n\n## B\n\n<div><h5>C</h5></div>\n\n# D');
    strictEqual(html.match(/<h\d/g)?.join(''), '<h2<h3<h4<h2');
  });

  it('has no picture of which we have no copy, as markdown has none', () => {
    const html = rendered('<a href="https://example.org"><img src="https://example.org/b.png" alt="B"></a>');
    doesNotMatch(html, /<a [^>]*>[^<]*<a /);
    strictEqual(render('x <img src="data:image/png;base64,AAAA" alt="B"> y'), '<p>x B y</p>\n');
  });

  it('highlights the code of its author, but takes no class from it', () => {
    const code = rendered('<pre><code class="language-js">let a;</code></pre>');
    match(code, /<code><span class="hljs-keyword">/);
    strictEqual(render('<p><span class="hljs-keyword button">a</span></p>'), '<p><span>a</span></p>');
  });

  it('survives a line end that a browser drops at the beginning of a pre', () => {
    strictEqual(render('<pre>\n\n\n a</pre>'), '<pre tabindex="0"> a</pre>');
    ok(render('<pre>\r\r&#10;&#13;a</pre>')?.includes('a'));
  });
});
