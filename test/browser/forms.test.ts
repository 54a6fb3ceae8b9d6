import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { BrowserContextOptions, Page } from 'playwright-core';
import { toCanonicalForm } from '../../src/catalogue/page/page.ts';
import { openBrowserPage } from '../support/browser.ts';
import { botshelf } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { checkAtWidths, checkInDark } from '../support/page-checks.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { writeFiles } from '../support/temp-folder.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { needs } from '../support/tools.ts';

const homer = '190519304972663312';
const files = {
  [pagePath(homer)]: toCanonicalForm(
    mainPage({ support: 'https://example.org/help', random: 0.25 }, '# Homer\n\nAsk him.\n\n- one\n- two\n'),
  ),
  [pagePath(homer, 'fr')]: translation('Homère', 'Répond aux questions.', 'Bonjour.\n'),
};

needs('chromium', describe)('the forms', function () {
  let service: TestService;
  let root: string;
  let git: (...args: string[]) => string;
  before(async () => {
    const repository = testRepository(files);
    repository.git('remote', 'add', 'origin', 'https://github.com/example/catalogue.git');
    root = repository.folder;
    git = repository.git;
    service = await startTestService({}, { root });
    service.expectLog(/BOTSHELF_REMOTE is not set/);
  });

  async function open(path: string, options: BrowserContextOptions = {}): Promise<Page> {
    const permissions = ['clipboard-read', 'clipboard-write'];
    const page = await openBrowserPage({
      baseURL: service.address,
      locale: 'en-US',
      permissions,
      ...options,
    });
    await page.goto(path);
    return page;
  }

  // waitForFunction looks once, and then by an eval that the page forbids, or by a script that does not run.
  const hasFocus = async (page: Page, id: string): Promise<void> =>
    await eventually(async () => strictEqual(await page.evaluate('document.activeElement?.id'), id));
  const words = async (page: Page, mark: 'ins' | 'del'): Promise<string[]> =>
    await page.locator(`.changes ${mark}`).allTextContents();

  it('a visitor edits a bot, sees what changes, and copies the file for the editor of the Git host', async () => {
    const page = await open(`/bots/${homer}`);
    await page.getByRole('link', { name: 'Suggest an edit' }).click();
    strictEqual(await page.getByRole('heading', { level: 1 }).textContent(), 'Edit Homer');
    strictEqual(await page.getByLabel('Support').inputValue(), 'https://example.org/help');
    strictEqual(await page.getByRole('status').textContent(), 'Nothing has changed yet.');
    strictEqual(await page.getByRole('link', { name: 'Continue on GitHub' }).count(), 0);
    await page.getByLabel('Website').fill('homer.example.org/start');
    await page.locator('#page').fill('# Homer\n\nAsk him.\n\n- one\n- three\n');
    await eventually(async () => deepStrictEqual((await words(page, 'del')).at(-1), 'two'));
    deepStrictEqual(await words(page, 'ins'), ['three', 'https://homer.example.org/start']);
    const link = page.getByRole('link', { name: 'Continue on GitHub' });
    strictEqual(
      await link.getAttribute('href'),
      `https://github.com/example/catalogue/edit/main/${pagePath(homer)}`,
    );
    await page.getByRole('button', { name: 'Copy the file' }).click();
    await eventually(async () => strictEqual(await page.getByRole('status').textContent(), 'Copied.'));
    const copied = await page.evaluate<string>('navigator.clipboard.readText()');
    strictEqual(copied, toCanonicalForm(copied));
    writeFiles(root, { [pagePath(homer)]: copied });
    const change = git('stash', 'create');
    for (const args of [['check'], ['check', '--base', 'HEAD', '--head', change], ['format', '--check']]) {
      const { code, stdout } = await botshelf(root, args);
      strictEqual(code, 0, stdout);
      if (args.length > 1) doesNotMatch(stdout, /warning|notice/);
    }
    writeFiles(root, files);
  });

  it('a visitor adds a language without JavaScript', async () => {
    const page = await open(`/bots/${homer}`, { javaScriptEnabled: false });
    await page.getByRole('link', { name: 'Add a language' }).click();
    strictEqual(await page.getByLabel('Description').inputValue(), 'Answers questions about doughnuts.');
    await page.getByRole('button', { name: 'Check' }).click();
    match(await page.title(), /^Error: Add a language to Homer/);
    await hasFocus(page, 'errors');
    await page.getByRole('link', { name: 'Language: Choose a language.' }).click();
    await hasFocus(page, 'locale');
    await page.getByLabel('Language (required)').selectOption('German');
    await page.getByLabel('Description').fill('Beantwortet Fragen zu Krapfen.');
    await page.getByRole('button', { name: 'Check' }).click();
    strictEqual(await page.getByRole('status').textContent(), 'Ready to submit.');
    await hasFocus(page, 'outcome');
    const href = await page.getByRole('link', { name: 'Continue on GitHub' }).getAttribute('href');
    const { pathname, searchParams } = new URL(href ?? '');
    strictEqual(pathname, '/example/catalogue/new/main');
    strictEqual(searchParams.get('filename'), pagePath(homer, 'de'));
    const text = searchParams.get('value') ?? '';
    strictEqual(
      text,
      toCanonicalForm(
        translation('Homer', 'Beantwortet Fragen zu Krapfen.', '# Homer\n\nAsk him.\n\n- one\n- two\n'),
      ),
    );
    const download = page.waitForEvent('download');
    await page.locator('summary', { hasText: 'File' }).click();
    await page.getByRole('button', { name: 'Download' }).click();
    strictEqual((await download).suggestedFilename(), `${homer}.de.md`);
    strictEqual(readFileSync(await (await download).path(), 'utf8'), text);
  });

  for (const javaScriptEnabled of [true, false]) {
    it(`after Check the next step is on the screen and the file is folded away, ${javaScriptEnabled ? 'with' : 'without'} JavaScript`, async () => {
      const page = await open('/add', { javaScriptEnabled });
      for (const [path, isWide] of [
        [`/bots/${homer}/edit`, javaScriptEnabled],
        ['/add', !javaScriptEnabled],
      ] as const) {
        const width = isWide ? 1280 : 360;
        await page.setViewportSize({ width, height: 800 });
        await page.goto(path);
        const texts = { name: 'Marge', description: 'Asks.', authors: '1', invite: 'https://example.org/' };
        for (const [name, text] of Object.entries(texts)) await page.locator(`#${name}`).fill(text);
        await page.locator('#category').selectOption('fun');
        if (path === '/add') await page.locator('#id').fill('123456789012345678');
        await page.getByRole('button', { name: 'Check' }).click();
        await hasFocus(page, 'outcome');
        const link = page.getByRole('link', { name: 'Continue on GitHub' });
        for (const y of [0, 700]) {
          await page.evaluate(`scrollTo(0, ${y})`);
          const box = await link.boundingBox();
          ok(box && box.y > 400 && box.y + box.height <= 800, `${path} ${width} ${JSON.stringify(box)}`);
        }
        strictEqual(await page.locator('#file').isVisible(), false);
      }
    });
  }

  it('the file stays unfolded while one types', async () => {
    const page = await open(`/bots/${homer}/edit`);
    await page.getByText('The whole file').click();
    await page.getByLabel('Name').fill('Marge');
    await page.locator('#file').getByText('Marge').waitFor();
  });

  it('a new language starts from the page that was read, and is chosen from names, those of the reader first', async () => {
    const page = await open(`/bots/${homer}`, { locale: 'uk-UA' });
    await page.locator('.up summary').click();
    await page.getByRole('link', { name: 'français' }).click();
    await page.locator('a[href*="/translate"]').click();
    strictEqual(await page.locator('#description').inputValue(), 'Répond aux questions.');
    strictEqual(await page.locator('#page').inputValue(), 'Bonjour.');
    const [, first, second] = await page.locator('#locale option').allTextContents();
    deepStrictEqual([first, second], ['ukrainien', 'afrikaans']);
    strictEqual(await page.locator('#locale').inputValue(), 'uk');
    strictEqual(await page.locator('#locale option[value=fr]').count(), 0);
    await page.locator('.progress button').first().click();
    await page.locator('#errors').getByText('Description').waitFor();
    strictEqual(await page.locator('#errors li').count(), 1);
  });

  it('a form shows that its file has changed since it was opened', async () => {
    const page = await open('/docs');
    // What another test has typed.
    await page.evaluate('localStorage.clear()');
    await page.goto(`/bots/${homer}/edit`);
    writeFiles(root, { [pagePath(homer)]: files[pagePath(homer)]?.replace('Ask him.', 'Ask her.') ?? '' });
    await page.getByLabel('Name').fill('Marge');
    await page.getByText('This file has changed since').waitFor();
    deepStrictEqual(await words(page, 'del'), ['Homer', 'her']);
    writeFiles(root, files);
  });

  it('an empty form counts the fields to go and reports no error before it is sent', async () => {
    const page = await open('/add');
    const status = page.getByRole('status');
    strictEqual(await status.textContent(), '6 required fields to go: Invite link, Name');
    await page.getByLabel('Name (required)').fill('Bookworm');
    await eventually(async () =>
      strictEqual(await status.textContent(), '5 required fields to go: Invite link, Category'),
    );
    strictEqual(await page.locator('[aria-invalid]').count(), 0);
    strictEqual(await page.locator('.cards').getByText('Bookworm').textContent(), 'Bookworm');
    await page.getByRole('button', { name: 'Check' }).click();
    match(await page.title(), /^Error: Add a bot/);
    await hasFocus(page, 'errors');
    strictEqual(await page.locator('#errors li').count(), 5);
    strictEqual(await page.getByRole('status').count(), 1);
  });

  it('what was typed is still there in another language of the site, and the ID comes from the link', async () => {
    const page = await open('/add');
    const invite = 'https://discord.com/oauth2/authorize?client_id=123456789012345678&permissions=6';
    await page.getByLabel('Invite link').fill(invite);
    await eventually(async () => strictEqual(await page.locator('#id').inputValue(), '123456789012345678'));
    strictEqual(await page.locator('#advice-invite .harm').count(), 1);
    await page.goto('/add?locale=de');
    strictEqual(await page.locator('#invite').inputValue(), invite);
    await page.getByRole('link', { name: 'Neu beginnen' }).click();
    await page.locator('#restored').waitFor({ state: 'hidden' });
    strictEqual(await page.locator('#invite').inputValue(), '');
  });

  it('a bot that is listed already is linked to, whether the form is sent or checked while typing', async () => {
    for (const javaScriptEnabled of [true, false]) {
      const page = await open('/add?locale=de', { javaScriptEnabled });
      await page.locator('#id').fill(homer);
      if (javaScriptEnabled) await page.locator('#name').focus();
      else await page.locator('.progress button').click();
      const link = page.locator('#fault-id a');
      await link.waitFor();
      strictEqual(await link.getAttribute('href'), `/bots/${homer}`);
      strictEqual(await link.textContent(), 'Homer');
    }
  });

  it('a bot or a language that is not there has no form', async () => {
    for (const path of ['/bots/55/edit', '/bots/x/translate', `/bots/${homer}/edit?language=de`])
      strictEqual((await fetch(service.address + path)).status, 404, path);
  });

  it('a page that changes in every line responds 200, as too much to compare', async () => {
    const body = new URLSearchParams({
      name: 'Homer',
      page: Array.from({ length: 9000 }, (_, i) => i % 10).join('\n'),
    });
    const response = await fetch(`${service.address}/bots/${homer}/edit`, { method: 'POST', body });
    strictEqual(response.status, 200);
  });

  it('axe finds no violation and nothing is wider than the page', async () => {
    const page = await open(`/bots/${homer}/edit`);
    await page.getByLabel('Description').fill('Bakes.');
    await page.getByLabel('Name').fill('');
    await page.getByRole('button', { name: 'Check' }).click();
    await checkAtWidths(page, 'the form', [1280, 320]);
    await checkInDark(page, 'the form');
  });
});
