import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { toCanonicalForm } from '../../src/catalogue/page/page.ts';
import { botshelf } from '../support/command-line.ts';
import { collection, mainPage } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

const messy =
  '---json\r\n{"website":null, "created": 1700000000000,\r\n"description":"B","images":{"preview":[],"avatar":null},"name":"A"}\r\n---\r\n\r\n# A\t \r\n';
const canonical =
  '---\n{\n  "name": "A",\n  "description": "B",\n  "created": 1700000000000,\n  "images": {\n    "avatar": null,\n    "preview": []\n  },\n  "website": null\n}\n---\n\r\n# A\t \r\n';

function catalogue(): string {
  return tempFolder({ 'bots/001/1.en.md': messy, 'bots/002/2.en.md': mainPage() });
}

describe('botshelf format', () => {
  it('writes a file in its canonical form, keeps its mode, and leaves canonical files alone', async () => {
    const root = catalogue();
    chmodSync(join(root, 'bots/001/1.en.md'), 0o640);
    const before = statSync(join(root, 'bots/002/2.en.md'));
    const { code, stdout } = await botshelf(root, ['format']);
    deepStrictEqual([code, stdout], [0, 'bots/001/1.en.md\n2 files, 1 formatted\n']);
    strictEqual(readFileSync(join(root, 'bots/001/1.en.md'), 'utf8'), canonical);
    strictEqual(statSync(join(root, 'bots/001/1.en.md')).mode & 0o777, 0o640);
    strictEqual(statSync(join(root, 'bots/002/2.en.md')).ino, before.ino);
    deepStrictEqual(readdirSync(join(root, 'bots/001')), ['1.en.md']);
    strictEqual((await botshelf(root, ['format'])).stdout, '2 files, 0 formatted\n');
  });

  it('drops the commas that Prettier puts after last values, in texts none', async () => {
    const root = tempFolder();
    const [page, fun] = ['bots/001/1.en.md', 'collections/fun.en.md'];
    const comma = { description: ',]', images: { avatar: null, preview: ['https://example.org/a,}'] } };
    const good = { [page]: mainPage(comma), [fun]: collection({ bots: ['1', '2'] }) };
    const withCommas = Object.entries(good).map(([path, text]) => [
      path,
      text.replaceAll(/(?=\n *[\]}])/g, ','),
    ]);
    writeFiles(root, { ...Object.fromEntries(withCommas), 'bots/002/2.en.md': '---\n{"a":,}\n---\n' });
    const { stdout } = await botshelf(root, ['format']);
    match(
      stdout,
      /^bots\/001\/1\.en\.md\ncollections\/fun\.en\.md\n.*2\.en\.md:2:6 json .*\n3 files, 2 formatted, 1 left alone\n$/,
    );
    for (const [path, text] of Object.entries(good))
      strictEqual(
        readFileSync(join(root, path), 'utf8'),
        toCanonicalForm(text, path === fun ? 'collection' : 'main-page'),
      );
  });

  it('with --check writes nothing and names what would change', async () => {
    const root = catalogue();
    const { code, stdout } = await botshelf(root, ['format', '--check']);
    deepStrictEqual([code, stdout], [1, 'bots/001/1.en.md\n2 files, 1 to format\n']);
    strictEqual(readFileSync(join(root, 'bots/001/1.en.md'), 'utf8'), messy);
    strictEqual((await botshelf(root, ['format', '--check', 'bots/002'])).code, 0);
  });

  it('formats the files it is given and no others of the bot', async () => {
    const root = catalogue();
    writeFiles(root, { 'bots/001/1.fr.md': messy });
    const { stdout } = await botshelf(root, ['format', 'bots/001/1.fr.md']);
    strictEqual(stdout, 'bots/001/1.fr.md\n1 file, 1 formatted\n');
    strictEqual(readFileSync(join(root, 'bots/001/1.en.md'), 'utf8'), messy);
  });

  it('names a file that is no page and leaves it alone', async () => {
    const root = catalogue();
    const broken = '---\n{"name": "A"\n---\n';
    writeFiles(root, { 'bots/003/3.en.md': broken, 'bots/003/4.en.md': messy, 'people/2.json': '{' });
    const { code, stdout } = await botshelf(root, ['format']);
    const lines = stdout.split('\n');
    strictEqual(code, 1);
    strictEqual(lines[0], 'bots/001/1.en.md');
    match(lines[1] ?? '', /^bots\/003\/3\.en\.md:3:\d+ json /);
    match(lines[2] ?? '', /^bots\/003\/4\.en\.md:1:1 wrong-folder /);
    match(lines[3] ?? '', /people\/2\.json:1:2 /);
    strictEqual(lines[4], '4 files, 1 formatted, 3 left alone');
    strictEqual(readFileSync(join(root, 'bots/003/3.en.md'), 'utf8'), broken);
    strictEqual(readFileSync(join(root, 'bots/003/4.en.md'), 'utf8'), messy);
  });
});
