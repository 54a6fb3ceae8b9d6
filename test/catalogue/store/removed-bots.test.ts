import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { RemovedBots } from '../../../src/catalogue/store/removed-bots.ts';
import { eventually } from '../../support/eventually.ts';
import { openCatalogue } from '../../support/live-catalogue.ts';
import { recordedLog } from '../../support/recorded-log.ts';
import { botId, mainPage, pagePath, translation } from '../../support/sample.ts';
import { openerOf } from '../../support/opened.ts';

describe('the removed bots of a folder outside of Git', () => {
  it('are those whose last file goes while it is open, until a file of theirs comes back', async () => {
    const files = { [pagePath('7')]: mainPage(), [pagePath('7', 'fr')]: translation('Sept', 'Répond.') };
    const { root, catalogue, write, name } = await openCatalogue({ ...files, [pagePath('8')]: mainPage() });
    const log = recordedLog();
    const removed = new RemovedBots(catalogue, openerOf(root), log);
    await removed.start();
    const at = (id: string): number | undefined => removed.removedAt(botId(id));
    const path = (id: string, locale?: string): string => join(root, pagePath(id, locale));

    rmSync(path('7', 'fr'));
    await eventually(() => catalogue.store.bots.get(botId('7'))?.files.length === 1);
    strictEqual(at('7'), undefined, 'a translation less is no removal');

    const before = Date.now();
    rmSync(path('7'));
    await eventually(() => name('7') === undefined);
    const time = at('7') ?? 0;
    ok(time >= before && time <= Date.now());

    write({ [pagePath('7')]: '---\n{}\n---\n' });
    await eventually(() => at('7') === undefined);
    write({ [pagePath('7')]: mainPage({ name: 'Back' }) });
    await eventually(() => name('7') === 'Back');
    strictEqual(at('7'), undefined);

    renameSync(path('8'), join(root, 'bots/007/8.en.md'));
    await eventually(() => name('8') === undefined && catalogue.store.faults().length === 1);
    strictEqual(at('8'), undefined, 'a file in a wrong folder is there');
    rmSync(join(root, 'bots/007/8.en.md'));
    await eventually(() => at('8') !== undefined);

    await removed.close();
    deepStrictEqual(log.lines, []);
  });
});
