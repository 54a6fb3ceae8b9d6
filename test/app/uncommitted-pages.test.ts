import { execFileSync } from 'node:child_process';
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findPageConversion, UncommittedPages } from '../../src/app/uncommitted-pages.ts';
import { eventually } from '../support/eventually.ts';
import { openerOf, openUntilEnd } from '../support/opened.ts';
import { recordedLog } from '../support/recorded-log.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { issueTestToken } from '../support/token.ts';

const messages = [
  '"bots/001/1.en.md" has had uncommitted edits since 2023-11-14T22:13:20.000Z, so posts to its bot are refused: commit or discard them',
  '"bots/002/2.en.md" has had uncommitted edits, so posts to its bot are refused: commit or discard them',
];

describe('uncommitted edits in the clone of a service', () => {
  /** A clone with an edit and a removal. */
  function edited(): TestRepository {
    const repository = testRepository({ [pagePath('1')]: mainPage(), [pagePath('2')]: mainPage() });
    const { folder } = repository;
    writeFileSync(join(folder, pagePath('1')), mainPage({ category: 'games' }));
    utimesSync(join(folder, pagePath('1')), 1_700_000_000, 1_700_000_000);
    rmSync(join(folder, pagePath('2')));
    return repository;
  }

  it('are named with their time on /readyz and with their age in the metrics, and refuse posts until they are committed @slow', async () => {
    const { folder, git } = edited();
    const token = await issueTestToken(folder, '1');
    const service = await startTestService({}, { root: folder });
    await eventually(async () => {
      const { ready, parts } = (await service.request('/readyz')).json;
      ok(ready);
      deepStrictEqual(parts.repository.faults, messages);
    });
    const metrics = await (await fetch(`${service.address}/metrics`)).text();
    match(
      (metrics.match(/^botshelf_uncommitted_edit_age_seconds\{.+$/gm) ?? []).join(),
      /^\w+\{path="bots\/001\/1\.en\.md"\} \d{8,}/,
    );
    const post = async (): Promise<number> => (await service.post('1', token, { category: 'music' })).status;
    deepStrictEqual([await post(), await post()], [409, 409]);
    git('commit', '-qam', 'By hand');
    strictEqual(await post(), 200);
  });

  it('are named though the time of a file is past all dates', async () => {
    const { folder } = edited();
    utimesSync(join(folder, pagePath('1')), 9e12, 9e12);
    const pages = new UncommittedPages(openerOf(folder), recordedLog());
    await pages.look();
    // Some file systems end with the year 2446.
    match(pages.pages[0]?.message ?? '', /edits since (?:9999-12-31|2446-\d\d-\d\d)T/);
    pages.close();
  });

  it('are named at once and logged once, by the second look that finds them unchanged', async () => {
    const { folder, git } = edited();
    const log = recordedLog();
    const pages = new UncommittedPages(openerOf(folder), log);
    await pages.look();
    utimesSync(join(folder, pagePath('1')), 1_600_000_000, 1_600_000_000);
    await pages.look();
    deepStrictEqual(log.lines, [`warn: ${messages[1]}`]);
    utimesSync(join(folder, pagePath('1')), 1_700_000_000, 1_700_000_000);
    for (const lines of [1, 2, 2]) {
      await pages.look();
      deepStrictEqual(
        pages.pages.map(({ message }) => message),
        messages,
      );
      strictEqual(log.lines.length, lines);
    }
    strictEqual(log.lines[1], `warn: ${messages[0]}`);
    git('commit', '-qam', 'By hand');
    await pages.look();
    deepStrictEqual(pages.pages, []);
    pages.close();
  });
});

describe('a commit of the service whose files are not written yet', () => {
  it('is not taken for an edit', async () => {
    const { folder, git } = testRepository({ [pagePath('1')]: mainPage() });
    const before = git('rev-parse', 'HEAD');
    writeFileSync(join(folder, pagePath('1')), mainPage({ category: 'music' }));
    git('commit', '-qam', 'By the service');
    const after = git('rev-parse', 'HEAD');
    git('reset', '-q', '--hard', before);
    git('update-ref', 'HEAD', after);
    const pages = new UncommittedPages(openerOf(folder), recordedLog());
    const looking = pages.look();
    await new Promise((resolve) => setTimeout(resolve, 500));
    git('reset', '-q', '--hard');
    await looking;
    deepStrictEqual(pages.pages, []);
    pages.close();
  });
});

const path = 'bots/007/7.en.md';
const text = 'one\n$Id$\n';

describe('a file that Git checks out with other bytes than it is committed with', () => {
  for (const [cause, attributes, config] of [
    ['core.autocrlf', '', ['core.autocrlf', 'true']],
    ['core.eol=crlf', '* text=auto\n', ['core.eol', 'crlf']],
    ['eol=crlf', '*.md eol=crlf\n', ['core.autocrlf', 'false']],
    ['ident', '*.md ident\n', ['core.autocrlf', 'false']],
    ['working-tree-encoding=UTF-16', '*.md working-tree-encoding=UTF-16\n', ['core.autocrlf', 'false']],
    ['filter=up', '*.md filter=up\n', ['filter.up.smudge', 'tr o 0']],
  ] as const) {
    it(`is named with ${cause}, and the command restores its bytes`, async () => {
      // Git refuses to add text that is not in the encoding.
      const isOwn = attributes === '' || cause.startsWith('working-tree-encoding');
      const { folder, git, status } = testRepository({
        [path]: text,
        ...(!isOwn && { '.gitattributes': attributes }),
      });
      if (isOwn) writeFileSync(join(folder, '.git/info/attributes'), attributes);
      git('config', ...config);
      if (cause === 'filter=up') git('config', 'filter.up.clean', 'tr 0 o');
      utimesSync(join(folder, path), 0, 0);
      git('checkout', '-q', '.');
      strictEqual(readFileSync(join(folder, path), 'latin1') === text, false);
      const repository = await openUntilEnd(folder);
      const found = (await findPageConversion(repository)) ?? '';
      match(found, new RegExp(`\\(${cause}\\), so posts to their bots are refused: cd `));
      execFileSync('sh', ['-c', found.slice(found.lastIndexOf(': ') + 2)]);
      strictEqual(readFileSync(join(folder, path), 'latin1'), text);
      strictEqual(status(), '');
      strictEqual(await findPageConversion(repository), null);
    });
  }

  it('is not there with the settings of a catalogue, also where Git is set to convert', async () => {
    const { folder, git } = testRepository({ '.gitattributes': '* text=auto eol=lf\n', [path]: text });
    git('config', 'core.autocrlf', 'true');
    git('config', 'core.eol', 'crlf');
    strictEqual(await findPageConversion(await openUntilEnd(folder)), null);
    const input = testRepository({ [path]: text });
    input.git('config', 'core.autocrlf', 'input');
    strictEqual(await findPageConversion(await openUntilEnd(input.folder)), null);
  });
});
