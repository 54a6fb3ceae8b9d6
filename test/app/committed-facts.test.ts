import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../src/bot/errors.ts';
import { toSettings, readCommittedSettings } from '../../src/catalogue/settings/settings.ts';
import { readCommittedAuthors } from '../../src/catalogue/lists/authors.ts';
import type { RepositoryOpener } from '../../src/git/repository.ts';
import { openerOf } from '../support/opened.ts';
import { repositoryIn, testRepository, type TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const homer = botId('190519304972663312');
const settingsPath = 'botshelf.json';
const toText = (...maintainers: string[]): string => JSON.stringify({ maintainers });

for (const [what, path, write, read] of [
  [
    'authors',
    pagePath(homer),
    (...authors: string[]) => mainPage({ authors }),
    async (opener: RepositoryOpener) => await readCommittedAuthors(opener, homer),
  ],
  [
    'maintainers',
    settingsPath,
    toText,
    async (opener: RepositoryOpener) => (await readCommittedSettings(opener))?.maintainers,
  ],
] as const)
  describe(`the ${what} in the last commit`, () => {
    let repo: TestRepository;
    const ids = async (folder = repo.folder): Promise<readonly string[] | undefined> =>
      await read(openerOf(folder));
    beforeEach(() => {
      repo = testRepository({ [path]: write('1', '2') });
    });

    it('are those of its file, on a branch or not', async () => {
      deepStrictEqual(await ids(), ['1', '2']);
      repo.git('switch', '-q', '-c', 'other');
      repo.commit({ [path]: write('3') });
      deepStrictEqual(await ids(), ['3']);
      repo.git('checkout', '-q', '--detach', 'main');
      deepStrictEqual(await ids(), ['1', '2']);
    });

    it('are not those of an edit that is not committed, staged or not', async () => {
      repo.write(path, write('3'));
      deepStrictEqual(await ids(), ['1', '2']);
      repo.git('add', '-A');
      deepStrictEqual(await ids(), ['1', '2']);
      rmSync(join(repo.folder, path));
      deepStrictEqual(await ids(), ['1', '2']);
    });

    it('are found in a catalogue below the top of its repository, and where ids are SHA-256', async () => {
      repo.commit({ [`shelf/${path}`]: write('6') });
      deepStrictEqual([await ids(join(repo.folder, 'shelf')), await ids()], [['6'], ['1', '2']]);
      const folder = tempFolder();
      repo.git('init', '-q', '--object-format=sha256', '-b', 'main', folder);
      deepStrictEqual(await ids(folder), [], 'before the first commit');
      repositoryIn(folder).commit({ [path]: write('9') });
      deepStrictEqual(await ids(folder), ['9']);
    });

    it('cannot be known where there is no repository', async () => {
      await rejects(ids(tempFolder()), isUnavailable);
    });
  });

describe('the authors in the last commit', () => {
  it('are those of the main page, and none where there are two, a faulty one, or none that is a file @slow', async () => {
    const repo = testRepository({
      [pagePath(homer, 'fr')]: translation('Homère', 'Répond.'),
      [pagePath(homer)]: mainPage({ authors: ['1', '2'] }),
    });
    const authors = async (id = homer): Promise<readonly string[]> =>
      await readCommittedAuthors(openerOf(repo.folder), id);
    deepStrictEqual(await authors(), ['1', '2']);
    repo.commit({
      [pagePath(homer, 'fr')]: mainPage({ authors: ['4'] }),
      [pagePath(homer)]: translation('Homer', 'Answers.'),
    });
    deepStrictEqual(await authors(), ['4']);
    deepStrictEqual(await authors(botId('312')), []);
    repo.commit({ [pagePath(homer, 'de')]: mainPage({ authors: ['7'] }) });
    deepStrictEqual(await authors(), []);
    repo.git('rm', '-q', pagePath(homer, 'de'), pagePath(homer, 'fr'));
    repo.commit({ [pagePath(homer)]: mainPage({ authors: ['1', '1'] }) });
    deepStrictEqual(await authors(), []);
    repo.commit({ elsewhere: mainPage({ authors: ['8'] }) });
    unlinkSync(join(repo.folder, pagePath(homer)));
    symlinkSync('../../elsewhere', join(repo.folder, pagePath(homer)));
    repo.commit({});
    deepStrictEqual(await authors(), []);
  });
});

describe('the settings in the last commit', () => {
  let repo: TestRepository;
  let repositoryOpener: RepositoryOpener;
  const maintainers = async (): Promise<readonly string[] | undefined> =>
    (await readCommittedSettings(repositoryOpener))?.maintainers;
  /** Moves the branch as a commit does. */
  const checkOut = (id = ''): void => repo.write('.git/refs/heads/main', `${id}\n`);
  beforeEach(() => {
    repo = testRepository({ [settingsPath]: toText('1', '2') });
    repositoryOpener = openerOf(repo.folder);
  });

  it('are the defaults where there is no file, or no folder of the catalogue', async () => {
    deepStrictEqual(await readCommittedSettings(repositoryOpener), toSettings({ maintainers: ['1', '2'] }));
    rmSync(join(repo.folder, settingsPath));
    repo.commit({});
    deepStrictEqual(await readCommittedSettings(repositoryOpener), toSettings());
    repo.write('shelf/botshelf.json', '{"maintainers": ["3"]}');
    deepStrictEqual(await readCommittedSettings(openerOf(join(repo.folder, 'shelf'))), toSettings());
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
    const good = { [settingsPath]: toText('4') };
    const ids = repo.commitAll(
      faulty.flatMap(([, text]) => [{ files: { [settingsPath]: text } }, { files: good }]),
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
});
