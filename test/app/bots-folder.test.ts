import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { restoreBotsFolder } from '../../src/app/bots-folder.ts';
import { eventually } from '../support/eventually.ts';
import { openerOf } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('a catalogue whose last bot is removed, with the folder that Git does not keep', () => {
  const isServed = async (service: TestService, ids: readonly string[]): Promise<void> => {
    const { json } = await service.request('/api/v2/bots');
    deepStrictEqual(
      (json as { id: string }[]).map(({ id }) => id),
      ids,
    );
    strictEqual((await service.request('/readyz')).status, 200);
  };

  it('is served empty, also by the next start, and takes bots again @slow', async () => {
    const repository = testRepository({
      [pagePath('7')]: mainPage({ name: 'Homer' }),
      'people/.gitkeep': '',
    });
    const service = await startTestService({}, { root: repository.folder });
    await isServed(service, ['7']);
    const tree = repository.git('commit-tree', '-p', 'HEAD', '-m', 'Remove', 'HEAD:people');
    // In one step, as a pull: nothing says that files are missing which the commit has.
    repository.git('merge', '-q', '--ff-only', tree);
    await eventually(async () => await isServed(service, []));
    // The folder itself is no change; .gitignore went with the last bot.
    strictEqual(repository.status(), '?? var/');
    repository.git('revert', '--no-edit', 'HEAD');
    await eventually(async () => await isServed(service, ['7']));
    await service.stop();
    repository.git('reset', '-q', '--hard', 'HEAD^');
    strictEqual(existsSync(join(repository.folder, 'bots')), false);
    const next = await startTestService({}, { root: repository.folder });
    await isServed(next, []);
    repository.commit({ [pagePath('8')]: mainPage({ name: 'Marge' }) });
    await eventually(async () => await isServed(next, ['8']));
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
