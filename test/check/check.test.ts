import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { formatCatalogue, type FormatReport } from '../../src/commands/format.ts';
import { checkInThreads, createScope, type Scope } from '../../src/check/check.ts';
import { collection, commandsPath, mainPage, pagePath, profile } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

const page = pagePath('1');
const blocked = '{"accounts": {}, "bots": {"1": {"reason": "A copy"}}}';

describe('the check of a part of a catalogue', () => {
  let root: string;
  beforeEach(() => {
    root = tempFolder();
    writeFiles(root, {
      [page]: mainPage(),
      'bots/001/notes.txt': '',
      'bots/001/more.txt': '',
      'bots/README.md': '',
      'botshelf.json': '{"name": ""}',
    });
  });

  async function check(scope: Scope, options = {}): Promise<[files: number, paths: string[]]> {
    const { files, findings } = await checkInThreads(root, scope, options);
    return [files, findings.map(({ path }) => path)];
  }

  it('is of the files that it has, and of a bot as a whole', async () => {
    const all = ['bots/001/more.txt', 'bots/001/notes.txt', 'bots/README.md', 'botshelf.json'];
    deepStrictEqual(await check('everything'), [5, all]);
    deepStrictEqual(await check(createScope(['bots/001/notes.txt'])), [1, ['bots/001/notes.txt']]);
    deepStrictEqual(await check(createScope([page])), [1, []]);
    deepStrictEqual(await check(createScope(['bots/README.md'])), [1, ['bots/README.md']]);
    deepStrictEqual(await check(createScope(['bots/009'])), [0, []]);
  });

  it('names a folder beside bots/ that is a file, and what is no file in one', async () => {
    writeFiles(root, { people: '', 'collections/.gitkeep': '' });
    mkdirSync(join(root, 'collections/fun.en.md'));
    const { files, findings } = await checkInThreads(root, 'everything');
    strictEqual(files, 6);
    deepStrictEqual(
      findings.filter(({ path }) => !path.startsWith('bots')).map(({ path, rule }) => `${path} ${rule}`),
      ['collections/fun.en.md regular-file', 'people regular-file'],
    );
  });
});

describe('the canonical form of a part of a catalogue', () => {
  const files = {
    [page]: '---\n{"name": "A"}\n---\n',
    [commandsPath('1')]: '{"commands": [{"nsfw": false, "name": "b"}, {"name": "a"}]}',
    'botshelf.json': '{"language": "de", "name": "A"}',
    'blocked.json': blocked,
    'people/1.json': '{"website": null, "name": "Ada"}',
    'collections/fun.en.md': '---\n{"bots": ["1", "2"], "title": "T", "description": "D."}\n---\nHa.\n',
  };
  const format = async (root: string, scope: Scope): Promise<FormatReport> =>
    await formatCatalogue(root, scope, true, () => {});

  it('is written of pages alone, and of all other files with the whole', async () => {
    const root = tempFolder(files);
    const part = await format(root, createScope(['bots/001']));
    deepStrictEqual([part.files, part.changed], [2, [commandsPath('1'), page]]);
    const commands = readFileSync(join(root, commandsPath('1')), 'utf8');
    match(commands, /^\{\n {2}"commands": \[\n {4}\{\n {6}"name": "a"\n {4}\},/);
    doesNotMatch(commands, /nsfw/);
    const { files: count, changed } = await format(root, 'everything');
    const others = ['blocked.json', 'botshelf.json', 'collections/fun.en.md', 'people/1.json'];
    deepStrictEqual([count, changed], [6, others]);
    strictEqual(readFileSync(join(root, 'people/1.json'), 'utf8'), profile({ website: null }));
    const fun = collection({ title: 'T', description: 'D.', bots: ['1', '2'] });
    strictEqual(readFileSync(join(root, 'collections/fun.en.md'), 'utf8'), `${fun.trimEnd()}\nHa.\n`);
    match(
      readFileSync(join(root, 'botshelf.json'), 'utf8'),
      /^\{\n {2}"name": "A",\n {2}"language": "de"\n\}\n$/,
    );
    match(readFileSync(join(root, 'blocked.json'), 'utf8'), /^\{\n {2}"bots": \{\n/);
    deepStrictEqual((await format(root, 'everything')).changed, []);
  });
});
