import { noLimits } from '../../src/catalogue/page/rules.ts';
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { generateRepository } from '../../bench/catalogue.ts';
import type { BotId } from '../../src/bot/id.ts';
import { parsePlace } from '../../src/catalogue/page/layout.ts';
import { type PageFile, readPageFile } from '../../src/catalogue/page/page-file.ts';
import { readBot } from '../../src/catalogue/store/bot-index.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the generator of catalogues', () => {
  it('makes a repository of the same files for the same seed, checked out and clean @slow', async () => {
    const [one, two] = [tempFolder(), tempFolder()];
    await generateRepository(one, 40, 3);
    await generateRepository(two, 40, 3);
    deepStrictEqual(textsIn(one), textsIn(two));
    const git = (...args: string[]): string =>
      execFileSync('git', args, { cwd: one, encoding: 'utf8' }).trim();
    strictEqual(git('status', '--porcelain'), '');
    strictEqual(git('log', '--format=%s', 'main'), 'Begin with 40 invented bots');
    git('fsck', '--strict');
  });
});

describe('a generated catalogue of 1,500 bots', () => {
  const bots = 1500;
  let root = '';
  let texts: Readonly<Record<string, string>> = {};

  before(async () => {
    root = tempFolder();
    await generateRepository(root, bots);
    texts = textsIn(root);
  });

  it('holds as many bots as asked for, and no page that breaks a rule @slow', () => {
    const files = new Map<BotId, PageFile[]>();
    for (const path of Object.keys(texts)) {
      const place = parsePlace(dirname(path), basename(path));
      ok('id' in place, path);
      const file = readPageFile(root, place);
      ok(file !== undefined, path);
      files.set(place.id, [...(files.get(place.id) ?? []), file]);
    }
    strictEqual(files.size, bots);
    for (const [id, pages] of files) {
      const { bot, faults } = readBot(id, pages, undefined, noLimits);
      deepStrictEqual(faults, []);
      ok(bot !== undefined, id);
    }
  });

  it('has one and a half files a bot, of realistic size, spread over the folders, in several scripts', () => {
    const mains = Object.values(texts).filter((text) => text.includes('\n  "invite": '));
    const sizes = mains.map((text) => Buffer.byteLength(text)).toSorted((a, b) => a - b);
    const [median = 0, largest = 0] = [sizes[sizes.length >> 1], sizes.at(-1)];
    ok(median > 1900 && median < 2500 && largest > 10_000, `${median} and ${largest} bytes`);
    const files = Object.keys(texts).length / bots;
    ok(files > 1.4 && files < 1.6 && mains.length === bots, `${files} files a bot`);
    const crowds = new Map<string, number>();
    for (const folder of Object.keys(texts).map(dirname)) crowds.set(folder, (crowds.get(folder) ?? 0) + 1);
    ok(crowds.size > 650 && Math.max(...crowds.values()) < 20, `${crowds.size} folders`);
    const all = Object.values(texts).join('');
    for (const script of ['Latin', 'Cyrillic', 'Arabic', 'Han', 'Hangul', 'Hiragana', 'Devanagari'])
      ok(new RegExp(`\\p{Script=${script}}`, 'u').test(all), script);
  });
});

function textsIn(root: string): Record<string, string> {
  const paths = readdirSync(join(root, 'bots'), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .toSorted();
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(root, 'bots', path), 'utf8')]));
}
