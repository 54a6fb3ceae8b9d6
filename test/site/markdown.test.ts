import { doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { Markdown } from '../../src/site/markdown.ts';

const size = 20_000;

/** Texts that a careless renderer takes quadratic time over, or worse. */
const hostile = {
  brackets: '['.repeat(size),
  'closing brackets': `${'['.repeat(size / 2)}${']'.repeat(size / 2)}`,
  stars: '*'.repeat(size),
  'stars between letters': '*a '.repeat(size / 3),
  'emphasis that never closes': '**a **b '.repeat(size / 8),
  underscores: '_a'.repeat(size / 2),
  tildes: '~~'.repeat(size / 2),
  'quotes in quotes': '>'.repeat(size),
  'quotes and lists': '> - '.repeat(size / 4),
  backticks: '`'.repeat(size),
  'backticks of every length': Array.from({ length: 190 }, (_, i) => '`'.repeat(i)).join(' '),
  'nested lists': Array.from({ length: 190 }, (_, i) => `${' '.repeat(i)}- a`).join('\n'),
  'lists on one line': '- '.repeat(size / 2),
  'links that never close': '[a]('.repeat(size / 4),
  'pictures that never close': '![a]('.repeat(size / 5),
  references: Array.from({ length: 1000 }, (_, i) => `[a${i}]: b`).join('\n'),
  'a wide table': `${'|a'.repeat(size / 4)}\n${'|-'.repeat(size / 4)}`,
  'opening tags': '<a '.repeat(size / 3),
  comments: '<!--'.repeat(size / 4),
  entities: '&amp'.repeat(size / 4),
  addresses: 'https://a '.repeat(size / 10),
  'code with brackets': `\`\`\`js\n${'('.repeat(9900)}\n\`\`\``,
  'code with tags': `\`\`\`xml\n${'<a '.repeat(3300)}\n\`\`\``,
};

describe('markdown of strangers', () => {
  const markdown = new Markdown(10_000);
  after(async () => await markdown.close());
  const picture = 'https://example.org/a.png';
  const render = async (text: string, name = 'Homer'): Promise<string> =>
    (await markdown.render({ text, name, pictures: { [picture]: '/appdata/a.webp' } })) ?? 'too long';

  describe('of 20,000 characters is rendered, be it', () => {
    for (const [name, text] of Object.entries(hostile)) {
      it(name, async () => ok((await render(text)).startsWith('<')));
    }
  });

  it('that takes too long is given up, its thread ended, and the next text rendered', async () => {
    const hasty = new Markdown(1);
    const slow = { text: hostile['code with tags'], name: '', pictures: {} };
    try {
      strictEqual(await hasty.render(slow), null);
      strictEqual(await hasty.render({ ...slow, name: 'again' }), null);
    } finally {
      await hasty.close();
    }
    match(await render('# A'), /<h2>A<\/h2>/);
  });

  it('does not hold up the event loop', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await render(`again ${hostile.brackets}`);
    clearInterval(timer);
    ok(turns > 0);
  });

  it('is rendered once', async () => {
    const [one, other] = await Promise.all([render('same'), render('same')]);
    strictEqual(one, other);
  });

  for (const [name, text] of Object.entries({
    'an element': '<script>alert(1)</script>',
    'an inline element': 'a <img src=x onerror=alert(1)> b',
    'a comment': '<!-- x -->',
    'an element in a heading': '# <b onclick=x>',
    'an element in a code block': '```html\n<script>x</script>\n```',
    'an element as language': '```"><script>x</script>\nx\n```',
  })) {
    it(`has no HTML of its own: ${name}`, async () => {
      doesNotMatch(await render(text), /<(script|img|b |!--)/);
    });
  }

  for (const url of [
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    '&#106;avascript:alert(1)',
    'java\tscript:alert(1)',
    'data:text/html,x',
    'vbscript:x',
    'file:///etc/passwd',
    '//example.org/x',
    'relative',
    '#fragment',
  ]) {
    it(`has no link to ${url}`, async () => {
      doesNotMatch(await render(`[a](${url}) [b]: <${url}> <${url}> ![c](${url})`), /<a |<img /);
    });
  }

  it('links to the web and to mail, without recommending', async () => {
    const html = await render('[a](https://example.org/?a=1&b=2) <mailto:a@example.org> https://example.com');
    strictEqual(html.match(/rel="nofollow ugc noopener"/g)?.length, 3);
  });

  it('shows our copy of a picture, and a link in place of any other', async () => {
    match(
      await render(`![Cover "x"](${picture})`),
      /<img src="\/appdata\/a\.webp" alt="Cover &quot;x&quot;"/,
    );
    match(await render('![x](https://example.org/b.png)'), /^<p><a href="https:\/\/example\.org\/b\.png"/);
    doesNotMatch(await render('[![x](https://example.org/b.png)](https://example.org)'), /<a [^>]*>[^<]*<a /);
    doesNotMatch(await render('![x](data:image/png;base64,AAAA)'), /<img/);
    doesNotMatch(await render('![x](constructor) ![y](__proto__)'), /<img/);
  });

  it('has its headings below that of the page, without gaps', async () => {
    const html = await render('# A\n\n### B\n\n###### C\n\n## D');
    strictEqual((html.match(/<h\d>/g) ?? []).join(''), '<h2><h3><h4><h3>');
  });

  it('does not repeat the name of the bot', async () => {
    strictEqual(await render('# Homer\n\n## Use'), '<h2>Use</h2>\n');
    match(await render('# Other\n\n## Use'), /<h2>Other<\/h2>\n<h3>Use<\/h3>/);
  });

  it('has no inline styles, which our policy forbids', async () => {
    doesNotMatch(await render('|a|b|\n|:-:|--:|\n|1|2|'), /style=/);
  });

  it('is highlighted in the languages we know', async () => {
    match(await render('```js\nlet a = 1;\n```'), /hljs-keyword/);
    match(await render('```klingon\nlet a = 1;\n```'), /<code class="language-klingon">let a = 1;/);
  });
});
