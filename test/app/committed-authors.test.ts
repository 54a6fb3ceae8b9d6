import { deepStrictEqual, rejects } from 'node:assert/strict';
import { symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { BotId } from '../../src/bot/id.ts';
import { readCommittedAuthors } from '../../src/app/committed-authors.ts';
import { RepositoryOpener } from '../../src/git/repository.ts';
import { testRepository, type TestRepository } from '../support/repository.ts';
import { botId, mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const homer = botId('190519304972663312');

describe('committedAuthors', () => {
  let repo: TestRepository;
  const doors: RepositoryOpener[] = [];
  const authors = async (id: BotId = homer, folder = repo.folder): Promise<readonly string[]> => {
    const repositoryOpener = new RepositoryOpener(folder);
    doors.push(repositoryOpener);
    return await readCommittedAuthors(repositoryOpener, id);
  };

  beforeEach(() => {
    repo = testRepository({
      [pagePath(homer, 'fr')]: translation('Homère', 'Répond.'),
      [pagePath(homer)]: mainPage({ authors: ['1', '2'] }),
    });
  });

  afterEach(() => {
    for (const repositoryOpener of doors.splice(0)) repositoryOpener.close();
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

  it('are none where there is no such bot, two main pages, a faulty one, or none that is a file', async () => {
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
    await rejects(authors(homer, tempFolder()), { name: 'WritesUnavailableError' });
  });
});
