import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { eventually } from '../../../support/eventually.ts';
import { mainPage, pagePath, writeFiles } from '../../../support/sample.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { runWithoutWatches, type WatchlessProgram } from '../../../support/without-watches.ts';

describe('a catalogue that may not watch any folder', () => {
  let program: WatchlessProgram | undefined;

  afterEach(() => program?.stop());

  it('says so, follows its files by rounds, and watches them once it can @long', async () => {
    const root = tempFolder();
    writeFiles(root, {
      [pagePath('7')]: mainPage({ name: 'Seven' }),
      [pagePath('30')]: mainPage({ name: 'Old' }),
    });
    const module = fileURLToPath(new URL('../../../support/print-catalogue.js', import.meta.url));
    const started = runWithoutWatches(module, [root, '3']);
    program = started;
    const state = (): { names: string[]; watcherFault: string | null } => JSON.parse(started.lastLine());

    await eventually(() => match(state().watcherFault ?? '', /^the limit of inotify .* is reached: raise /));
    deepStrictEqual(state().names, ['Seven', 'Old'], started.way);
    writeFiles(root, {
      [pagePath('30')]: mainPage({ name: 'New' }),
      [pagePath('8')]: mainPage({ name: 'Eight' }),
    });
    rmSync(join(root, pagePath('7')));
    await eventually(() => deepStrictEqual(state().names, ['Eight', 'New']));
    match(state().watcherFault ?? '', /^the limit of inotify /);
    started.giveWatches();
    await eventually(() => strictEqual(state().watcherFault, null));
  });
});
