import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
import { mainPage, pagePath, translation, writeFiles } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const homer = '190519304972663312';

describe('botshelf new', () => {
  it('makes a main page that keeps every rule, is canonical, and shows what to replace', async () => {
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
    ok(text.includes('eplace'));
    strictEqual((await botshelf(root, ['check'])).stdout, '1 file, 0 faults\n');
    strictEqual((await botshelf(root, ['format', '--check'])).code, 0);
  });

  it('makes the first page in the language asked for, in the folder of a short id', async () => {
    const root = tempFolder();
    strictEqual((await botshelf(root, ['new', '7', '--locale=zh-CN'])).stdout, 'bots/007/7.zh-CN.md\n');
    strictEqual((await botshelf(root, ['check'])).code, 0);
  });

  it('makes a further language as a translation of the main page', async () => {
    const root = tempFolder();
    writeFiles(root, {
      [pagePath(homer)]: mainPage(),
      [pagePath(homer, 'de')]: translation('Homer', 'Weiß.'),
    });
    strictEqual((await botshelf(root, ['new', homer, '--locale', 'fr'])).code, 0);
    const text = readFileSync(join(root, pagePath(homer, 'fr')), 'utf8');
    deepStrictEqual(JSON.parse(text.split('---')[1] ?? ''), {
      name: 'Homer',
      description: 'Answers questions about doughnuts.',
    });
    strictEqual((await botshelf(root, ['check'])).stdout, '3 files, 0 faults\n');
  });

  it('ends with 2 and one line that says what to do, and makes nothing', async () => {
    const root = tempFolder();
    writeFiles(root, { [pagePath(homer)]: mainPage(), 'bots/009/9.en.md': 'no page' });
    const cases: [string[], RegExp][] = [
      [[homer], /^bots\/312\/190519304972663312\.en\.md exists already: /],
      [['12x'], /^"12x" is no bot id: /],
      [['../../etc'], /^"\.\.\/\.\.\/etc" is no bot id: /],
      [['123456789012345678901'], /is no bot id: /],
      [['5', '--locale=EN-gb'], /^"EN-gb" is not in canonical case: give --locale en-GB\n$/],
      [['5', '--locale=../x'], /^"\.\.\/x" is no language tag: /],
      [['9', '--locale=fr'], /^the bot has no sound main page: /],
      [[], /^error: missing required argument 'id'/],
    ];
    for (const [args, message] of cases) {
      const { code, stdout, stderr } = await botshelf(root, ['new', ...args]);
      match(stderr, message);
      deepStrictEqual([code, stdout], [2, '']);
    }
    strictEqual(readFileSync(join(root, pagePath(homer)), 'utf8'), mainPage());
  });
});
