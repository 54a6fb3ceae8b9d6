import { deepStrictEqual } from 'node:assert/strict';
import { findNewAdministrators } from '../../src/site/discover/attention.ts';
import { openCatalogue } from '../support/live-catalogue.ts';
import { openerOf } from '../support/opened.ts';
import { type QuickCommit, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const dayMs = 86_400_000;

/** The page of a bot whose invite asks for these permissions: 8 is Administrator. */
function page(id: string, permissions: number, keys: Readonly<Record<string, unknown>> = {}): string {
  const invite = `https://discord.com/oauth2/authorize?client_id=${id}&scope=bot&permissions=${permissions}`;
  return mainPage({ name: `Bot ${id}`, invite, ...keys });
}

/** A commit of these files some days ago. */
function daysAgo(days: number, files: Readonly<Record<string, string>>): QuickCommit {
  return { files, at: Math.floor((Date.now() - days * dayMs) / 1000) };
}

describe('the bots that ask for Administrator since a change', () => {
  const find = async (root: string, folder = root): Promise<readonly (readonly [string, number])[]> => {
    const { catalogue } = await openCatalogue({}, { root });
    return [...(await findNewAdministrators(catalogue.store.bots, openerOf(folder)))].toSorted(([a], [b]) =>
      a.localeCompare(b),
    );
  };

  it('are those whose page asked for less 1, 7 or 90 days ago, with the last such time @slow', async () => {
    const files = (permissions: number, ids: readonly string[]): Record<string, string> =>
      Object.fromEntries(ids.map((id) => [pagePath(id), page(id, permissions)]));
    const repo = testRepository({ 'README.md': 'x' }, tempFolder());
    repo.commitAll([
      daysAgo(200, files(0, ['1', '2', '3', '4', '6', '7'])),
      daysAgo(100, files(8, ['2', '7'])),
      // Added together with the bot, and so reviewed with it.
      daysAgo(50, files(8, ['5'])),
      daysAgo(40, files(8, ['1', '3', '6'])),
      daysAgo(30, files(0, ['3', '6', '8', '9'])),
      daysAgo(20, { [pagePath('1')]: page('1', 8, { description: 'Answers more.' }) }),
      daysAgo(5, files(8, ['6', '8'])),
      daysAgo(0, files(8, ['9'])),
    ]);
    const now = Date.now();
    deepStrictEqual(
      (await find(repo.folder)).map(([id, time]) => [id, Math.round((now - time) / dayMs)]),
      [
        ['1', 90],
        ['6', 7],
        ['8', 7],
        ['9', 1],
      ],
    );
  });

  it('are found where a branch was merged, and below the top of the repository', async () => {
    const root = tempFolder();
    const repo = testRepository({ 'README.md': 'x' }, root);
    repo.commitAll([
      daysAgo(9, { [`list/${pagePath('1')}`]: page('1', 0), [`list/${pagePath('2')}`]: page('2', 0) }),
    ]);
    repo.git('checkout', '-q', '-b', 'topic');
    repo.commit({ [`list/${pagePath('1')}`]: page('1', 8) });
    repo.git('checkout', '-q', 'main');
    repo.commit({ [`list/${pagePath('2')}`]: page('2', 1) });
    repo.git('merge', '-q', '--no-edit', 'topic');
    const found = await find(`${root}/list`);
    deepStrictEqual(
      found.map(([id]) => id),
      ['1'],
    );
  });
});
