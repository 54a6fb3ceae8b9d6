import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { readCases } from '../support/fixture-lines.ts';
import { openBrowserPage } from '../support/browser.ts';
import { checkAtWidths, excessWidth } from '../support/page-checks.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { needs } from '../support/tools.ts';

const invite = 'https://discord.com/oauth2/authorize?client_id=1&scope=bot&permissions=8';
const files = {
  'botshelf.json': JSON.stringify({ links: { terms: 'https://example.org/terms' } }),
  [pagePath('1')]: mainPage({ name: 'Showcase', description: 'Plays music.', category: 'fun', invite }),
  [pagePath('2')]: mainPage({ name: 'Bridgekeeper', verified: true, category: 'notifications' }),
  [pagePath('3')]: mainPage({
    name: 'Nota',
    description: 'Music. '.repeat(20),
    category: 'music',
    authors: ['852'],
  }),
  [pagePath('3', 'fr')]: translation('Note', 'De la musique.', ''),
  [pagePath('4')]: mainPage({ name: 'Velvet Room', verified: true, codehost: { owner: 'a', repo: 'b' } }),
};

/** Run in the page: the words of at most so many letters that are broken in two. */
const brokenWords = (maxLength = 13): string => `(() => {
  const broken = [];
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: node } = texts;
    if (!node.parentElement.checkVisibility() || node.parentElement.closest('.out-of-sight')) continue;
    for (const { 0: word, index } of node.data.matchAll(/\\p{L}{2,${maxLength}}/gu)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
})()`;

needs('chromium', describe)('lists of bots', function () {
  let service: TestService;
  before(async () => {
    service = await startTestService(files);
  });

  async function open(path: string, width: number, options: BrowserContextOptions = {}): Promise<Page> {
    const viewport = { width, height: 800 };
    const page = await openBrowserPage({ baseURL: service.address, locale: 'en-US', viewport, ...options });
    await page.goto(path);
    return page;
  }

  const read = async (path: string): Promise<string> =>
    await (await fetch(service.address + path, { headers: { Accept: 'text/html' } })).text();
  const headingOf = async (path: string): Promise<string> =>
    /<h1>([^<]*)<\/h1>/.exec(await read(path))?.[1] ?? '';

  it('have one row above their first card on a phone, with the filters folded away', async () => {
    const page = await open('/', 360);
    for (const path of [
      '/?sort=popular&locale=de',
      '/?q=music&locale=ar',
      ...['en', 'de', 'ru'].map((locale) => `/categories/fun?source=open&verified=true&locale=${locale}`),
    ]) {
      await page.goto(path);
      const row = await page.locator('.list-filters').boundingBox();
      ok(row && row.height < 50, `${path} ${JSON.stringify(row)}`);
      const first = await page.locator('.card, .empty').first().boundingBox();
      ok(first && first.y < 440, `${path} ${JSON.stringify(first)}`);
      strictEqual(await page.locator('.chips').first().isVisible(), false);
      strictEqual(await excessWidth(page), 0);
    }
  });

  it('unfold their filters on a phone, and show them on a wide screen', async () => {
    const page = await open('/?sort=popular&locale=en', 360);
    await page.locator('summary', { hasText: 'Filters' }).click();
    await checkAtWidths(page, 'unfolded', [360]);
    await page.getByRole('link', { name: 'Verified', exact: true }).click();
    await page.getByRole('heading', { name: 'All bots, verified' }).waitFor();
    strictEqual(await page.locator('summary', { hasText: 'Filters' }).textContent(), 'Filters 1');
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.getByRole('link', { name: 'Open source' }).click();
    await page.getByRole('heading', { name: 'All bots, open source, verified' }).waitFor();
  });

  it('compare the bots that are ticked, without a script', async () => {
    const page = await open('/?sort=popular', 360, { javaScriptEnabled: false });
    const bar = page.locator('.chosen');
    const button = bar.getByRole('button', { name: 'Compare' });
    strictEqual(await bar.isVisible(), false);
    await page.getByRole('checkbox', { name: 'Compare Showcase' }).check();
    deepStrictEqual([await bar.isVisible(), await button.isVisible()], [true, false]);
    await bar.getByRole('button', { name: 'Clear' }).click();
    strictEqual(await bar.isVisible(), false);
    strictEqual(await page.getByRole('checkbox', { checked: true }).count(), 0);
    // The bar is below a tick that has the focus, not over it.
    await page.getByRole('checkbox', { name: 'Compare Showcase' }).check();
    for (const tick of await page.getByRole('checkbox').all()) {
      await tick.focus();
      const [box, cover] = [await tick.boundingBox(), await bar.boundingBox()];
      ok(box && cover && box.y + box.height <= cover.y, JSON.stringify([box, cover]));
    }
    await page.getByRole('checkbox', { name: 'Compare Showcase' }).uncheck();
    const session = await page.context().newCDPSession(page);
    for (const [i, name] of ['Showcase', 'Nota'].entries()) {
      await page.getByRole('checkbox', { name: `Compare ${name}` }).check();
      // The number is made by CSS: only what assistive technology reads has it.
      const { nodes } = await session.send('Accessibility.getFullAXTree');
      const texts = nodes.map(({ role, name }) => `${role?.value} ${name?.value}`);
      ok(texts.includes(`StaticText ${i + 1}`), texts.join('\n'));
    }
    await session.detach();
    await button.click();
    await page.getByRole('columnheader', { name: 'Nota' }).waitFor();
    const scripted = await open(new URL(page.url()).pathname + new URL(page.url()).search, 360);
    await checkAtWidths(scripted, 'comparison', [1280, 320]);
  });

  it('are watched: a form without scripts finds bots by their names, and each can be removed', async () => {
    const page = await open('/watch', 390, { javaScriptEnabled: false });
    await page.getByLabel('one a line').fill('Showcase\nNota\nNobody');
    await page.getByRole('button', { name: 'Watch these bots' }).click();
    await page.getByText('Not in this list, or no longer: Nobody').waitFor();
    await page.getByRole('link', { name: 'Remove Nota' }).click();
    await page.waitForURL('/watch?ids=1');
    await page.getByLabel('one a line').fill('velvet room');
    await page.getByRole('button', { name: 'Watch these bots' }).click();
    await page.waitForURL('/watch?ids=1,4');
    const scripted = await open('/watch', 390);
    for (const locale of ['en', 'ar', 'de']) {
      await scripted.goto(`/watch?ids=1,2,3,4&bots=Nobody&locale=${locale}`);
      await checkAtWidths(scripted, `watched bots ${locale}`, [1280, 390, 320]);
    }
  });

  it('lead to comparisons that fit a phone: two bots beside each other without a broken word, more scroll by themselves', async () => {
    const page = await open('/compare?bots=1,2&locale=de', 390);
    deepStrictEqual(await page.evaluate(brokenWords(99)), []);
    const [first, second] = await Promise.all(
      ['Showcase', 'Bridgekeeper'].map(
        async (name) => await page.getByRole('columnheader', { name }).boundingBox(),
      ),
    );
    ok(first && second && first.y === second.y && first.width === second.width && second.x > first.x);
    for (const bots of ['1,2', '1,2,3', '1,2,3,4'])
      for (const width of [390, 320]) {
        await page.setViewportSize({ width, height: 800 });
        await page.goto(`/compare?bots=${bots}&locale=de`);
        strictEqual(await excessWidth(page), 0, `${bots} ${width}`);
      }
  });

  it('show what is chosen and the edges of buttons in forced colours, and so do the steps of a form', async () => {
    const page = await open('/?sort=popular&verified=true', 1280);
    await page.emulateMedia({ forcedColors: 'active' });
    await page.locator('.tick input').first().check();
    const border = async (selector: string): Promise<string[]> =>
      await page.evaluate(`[...document.querySelectorAll('${selector}')].map((node) =>
        (({ borderTopWidth, borderTopColor, backgroundColor }) =>
          borderTopColor === backgroundColor ? 'none' : borderTopWidth)(getComputedStyle(node)))`);
    const visible = ':not([hidden])';
    deepStrictEqual(await border('.card'), ['3px', '0px']);
    deepStrictEqual(await border('nav a.chip[aria-current]'), ['3px']);
    deepStrictEqual(new Set(await border('nav a.chip:not([aria-current])')), new Set(['1px']));
    deepStrictEqual(new Set(await border(`button${visible}, .button${visible}`)), new Set(['2px']));
    const cut = `[...document.querySelectorAll('.tags .tag')].map((tag) =>
      tag.getBoundingClientRect().bottom - tag.parentElement.getBoundingClientRect().bottom)`;
    deepStrictEqual(await page.evaluate(cut), [0]);
    const padding = "getComputedStyle(document.querySelector('.tags .tag.good')).paddingInlineStart";
    strictEqual(await page.evaluate(padding), '8px');
    await page.goto('/add');
    deepStrictEqual(await border('.steps-nav a'), ['3px', '1px', '1px']);
  });

  it('have cards of one height in a row, nine of which are whole on a screen', async () => {
    const page = await open('/?sort=popular', 1280);
    await page.setViewportSize({ width: 1280, height: 900 });
    const boxes = await page.evaluate<{ y: number; height: number }[]>(
      "[...document.querySelectorAll('.card')].map((card) => card.getBoundingClientRect().toJSON())",
    );
    const [first, ...others] = boxes.slice(0, 3);
    for (const box of others) deepStrictEqual([box.y, box.height], [first?.y, first?.height]);
    ok(first && first.y + 3 * first.height <= 900, JSON.stringify(first));
  });

  it('are shown as rows of one height on a wide screen, and have one menu open at a time', async () => {
    const page = await open('/?sort=popular', 1280);
    await page.getByRole('link', { name: 'Rows' }).click();
    await page.locator('.cards.lines').waitFor();
    const heights = "[...document.querySelectorAll('.card')].map((card) => card.offsetHeight)";
    deepStrictEqual(new Set(await page.evaluate<number[]>(heights)), new Set([48]));
    await checkAtWidths(page, 'rows', [1280, 320]);
    await page.setViewportSize({ width: 1280, height: 800 });
    await page.locator('summary', { hasText: 'All categories' }).click();
    await page.locator('summary', { hasText: 'Any language' }).click();
    strictEqual(await page.locator('details.menu[open]').count(), 1);
  });

  for (const { input, expected } of readCases('list-headings'))
    it(`name the words and filters in heading and title: ${input}`, async () => {
      const html = await read(input);
      ok(html.includes(`<h1>${expected[0]}<`) && html.includes(`<title>${expected[0]} · `), html);
    });

  for (const { title, input, expected } of readCases('list-pages'))
    it(title, async () => {
      const [shown = '', elsewhere = ''] = expected;
      ok((await read(input)).replaceAll('\u00AD', '').includes(shown));
      ok(!(await read(elsewhere)).includes(shown));
    });

  it('show the link to their feed once, and end in a footer without bullets', async () => {
    const page = await open('/?sort=popular', 360);
    await page.getByRole('link', { name: 'Terms' }).waitFor();
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      strictEqual(await page.getByRole('link', { name: 'Follow this list' }).count(), 1);
    }
    const styles =
      "[...document.querySelectorAll('footer ul')].map((list) => getComputedStyle(list).listStyleType)";
    deepStrictEqual(new Set(await page.evaluate<string[]>(styles)), new Set(['none']));
  });

  it('are found by a category and by an author in the address of the front page', async () => {
    const response = await fetch(`${service.address}/?category=fun&q=music&locale=de`, {
      redirect: 'manual',
    });
    strictEqual(response.status, 302);
    strictEqual(response.headers.get('location'), '/categories/fun?q=music');
    strictEqual(await headingOf('/?category=none'), await headingOf('/'));
    strictEqual(await headingOf('/?author=852'), 'Bots by 852');
    const names = [...(await read('/?author=852')).matchAll(/<h2><a [^>]*>([^<]*)/g)].map(([, name]) => name);
    deepStrictEqual(names, ['Nota']);
    ok((await read('/?author=852')).includes('?author=852&amp;verified=true'));
  });

  it('break no word in text of twice the size, and neither does the page of a bot; a comparison fits too', async () => {
    const page = await open('/', 1280);
    for (const path of '/ /?sort=popular /bots/1 /bots/2 /compare?bots=1,2 /watch?ids=1,2,3,4'.split(' ')) {
      await page.goto(path);
      await page.evaluate("document.documentElement.style.fontSize = '200%'");
      for (const width of [1280, 360]) {
        await page.setViewportSize({ width, height: 800 });
        const isNarrow = /compare|watch/.test(path) && width < 1280;
        if (!isNarrow) deepStrictEqual(await page.evaluate(brokenWords()), [], `${path} ${width}`);
        strictEqual(await excessWidth(page), 0, `${path} ${width}`);
      }
    }
  });

  it('are told apart on the front page, also without pictures and with a category of one long word', async () => {
    const categories = { fun: { en: 'K'.repeat(40) } };
    const { address } = await startTestService({
      'botshelf.json': JSON.stringify({ categories }),
      [pagePath('1')]: mainPage({ category: 'fun' }),
    });
    const page = await open('/', 1280);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      await page.goto(`${address}/?locale=en`);
      const [hero, search, labels, label, count, shelf] = await page.evaluate<DOMRect[]>(`
        ['.hero', '.hero .search', '.labels', '.labels a', '.labels small', '.shelf'].map((selector) =>
          document.querySelector(selector).getBoundingClientRect())`);
      ok(hero && search && labels && label && count && shelf);
      ok(hero.bottom - search.bottom >= 30, `${width} ${hero.bottom} ${search.bottom}`);
      ok(shelf.top - labels.bottom >= 40, `${width} ${shelf.top} ${labels.bottom}`);
      ok(count.right < label.right, `${width} ${count.right} ${label.right}`);
    }
  });

  it('lead to pages that have a gap below the permissions on paper', async () => {
    const page = await open('/bots/1', 1280);
    await page.emulateMedia({ media: 'print' });
    const gap = `document.querySelector('.bot-text').getBoundingClientRect().top -
      document.querySelector('.ingredients').getBoundingClientRect().bottom`;
    ok((await page.evaluate<number>(gap)) > 20);
  });

  it('lead to pages that begin with the bot where it has no cover', async () => {
    const page = await open('/bots/1', 1280);
    for (const width of [1280, 360]) {
      await page.setViewportSize({ width, height: 800 });
      const way = await page.locator('.breadcrumb').boundingBox();
      const heading = await page.getByRole('heading', { level: 1 }).boundingBox();
      ok(way && heading && heading.y - way.y - way.height < 40, JSON.stringify([way, heading]));
    }
  });
});
