import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readCases } from '../support/fixture-lines.ts';
import { botshelf } from '../support/command-line.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

const homer = '190519304972663312';

/** A new main page with every placeholder replaced. */
function filledIn(text: string): string {
  return text
    .replaceAll('Your bot’s name', 'Homer')
    .replace(/Replace this with one sentence[^"]*/, 'Answers.')
    .replace('00000000000000000', '190519304972664832')
    .replace('https://example.com/replace-with-the-invite', 'https://example.org/invite')
    .replace(/^Replace this with the page.*$/m, 'The page.');
}

describe('botshelf new', () => {
  it('makes a main page that is canonical, and the check names each placeholder that is left', async () => {
    const root = tempFolder();
    const started = Date.now();
    deepStrictEqual(await botshelf(root, ['new', homer]), {
      code: 0,
      stdout: `${pagePath(homer)}\n`,
      stderr: '',
    });
    const text = readFileSync(join(root, pagePath(homer)), 'utf8');
    const { created } = JSON.parse(text.split('---')[1] ?? '') as { created: number };
    ok(created >= started && created <= Date.now());
    strictEqual((await botshelf(root, ['format', '--check'])).code, 0);
    const { code, stdout } = await botshelf(root, ['check']);
    strictEqual(code, 1);
    deepStrictEqual(
      [...stdout.matchAll(/:(\d+):\d+ placeholder (\S+)/g)].map(([, line, key]) => `${line} ${key}`),
      ['1 the', '3 name:', '4 description:', '6 authors[0]:', '19 invite:'],
    );
    writeFiles(root, { [pagePath(homer)]: filledIn(text) });
    strictEqual((await botshelf(root, ['check'])).stdout, '1 file, 0 faults\n');
  });

  it('fills in the account of the author, where that is named', async () => {
    const root = tempFolder();
    strictEqual((await botshelf(root, ['new', homer, '--author', '5'])).code, 0);
    match(readFileSync(join(root, pagePath(homer)), 'utf8'), /"authors": \[\s*"5"\s*\]/);
    const { code, stderr } = await botshelf(root, ['new', '8', '--author=ada']);
    strictEqual(code, 2);
    match(stderr, /"ada" is not an account id: pass 1 to 20 digits/);
  });

  it('makes the first page in the requested language, in the folder of a short id', async () => {
    const root = tempFolder();
    strictEqual((await botshelf(root, ['new', '7', '--locale=zh-CN'])).stdout, 'bots/007/7.zh-CN.md\n');
    match((await botshelf(root, ['check'])).stdout, /^bots\/007\/7\.zh-CN\.md:3:11 placeholder name: /m);
    writeFiles(root, { 'botshelf.json': '{ "language": "de" }' });
    strictEqual((await botshelf(root, ['new', '8'])).stdout, 'bots/008/8.de.md\n', 'else that of the list');
  });

  it('makes a further language as a translation of the main page', async () => {
    const root = tempFolder({
      [pagePath(homer)]: mainPage(),
      [pagePath(homer, 'de')]: translation('Homer', 'Weiß.'),
    });
    strictEqual((await botshelf(root, ['new', homer, '--locale', 'fr'])).code, 0);
    const text = readFileSync(join(root, pagePath(homer, 'fr')), 'utf8');
    deepStrictEqual(JSON.parse(text.split('---')[1] ?? ''), {
      name: 'Homer',
      description: 'Replace this with the description in this language.',
    });
    const { stdout } = await botshelf(root, ['check']);
    match(stdout, /fr\.md:4:18 placeholder description: /);
    match(stdout, /fr\.md:1:1 placeholder the page below the front matter: /);
    match(stdout, /^3 files, 2 faults$/m);
  });

  it('ends with 2 and one line that says what to do, and makes nothing', async () => {
    const root = tempFolder({
      [pagePath(homer)]: mainPage(),
      'bots/009/9.en.md': 'no page',
      'bots/008/8.fr.md': mainPage(),
    });
    for (const { input, expected } of readCases('new-refusals')) {
      const { code, stdout, stderr } = await botshelf(root, input.split(' '));
      deepStrictEqual([code, stdout, stderr.split('\n')[0]], [2, '', expected[0]]);
    }
    const env = { BOTSHELF_CATALOGUE: join(root, pagePath(homer)) };
    const { code, stderr } = await botshelf(root, ['new', '5'], { env });
    match(stderr, /is not a folder: set BOTSHELF_CATALOGUE to the folder that holds bots\/$/m);
    strictEqual(code, 2);
    strictEqual(readFileSync(join(root, pagePath(homer)), 'utf8'), mainPage());
  });
});
