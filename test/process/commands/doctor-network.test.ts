import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { checkPush, checkRemote } from '../../../src/commands/doctor-network.ts';
import { doctorContext } from '../../support/doctor.ts';
import { eventually } from '../../support/eventually.ts';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import type { TestRepository } from '../../support/repository.ts';
import { remoteFaults, startReplica } from '../../support/replica.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { sharedRepository, type SharedRepository } from '../../support/shared-repository.ts';

describe('what botshelf doctor says of the remote', () => {
  let shared: SharedRepository;
  let server: GitServer;
  let clone: TestRepository;
  const check = (env: object = {}): ReturnType<typeof checkRemote> =>
    checkRemote(doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin', ...env }));
  before(async () => {
    shared = sharedRepository({ [pagePath('7')]: mainPage() });
    server = await startGitServer(dirname(shared.folder), ['shared.git']);
    clone = shared.clone();
    clone.git('remote', 'set-url', 'origin', `${server.address}/shared.git`);
  });

  it('is that it may be read only', async () => {
    shared.git('config', 'http.receivepack', 'false');
    const context = doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin' });
    const [read, push] = await Promise.all([checkRemote(context), checkPush(context)]);
    shared.git('config', 'http.receivepack', 'true');
    strictEqual(read.state, 'ok');
    strictEqual(push.state, 'error');
    match(push.fix ?? '', /deploy key/);
  });

  it('is the fault of the service whose pushes a protected branch refuses, unlike a dry run', async () => {
    const { shared, clone, service, tokens } = await startReplica();
    service.expectLog(/not in step with the remote: the remote says: GH006/);
    const hook = '#!/bin/sh\necho "GH006: Protected branch update failed" >&2\nexit 1\n';
    writeFileSync(join(shared.folder, 'hooks/pre-receive'), hook, { mode: 0o755 });
    strictEqual((await service.post('312', tokens.get('312') ?? '', { category: 'music' })).status, 200);
    await eventually(async () => strictEqual((await remoteFaults(service)).length, 1));
    const { port } = new URL(service.address);
    const refused = await checkPush(doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin', PORT: port }));
    strictEqual(refused.state, 'error');
    match(refused.reason, /^not in step with the remote since .* GH006: Protected branch update failed; /);
    // systemd may pass the address of the remote to the service alone.
    const alone = { BOTSHELF_BASE_URL: 'https://bots.example.org', PORT: port };
    const hidden = await checkRemote(doctorContext(clone.folder, alone));
    strictEqual(`${hidden.state} ${hidden.reason}`, 'ok not checked: only the running service has it');
  });

  it('is that nobody may come in', async () => {
    server.mode = 'refuse';
    const refused = await check();
    server.mode = 'serve';
    strictEqual(refused.state, 'error');
    match(refused.reason, /git says: /);
  });

  it('is, as an error, that the branch was renamed on the host, with its new default branch', async () => {
    shared.git('branch', '-m', 'main', 'trunk');
    const renamed = await check();
    const followed = await check({ BOTSHELF_BRANCH: 'trunk' });
    shared.git('branch', '-m', 'trunk', 'main');
    deepStrictEqual(renamed, {
      state: 'error',
      reason: 'it can be read, but has no branch main; its default branch is trunk',
      fix: 'set BOTSHELF_BRANCH=trunk',
    });
    strictEqual(followed.reason, 'it can be read, and has trunk');
  });

  it('is that new clones are empty, because its HEAD names no branch', async () => {
    shared.git('symbolic-ref', 'HEAD', 'refs/heads/master');
    const dangling = await check();
    clone.git('symbolic-ref', 'HEAD', 'refs/heads/master');
    const empty = await check();
    clone.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    shared.git('symbolic-ref', 'HEAD', 'refs/heads/main');
    strictEqual(dangling.state, 'warning');
    const fix = 'git symbolic-ref HEAD refs/heads/main on the Git server';
    deepStrictEqual([dangling.fix, empty.fix], [fix, `${fix}, and git switch main here`]);
  });

  it('is that the clone was left on another branch, whether the remote has that or not', async () => {
    clone.git('switch', '-q', '-c', 'typo');
    const left = [await check()];
    clone.git('push', '-q', shared.address, 'typo');
    left.push(await check());
    strictEqual((await check({ BOTSHELF_BRANCH: 'typo' })).state, 'ok');
    clone.git('switch', '-q', 'main');
    for (const outcome of left)
      deepStrictEqual(outcome, {
        state: 'warning',
        reason: 'the clone is on typo, and the default branch of the remote is main',
        fix: 'run "git switch main && git merge typo", or set BOTSHELF_BRANCH=typo where that is meant',
      });
  });
});
