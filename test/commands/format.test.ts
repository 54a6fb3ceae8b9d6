import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { chmodSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { toCanonicalForm } from '../../src/catalogue/page/page.ts';
import { botshelf } from '../support/command-line.ts';
import { mainPage, writeFiles } from '../support/sample.ts';
import { collection, profile } from '../support/side-files.ts';
import { tempFolder } from '../support/temp-folder.ts';

const messy =
  '---json\r\n{"website":null, "created": 1700000000000,\r\n"description":"B","images":{"preview":[],"avatar":null},"name":"A"}\r\n---\r\n\r\n# A\t \r\n';
const canonical =
  '---\n{\n  "name": "A",\n  "description": "B",\n  "created": 1700000000000,\n  "images": {\n    "avatar": null,\n    "preview": []\n  },\n  "website": null\n}\n---\n\r\n# A\t \r\n';

function catalogue(): string {
  const root = tempFolder();
  writeFiles(root, { 'bots/001/1.en.md': messy, 'bots/002/2.en.md': mainPage() });
  return root;
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

  it('brings profiles and collections into canonical form', async () => {
    const root = tempFolder();
    const [person, fun] = ['people/1.json', 'collections/fun.en.md'];
    writeFiles(root, {
      'bots/001/1.en.md': canonical,
      [person]: '{"website": null, "name": "Ada"}',
      [fun]: '---\n{"bots": ["1", "2"], "description": "D.", "title": "T"}\n---\nHa.\n',
      'people/2.json': '{',
    });
    const { stdout } = await botshelf(root, ['format']);
    match(
      stdout,
      /^collections\/fun\.en\.md\npeople\/1\.json\n.*people\/2\.json:1:2 .*\n4 files, 2 formatted, 1 left alone\n$/,
    );
    strictEqual(readFileSync(join(root, person), 'utf8'), profile({ website: null }));
    strictEqual(
      readFileSync(join(root, fun), 'utf8'),
      collection({ title: 'T', description: 'D.', bots: ['1', '2'] }).trimEnd() + '\nHa.\n',
    );
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

  it('brings the settings into canonical form', async () => {
    const root = catalogue();
    const settings = '{"language": "de", "name": "A"}';
    writeFiles(root, { 'bots/001/1.en.md': canonical, 'botshelf.json': settings });
    strictEqual((await botshelf(root, ['format', 'bots'])).stdout, 'botshelf.json\n3 files, 1 formatted\n');
    const written = readFileSync(join(root, 'botshelf.json'), 'utf8');
    strictEqual(written, '{\n  "name": "A",\n  "language": "de"\n}\n');
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
    writeFiles(root, { 'bots/003/3.en.md': broken, 'bots/003/4.en.md': messy });
    const { code, stdout } = await botshelf(root, ['format']);
    const lines = stdout.split('\n');
    strictEqual(code, 1);
    strictEqual(lines[0], 'bots/001/1.en.md');
    match(lines[1] ?? '', /^bots\/003\/3\.en\.md:3:\d+ json /);
    match(lines[2] ?? '', /^bots\/003\/4\.en\.md:1:1 wrong-folder /);
    strictEqual(lines[3], '3 files, 1 formatted, 2 left alone');
    strictEqual(readFileSync(join(root, 'bots/003/3.en.md'), 'utf8'), broken);
    strictEqual(readFileSync(join(root, 'bots/003/4.en.md'), 'utf8'), messy);
  });

  it('ends with 2 for a path that does not exist', async () => {
    const { code, stderr } = await botshelf(catalogue(), ['format', 'bots/404']);
    strictEqual(code, 2);
    match(stderr, /^"bots\/404" does not exist: .+\n$/);
  });
});
