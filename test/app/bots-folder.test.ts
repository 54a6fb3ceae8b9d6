import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { ensureCatalogue, restoreBotsFolder } from '../../src/catalogue/catalogue.ts';
import { eventually } from '../support/eventually.ts';
import { openerOf } from '../support/opened.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { sharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('a catalogue whose last bot is removed, with the folder that Git does not keep', () => {
  const isServed = async (service: TestService, ids: readonly string[]): Promise<void> => {
    const { json } = await service.request('/api/v2/bots');
    deepStrictEqual(
      (json as { id: string }[]).map(({ id }) => id),
      ids,
    );
    strictEqual((await service.request('/readyz')).status, 200);
  };

  it('is served empty, also by the next start, and takes bots again @long', async () => {
    const repo = testRepository({ [pagePath('7')]: mainPage({ name: 'Homer' }), 'people/.gitkeep': '' });
    const service = await startTestService({}, { root: repo.folder });
    await isServed(service, ['7']);
    // On a busy machine Git takes over a second between the folder and the branch.
    service.allowLog(/cannot read the catalogue/);
    const tree = repo.git('commit-tree', '-p', 'HEAD', '-m', 'Remove', 'HEAD:people');
    // In one step, as a pull: nothing says that files are missing which the commit has.
    repo.git('merge', '-q', '--ff-only', tree);
    await eventually(async () => await isServed(service, []));
    // The folder itself is no change; .gitignore went with the last bot.
    strictEqual(repo.status(), '?? var/');
    repo.git('revert', '--no-edit', 'HEAD');
    await eventually(async () => await isServed(service, ['7']));
    await service.stop();
    repo.git('reset', '-q', '--hard', 'HEAD^');
    strictEqual(existsSync(join(repo.folder, 'bots')), false);
    const next = await startTestService({}, { root: repo.folder });
    await isServed(next, []);
    repo.commit({ [pagePath('8')]: mainPage({ name: 'Marge' }) });
    await eventually(async () => await isServed(next, ['8']));
  });

  it('is told from a clone of a remote whose HEAD names no branch, with what helps @slow', async () => {
    const shared = sharedRepository({ [pagePath('7')]: mainPage() });
    shared.git('symbolic-ref', 'HEAD', 'refs/heads/master');
    const folder = join(tempFolder(), 'clone');
    shared.maintainer.git('clone', '-q', shared.address, folder);
    await rejects(ensureCatalogue(folder, openerOf(folder)), {
      message: `${folder} has nothing checked out, because HEAD of its remote names no branch that is there: run "git switch main" here, and "git symbolic-ref HEAD refs/heads/main" on the Git server`,
    });
    repositoryIn(folder).git('switch', '-q', 'main');
    await ensureCatalogue(folder, openerOf(folder));
  });

  it('is not taken for one where the commit has bots, or where there never were any', async () => {
    const away = testRepository({ [pagePath('7')]: mainPage({ name: 'Homer' }) });
    away.git('rm', '-q', pagePath('7'));
    const other = testRepository({ 'README.md': 'No catalogue.\n' });
    for (const { folder } of [away, other]) {
      await restoreBotsFolder(folder, openerOf(folder));
      strictEqual(existsSync(join(folder, 'bots')), false);
    }
  });
});
