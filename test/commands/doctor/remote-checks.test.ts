import { match, ok, strictEqual } from 'node:assert/strict';
import { dirname } from 'node:path';
import { checkClock, checkPush, checkRemote } from '../../../src/commands/doctor/remote-checks.ts';
import { doctorContext } from '../../support/doctor.ts';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import type { TestRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { sharedRepository, type SharedRepository } from '../../support/shared-repository.ts';

describe('what botshelf doctor says of the remote', () => {
  let shared: SharedRepository;
  let server: GitServer;
  let clone: TestRepository;
  before(async () => {
    shared = sharedRepository({ [pagePath('7')]: mainPage() });
    server = await startGitServer(dirname(shared.folder), ['shared.git']);
    clone = shared.clone();
    clone.git('remote', 'set-url', 'origin', `${server.address}/shared.git`);
  });

  it('is that it can be read and written, and its clock agrees; nothing is pushed', async () => {
    const context = doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin' });
    strictEqual((await checkRemote(context)).reason, 'it can be read, and has main');
    strictEqual((await checkPush(context)).reason, 'the remote takes pushes of this user');
    match((await checkClock(context)).reason, /agrees|no date/);
    strictEqual(shared.git('for-each-ref', 'refs/botshelf'), '');
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

  it('is that the branch is not there, or nobody may come in', async () => {
    const env = { BOTSHELF_REMOTE: 'origin', BOTSHELF_BRANCH: 'live' };
    const missing = await checkRemote(doctorContext(clone.folder, env));
    strictEqual(missing.state, 'warning');
    strictEqual(missing.fix, 'git push origin live');
    server.mode = 'refuse';
    const refused = await checkRemote(doctorContext(clone.folder, env));
    server.mode = 'serve';
    strictEqual(refused.state, 'error');
    match(refused.reason, /git says: /);
  });

  it('is that an origin is there and not used', async () => {
    const { state, reason, fix } = await checkRemote(doctorContext(clone.folder));
    strictEqual(state, 'warning');
    match(reason, /BOTSHELF_REMOTE is not set/);
    ok(fix?.startsWith('set BOTSHELF_REMOTE=origin'));
  });
});
