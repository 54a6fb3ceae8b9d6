import { deepStrictEqual, doesNotMatch, match, ok, strictEqual, notStrictEqual } from 'node:assert/strict';
import { setImmediate } from 'node:timers/promises';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { Markdown, type MarkdownText } from '../../../src/site/markdown/markdown.ts';
import { fixtureLines, readCases, unquote } from '../../support/fixture-lines.ts';
import { hostilePages } from '../../support/hostile-pages.ts';

describe('markdown of strangers', () => {
  const picture = 'https://example.org/a.png';
  const copy = { path: '/appdata/a.webp', width: 200, height: 100 };
  const copyOf = (url: string): typeof copy | undefined => (url === picture ? copy : undefined);
  // Waits up to a minute, however slow the machine is.
  const markdown = new Markdown(new CurrentCache(), copyOf, 10_000, 60_000);
  after(async () => await markdown.close());
  const render = async (text: string, name = 'Homer'): Promise<string> =>
    (await markdown.render({ text, name, images: [picture, 'https://example.org/b.png'] })).html ??
    'too long';

  it('that takes too long is given up, its thread ended, and the next text rendered @slow', async () => {
    const hasty = new Markdown(new CurrentCache(), copyOf, 1);
    const slow = { text: hostilePages['code with tags'] ?? '', name: '', images: [] };
    try {
      strictEqual((await hasty.render(slow)).html, null);
      strictEqual((await hasty.render({ ...slow, name: 'again' })).html, null);
    } finally {
      await hasty.close();
    }
    match(await render('# A'), /<h2 id="page-a">A<\/h2>/);
  });

  it('is rendered after one whose result arrived when its time was over @long', async () => {
    const hasty = new Markdown(new CurrentCache(), copyOf, 50);
    const render = async (text: string): Promise<unknown> =>
      await hasty.render({ text, name: '', images: [] });
    try {
      await render('# A');
      const rendered = Promise.all([render('# B'), render('# C')]);
      rendered.catch(() => {});
      for (let turns = 0; turns < 20; turns++) {
        await setImmediate();
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100);
      }
      await rendered;
    } finally {
      await hasty.close();
    }
  });

  it('does not hold up the event loop', async () => {
    let turns = 0;
    const timer = setInterval(() => (turns += 1), 1);
    await render(`again ${hostilePages['brackets']}`);
    clearInterval(timer);
    ok(turns > 0);
  });

  it('is rendered once', async () => {
    const [one, other] = await Promise.all([render('same'), render('same')]);
    strictEqual(one, other);
  });

  for (const url of fixtureLines('links-not-allowed.txt'))
    it(`has no link to ${url}`, async () => {
      doesNotMatch(await render(`[a](${url}) [b]: <${url}> <${url}> ![c](${url})`), /<a |<img /);
    });

  for (const { title, input, expected } of readCases('markdown'))
    it(title, async () => strictEqual((await render(unquote(input))).trimEnd(), expected.join('\n')));

  it('has headings that links lead to, each by an id of its own', async () => {
    const text =
      '# Homer\n\n## Commands\n\n### [Ping](https://example.org) & :tada: *pong*\n\n## Commands\n\n## 使い方\n\n## ***\n\n## 🎉';
    const { html, headings } = await markdown.render({ text, name: 'Homer', images: [] });
    deepStrictEqual(
      headings.map(({ id, text: words, level }) => `${level} ${id} ${words}`),
      [
        '2 page-commands Commands',
        '3 page-ping---pong Ping & 🎉 pong',
        '2 page-commands.2 Commands',
        '2 page-使い方 使い方',
      ],
    );
    for (const { id } of headings) match(String(html), new RegExp(` id="${id}"`));
  });

  describe('that is still being written', () => {
    const write = (i: number): MarkdownText => ({ text: `text ${i}`, name: '', images: [] });
    const preview = async (i: number, address: string): Promise<unknown> =>
      await markdown.preview(write(i), address);

    it('waits for another one of its address, so that a form that checks itself does not refuse the button', async () => {
      const both = await Promise.all([preview(1, 'a'), preview(2, 'a')]);
      deepStrictEqual(both, ['<p>text 1</p>\n', '<p>text 2</p>\n']);
    });

    it('is busy, which is not too complex, behind two of its address or eight in all', async () => {
      const ofAddress = Array.from({ length: 4 }, async (_, i) => await preview(i, 'a'));
      strictEqual((await Promise.all(ofAddress)).indexOf(undefined), 3);
      const inAll = Array.from({ length: 10 }, async (_, i) => await preview(i, String(i)));
      strictEqual((await Promise.all(inAll)).indexOf(undefined), 9);
      strictEqual(await preview(4, 'a'), '<p>text 4</p>\n');
    });

    it('is busy after a while, and is then not rendered', async () => {
      const hasty = new Markdown(new CurrentCache(), copyOf, 10_000, 1);
      try {
        const both = await Promise.all(['a', 'b'].map(async (a) => await hasty.preview(write(1), a)));
        deepStrictEqual(both, [undefined, undefined]);
        strictEqual(await hasty.renderProposed(write(2)), undefined);
        // The result is kept for the next time.
        strictEqual((await hasty.render(write(2))).html, '<p>text 2</p>\n');
      } finally {
        await hasty.close();
      }
    });
  });

  it('of a listed bot does not wait for those that are still being written @slow', async () => {
    const done: string[] = [];
    const source = { text: hostilePages['brackets'] ?? '', name: '', images: [] };
    const previews = ['a', 'b', 'c', 'd'].map(async (address) => {
      await markdown.preview(source, address);
      done.push(address);
    });
    await render('a page that comes after them');
    done.push('page');
    await Promise.all(previews);
    notStrictEqual(done.at(-1), 'page');
  });

  it('that waits for a review is rendered once for all who ask, and kept', async () => {
    const source = { text: 'proposed', name: '', images: [] };
    const all = Array.from({ length: 9 }, async () => await markdown.renderProposed(source));
    deepStrictEqual(new Set(await Promise.all(all)), new Set(['<p>proposed</p>\n']));
    // A text that is not kept would be rendered after this one.
    const slow = render(`before it ${hostilePages['brackets']}`);
    const kept = markdown.render(source);
    strictEqual(await Promise.race([slow, kept.then(({ html }) => html)]), '<p>proposed</p>\n');
    await slow;
  });
});
