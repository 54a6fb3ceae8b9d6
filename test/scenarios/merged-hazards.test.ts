import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { mkdirSync, symlinkSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { openCatalogue } from '../support/live-catalogue.ts';
import { testRepository } from '../support/repository.ts';
import { record, replicaPage, startReplica } from '../support/replica.ts';
import { mainPage, pagePath } from '../support/sample.ts';

describe('a catalogue into which a bad pull request was merged', () => {
  it('names each thing in it and goes on serving @slow', async () => {
    const repo = testRepository({ [pagePath('7')]: mainPage({ name: 'Seven' }) });
    const { faults, name } = await openCatalogue({}, { root: repo.folder });
    repo.git('switch', '-q', '-c', 'pull');
    const commit = repo.git('rev-parse', 'HEAD');
    mkdirSync(join(repo.folder, 'bots/001'), { recursive: true });
    symlinkSync('/etc/passwd', join(repo.folder, pagePath('1')));
    repo.write('bots/.gitattributes', '*.md filter=run\n');
    repo.write('bots/002/2.en.md\n::error::x', '');
    repo.write(pagePath('8'), mainPage({ name: 'Eight' }));
    repo.git('add', '--all');
    repo.git('update-index', '--add', '--cacheinfo', `160000,${commit},bots/005/module`);
    repo.git('commit', '-q', '-m', 'Change');
    repo.git('switch', '-q', '-f', 'main');
    repo.git('merge', '-q', '--no-ff', '-m', 'Merge', 'pull');
    repo.write(pagePath('9'), '');
    truncateSync(join(repo.folder, pagePath('9')), 2 ** 30);

    await eventually(() => strictEqual(name('8'), 'Eight'));
    await eventually(() =>
      deepStrictEqual(faults(), [
        'bots/.gitattributes stray-file',
        `${pagePath('1')} regular-file`,
        'bots/002/2.en.md\n::error::x stray-file',
        'bots/005/module stray-file',
        `${pagePath('9')} file-size`,
      ]),
    );
    strictEqual(name('7'), 'Seven');
  });

  it('goes on with its remote where .gitmodules has a program @long', async () => {
    const { shared, clone, service, tokens } = await startReplica();
    const { maintainer } = shared;
    maintainer.write(
      '.gitmodules',
      '[submodule "x"]\n\tpath = x\n\turl = https://x.example/\n\tupdate = !x\n',
    );
    const head = maintainer.git('rev-parse', 'HEAD');
    maintainer.git('add', '.gitmodules');
    maintainer.git('update-index', '--add', '--cacheinfo', `160000,${head},x`);
    maintainer.git('commit', '-q', '-m', 'Add a submodule');
    maintainer.git('push', '-q', 'origin', 'main');
    await eventually(() => strictEqual(clone.git('rev-parse', 'HEAD'), maintainer.git('rev-parse', 'HEAD')));
    maintainer.write(pagePath('312'), replicaPage.replace('The page.', 'Another page.'));
    maintainer.git('add', pagePath('312'));
    maintainer.git('commit', '-q', '-m', 'Edit a page');
    maintainer.git('push', '-q', 'origin', 'main');
    await eventually(async () => match((await record(service, '312')).contents.en.page, /Another page/));
    const posted = await service.post('313', tokens.get('313') ?? '', { category: 'music' });
    strictEqual(posted.status, 200);
    await eventually(() => match(shared.git('log', '--format=%s', 'main'), /category/));
  });
});
