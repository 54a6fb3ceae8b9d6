import { match, ok, strictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readPackageFile } from '../../support/package-files.ts';
import { eventually } from '../../support/eventually.ts';
import { startGitServer } from '../../support/git-server.ts';
import { record, remoteFaults } from '../../support/replica.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { originRemote, startTestServiceProcess } from '../../support/service.ts';
import { sharedRepository } from '../../support/shared-repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';

describe('a password in .netrc', () => {
  it('is the one of docs/production.md, and is still there after the Git host has refused it', async () => {
    const shared = sharedRepository({ [pagePath('7')]: mainPage() });
    const { folder: root, git } = shared.clone();
    const server = await startGitServer(dirname(shared.folder), ['shared.git']);
    server.login = 'bots:s3cret';
    git('remote', 'set-url', 'origin', `${server.address}/shared.git`);
    const production = readPackageFile('docs/production.md');
    const [, line = ''] = /^echo (machine .+ password TOKEN) \| install .*\/\.netrc$/m.exec(production) ?? [];
    ok(line !== '');
    const home = tempFolder();
    const own = line
      .replace('git.example.org', '127.0.0.1')
      .replace('NAME', 'bots')
      .replace('TOKEN', 's3cret');
    writeFileSync(join(home, '.netrc'), `${own}\n`, { mode: 0o600 });
    const token = await issueTestToken(root, '7');
    const service = await startTestServiceProcess({}, { root, env: { ...originRemote, HOME: home } });
    service.expectLog(/not in step with the remote/);

    await service.post('7', token, { category: 'music' });
    await eventually(() => match(shared.git('show', `main:${pagePath('7')}`), /music/));
    server.mode = 'refuse';
    await eventually(async () => match((await remoteFaults(service))[0] ?? '', /could not read Username/));
    server.mode = 'serve';
    await service.post('7', token, { category: 'games' });
    await eventually(() => match(shared.git('show', `main:${pagePath('7')}`), /games/));
    await eventually(async () => strictEqual((await remoteFaults(service)).length, 0));
    strictEqual((await record(service, '7'))?.category, 'games');
  });
});
