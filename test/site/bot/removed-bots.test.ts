import { strictEqual, ok } from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ChangeIndex } from '../../../src/catalogue/changes/change-index.ts';
import { BotStore } from '../../../src/catalogue/store/bot-store.ts';
import { silentLog } from '../../../src/lib/log.ts';
import { trackRemovedBots } from '../../../src/site/bot/removed-bots.ts';
import { mainPage, pagePath, translation, botId } from '../../support/sample.ts';
import { followBranch } from '../../support/branch.ts';
import { eventually } from '../../support/eventually.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { openerOf } from '../../support/opened.ts';
import { testRepository } from '../../support/repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('the removed bots of a folder outside of Git', () => {
  it('are those whose last file goes while it is open, until a file of theirs comes back @slow', async () => {
    const files = { [pagePath('7')]: mainPage(), [pagePath('7', 'fr')]: translation('Sept', 'Répond.') };
    const { root, catalogue, write, name } = await openCatalogue({ ...files, [pagePath('8')]: mainPage() });
    const index = new ChangeIndex({ folder: tempFolder(), repositoryOpener: openerOf(root) });
    const removedAt = trackRemovedBots(catalogue.store, index);
    const at = async (id: string): Promise<number | undefined> => await removedAt(botId(id));
    const path = (id: string, locale?: string): string => join(root, pagePath(id, locale));

    rmSync(path('7', 'fr'));
    await eventually(() => catalogue.store.bots.get(botId('7'))?.files.length === 1);
    strictEqual(await at('7'), undefined, 'a translation less is no removal');

    const before = Date.now();
    rmSync(path('7'));
    await eventually(() => name('7') === undefined);
    const time = (await at('7')) ?? 0;
    ok(time >= before && time <= Date.now());

    write({ [pagePath('7')]: '---\n{}\n---\n' });
    await eventually(async () => strictEqual(await at('7'), undefined));
    write({ [pagePath('7')]: mainPage({ name: 'Back' }) });
    await eventually(() => name('7') === 'Back');
    strictEqual(await at('7'), undefined);

    renameSync(path('8'), join(root, 'bots/007/8.en.md'));
    await eventually(() => name('8') === undefined && catalogue.store.faults().length === 1);
    strictEqual(await at('8'), undefined, 'a file in a wrong folder is there');
    rmSync(join(root, 'bots/007/8.en.md'));
    await eventually(async () => ok(await at('8')));
  });

  it('are the first 100,000 of them', async () => {
    const store = new BotStore(silentLog);
    const removedAt = trackRemovedBots(store, { listSteps: async () => [] });
    for (let id = 1; id <= 100_001; id++) store.emit('change', botId(String(id)));
    ok(await removedAt(botId('100000')));
    strictEqual(await removedAt(botId('100001')), undefined);
  });
});

describe('the removed bots of a repository', () => {
  it('are those whose last page a commit removed, with the time of the commit', async () => {
    const repository = testRepository({ [pagePath('7')]: mainPage(), [pagePath('10')]: mainPage() });
    const { git, folder: root } = repository;
    repository.commitAll([{ files: { [pagePath('7')]: null } }]);
    rmSync(join(root, pagePath('10')));
    const { catalogue } = await openCatalogue({}, { root });
    const index = new ChangeIndex({ folder: tempFolder(), repositoryOpener: openerOf(root) });
    const removedAt = trackRemovedBots(catalogue.store, index);
    const at = async (id: string): Promise<number | undefined> => await removedAt(botId(id));
    strictEqual(await at('7'), undefined, 'the history was not read yet');
    await followBranch(root, index)();
    strictEqual(await at('7'), Number(git('show', '-s', '--format=%ct', 'HEAD')) * 1000);
    strictEqual(await at('10'), undefined, 'removed only in the work tree');
  });
});
