import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../src/bot/errors.ts';
import type { BotId } from '../../src/bot/id.ts';
import { toSettings, readCommittedSettings } from '../../src/catalogue/settings/settings.ts';
import { readCommittedAuthors } from '../../src/catalogue/store/bot-index.ts';
import type { RepositoryOpener } from '../../src/git/repository.ts';
import { openerOf } from '../support/opened.ts';
import { repositoryIn, testRepository, type TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const homer = botId('190519304972663312');

describe('the authors in the last commit', () => {
  let repo: TestRepository;
  const authors = async (id: BotId = homer, folder = repo.folder): Promise<readonly string[]> =>
    await readCommittedAuthors(openerOf(folder), id);

  beforeEach(() => {
    repo = testRepository({
      [pagePath(homer, 'fr')]: translation('Homère', 'Répond.'),
      [pagePath(homer)]: mainPage({ authors: ['1', '2'] }),
    });
  });

  it('are those of the main page in the last commit', async () => {
    deepStrictEqual(await authors(), ['1', '2']);
    repo.commit({ [pagePath(homer)]: mainPage({ authors: ['3'] }) });
    deepStrictEqual(await authors(), ['3']);
  });

  it('are not those of an edit that is not committed, staged or not', async () => {
    repo.write(pagePath(homer), mainPage({ authors: ['3'] }));
    deepStrictEqual(await authors(), ['1', '2']);
    repo.git('add', '-A');
    deepStrictEqual(await authors(), ['1', '2']);
  });

  it('are those of another language’s page once that is the main page', async () => {
    repo.commit({
      [pagePath(homer, 'fr')]: mainPage({ authors: ['4'] }),
      [pagePath(homer)]: translation('Homer', 'Answers.'),
    });
    deepStrictEqual(await authors(), ['4']);
  });

  it('are those of the commit that is checked out, on a branch or not', async () => {
    repo.git('switch', '-q', '-c', 'other');
    repo.commit({ [pagePath(homer)]: mainPage({ authors: ['5'] }) });
    deepStrictEqual(await authors(), ['5']);
    repo.git('checkout', '-q', '--detach', 'main');
    deepStrictEqual(await authors(), ['1', '2']);
  });

  it('are found in a catalogue below the top of its repository', async () => {
    repo.commit({ [`shelf/${pagePath(homer)}`]: mainPage({ authors: ['6'] }) });
    deepStrictEqual(await authors(homer, join(repo.folder, 'shelf')), ['6']);
  });

  it('are none where there is no such bot, two main pages, a faulty one, or none that is a file @slow', async () => {
    deepStrictEqual(await authors(botId('312')), []);
    repo.commit({ [pagePath(homer, 'de')]: mainPage({ authors: ['7'] }) });
    deepStrictEqual(await authors(), []);
    repo.git('rm', '-q', pagePath(homer, 'de'));
    repo.commit({ [pagePath(homer)]: mainPage({ authors: ['1', '1'] }) });
    deepStrictEqual(await authors(), []);
    repo.commit({ elsewhere: mainPage({ authors: ['8'] }) });
    unlinkSync(join(repo.folder, pagePath(homer)));
    symlinkSync('../../elsewhere', join(repo.folder, pagePath(homer)));
    repo.commit({});
    deepStrictEqual(await authors(), []);
  });

  it('are none before the first commit', async () => {
    const folder = tempFolder();
    repo.git('init', '-q', folder);
    deepStrictEqual(await authors(homer, folder), []);
  });

  it('cannot be known where there is no repository', async () => {
    await rejects(authors(homer, tempFolder()), isUnavailable);
  });
});

describe('the settings in the last commit', () => {
  let repo: TestRepository;
  let repositoryOpener: RepositoryOpener;
  const maintainers = async (opener = repositoryOpener): Promise<readonly string[] | undefined> =>
    (await readCommittedSettings(opener))?.maintainers;
  /** Moves the branch as a commit does. */
  const checkOut = (id = ''): void => repo.write('.git/refs/heads/main', `${id}\n`);
  const name = (...ids: string[]): Readonly<Record<string, string>> => ({
    'botshelf.json': JSON.stringify({ maintainers: ids }),
  });

  beforeEach(() => {
    repo = testRepository(name('1', '2'));
    repositoryOpener = openerOf(repo.folder);
  });

  it('are those of the file, with each commit', async () => {
    deepStrictEqual(await readCommittedSettings(repositoryOpener), toSettings({ maintainers: ['1', '2'] }));
    repo.commit(name('2'));
    deepStrictEqual(await maintainers(), ['2']);
    repo.commit(name('1', '2'));
    deepStrictEqual(await maintainers(), ['1', '2']);
  });

  it('are not those of an edit that is not committed, staged or not', async () => {
    for (const [path, text] of Object.entries(name('3'))) repo.write(path, text);
    deepStrictEqual(await maintainers(), ['1', '2']);
    repo.git('add', '-A');
    deepStrictEqual(await maintainers(), ['1', '2']);
    rmSync(join(repo.folder, 'botshelf.json'));
    deepStrictEqual(await maintainers(), ['1', '2']);
  });

  it('are the defaults where there is no file, no folder of the catalogue, or no commit', async () => {
    rmSync(join(repo.folder, 'botshelf.json'));
    repo.commit({});
    deepStrictEqual(await readCommittedSettings(repositoryOpener), toSettings());
    repo.write('shelf/botshelf.json', '{"maintainers": ["3"]}');
    deepStrictEqual(await readCommittedSettings(openerOf(join(repo.folder, 'shelf'))), toSettings());
    const folder = tempFolder();
    repo.git('init', '-q', folder);
    deepStrictEqual(await readCommittedSettings(openerOf(folder)), toSettings());
  });

  it('are found in a catalogue below the top of its repository', async () => {
    repo.commit({ 'shelf/botshelf.json': JSON.stringify({ maintainers: ['6'] }) });
    deepStrictEqual(await maintainers(openerOf(join(repo.folder, 'shelf'))), ['6']);
    deepStrictEqual(await maintainers(), ['1', '2']);
  });

  it('are found where ids are SHA-256', async () => {
    const folder = tempFolder();
    repo.git('init', '-q', '--object-format=sha256', '-b', 'main', folder);
    repositoryIn(folder).commit(name('9'));
    deepStrictEqual(await maintainers(openerOf(folder)), ['9']);
  });

  it('are none while the file has a fault, so that nobody may review @slow', async () => {
    const faulty = [
      ['a key that does not exist', '{"maintainers": ["1"], "nmae": "A"}'],
      ['no JSON', '{"maintainers": ["1"]'],
      ['a maintainer who is no account', '{"maintainers": ["ada"]}'],
      ['a colour that cannot be read', '{"maintainers": ["1"], "accent": {"light": "#ffffff"}}'],
      ['more bytes than it may have', JSON.stringify({ maintainers: ['1'] }).padEnd(65 * 1024)],
      ['more bytes than are read', JSON.stringify({ maintainers: ['1'] }).padEnd(10 * 1024 * 1024 + 1)],
    ] as const;
    const good = name('4');
    const ids = repo.commitAll(
      faulty.flatMap(([, text]) => [{ files: { 'botshelf.json': text } }, { files: good }]),
    );
    for (const [i, [what]] of faulty.entries()) {
      checkOut(ids[2 * i]);
      strictEqual(await readCommittedSettings(repositoryOpener), undefined, what);
      strictEqual(await readCommittedSettings(repositoryOpener), undefined, what);
      checkOut(ids[2 * i + 1]);
      deepStrictEqual(await maintainers(), ['4'], what);
    }
  });

  it('are none where a link or a folder is in the place of the file, whatever the link says', async () => {
    const link = JSON.stringify({ maintainers: ['5'] });
    // The same blob is a file of its own first.
    repo.commit({ 'botshelf.json': link });
    deepStrictEqual(await maintainers(), ['5']);
    unlinkSync(join(repo.folder, 'botshelf.json'));
    symlinkSync(link, join(repo.folder, 'botshelf.json'));
    repo.commit({});
    strictEqual(await readCommittedSettings(repositoryOpener), undefined);
    unlinkSync(join(repo.folder, 'botshelf.json'));
    repo.commit({ 'botshelf.json/botshelf.json': link });
    strictEqual(await readCommittedSettings(repositoryOpener), undefined);
  });

  it('do not depend on the logo, which is another file', async () => {
    repo.commit({ 'botshelf.json': JSON.stringify({ maintainers: ['7'], logo: 'logo.png' }) });
    deepStrictEqual(await maintainers(), ['7']);
  });

  it('cost one read of an object while the file is the same, and are the same value', async () => {
    const settings = await readCommittedSettings(repositoryOpener);
    repo.commit({ other: 'x' });
    const { objects } = await repositoryOpener.open();
    const read = objects.read.bind(objects);
    const names: string[] = [];
    objects.read = async (wanted) => {
      names.push(...wanted);
      return await read(wanted);
    };
    strictEqual(await readCommittedSettings(repositoryOpener), settings);
    deepStrictEqual(names, ['HEAD:']);
  });

  it('cannot be known where there is no repository', async () => {
    await rejects(readCommittedSettings(openerOf(tempFolder())), isUnavailable);
  });
});
