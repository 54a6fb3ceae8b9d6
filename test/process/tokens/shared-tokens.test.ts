import { match, strictEqual } from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { botshelf, mainFile, type Run } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import type { TestRepository } from '../../support/repository.ts';
import { botId, mainPage, pagePath } from '../../support/sample.ts';
import { type Answer, originRemote, startTestService, type TestService } from '../../support/service.ts';
import { type SharedRepository, sharedRepository } from '../../support/shared-repository.ts';

const homer = botId('312');

/** In step when it is asked to, and at the start, but not by the clock. */
const byItself = { ...originRemote, BOTSHELF_SYNC_SECONDS: '3600', BOTSHELF_PUSH_SECONDS: '3600' };

describe('the tokens of several machines', () => {
  let shared: SharedRepository;
  let server: GitServer;
  let clones: TestRepository[];
  before(async () => {
    shared = sharedRepository({ [pagePath(homer)]: mainPage() });
    server = await startGitServer(dirname(shared.folder), ['shared.git']);
  });
  beforeEach(() => {
    server.mode = 'serve';
    shared.git('update-ref', '-d', stateRef);
    clones = [1, 2].map(() => {
      const clone = shared.clone();
      clone.git('remote', 'set-url', 'origin', `${server.address}/shared.git`);
      return clone;
    });
  });
  const service = async (
    clone: TestRepository | undefined,
    env: Readonly<Record<string, string>> = byItself,
  ): Promise<TestService> =>
    await startTestService({}, { root: clone?.folder ?? '', env: { BOTSHELF_STATE_SECONDS: '1', ...env } });
  const token = async (clone: TestRepository | undefined, ...options: string[]): Promise<Run> =>
    await botshelf(clone?.folder ?? '', ['token', homer, ...options], { env: { BOTSHELF_REMOTE: 'origin' } });

  it('are issued without the remote, which is said, and both end where two machines did so @long', async () => {
    const [a, b] = [await service(clones[0], originRemote), await service(clones[1], originRemote)];
    for (const replica of [a, b]) replica.allowLog(remoteAway);
    server.mode = 'cut';
    const runs = [await token(clones[0]), await token(clones[1])];
    for (const { code, stderr } of runs) {
      strictEqual(code, 0);
      match(stderr, /remote cannot be reached: other machines follow when the service has pushed this\.\n/);
    }
    const [first = '', second = ''] = runs.map(({ stdout }) => stdout.trim());
    strictEqual((await post(a, first)).status, 200);
    strictEqual((await post(b, second)).status, 200);
    server.mode = 'serve';
    await eventually(() => {
      match(shared.git('show', `${stateRef}:03/12.json`), /"token":null,"tokenAt":\d+,"tokenGen":1\}/);
      for (const clone of clones)
        strictEqual(clone.git('rev-parse', stateRef), shared.git('rev-parse', stateRef));
      // The services wait longer after each attempt that failed.
    }, 120);
    for (const { status } of [await post(a, first), await post(b, second)]) strictEqual(status, 401);
    const last = (await token(clones[0])).stdout.trim();
    strictEqual((await post(b, last)).status, 200);
    match(shared.git('show', `${stateRef}:03/12.json`), /"tokenGen":2\}/);
  });

  it('are issued and the command ends where each command of the remote takes 2.4 to 2.6 seconds @long', async () => {
    await token(clones[0]);
    const slow = ['2.4', '2.5', '2.6'].map((seconds) => {
      const clone = shared.clone();
      clone.git('fetch', '-q', 'origin', `+${stateRef}:refs/botshelf/remote/state`);
      clone.git('config', 'remote.origin.uploadpack', `sleep ${seconds}; git-upload-pack`);
      return clone.folder;
    });
    await token(clones[0]);
    const runs = slow.map(async (folder) => {
      // A token of this clone alone, so that the remote's state has to be merged.
      await botshelf(folder, ['token', homer]);
      const env = { ...process.env, BOTSHELF_CATALOGUE: folder, BOTSHELF_REMOTE: 'origin' };
      return await promisify(execFile)(process.execPath, [mainFile, 'token', homer], {
        env,
        timeout: 30_000,
      });
    });
    for (const { stdout } of await Promise.all(runs)) match(stdout, /^\S+\n$/);
  });

  it('are not refused as unknown by a new clone whose remote is away, which is not ready @long', async () => {
    const known = (await token(clones[0])).stdout.trim();
    server.mode = 'cut';
    const late = await service(clones[1], originRemote);
    late.expectLog(remoteAway);
    late.expectLog(/listening at .*, but not ready: the counts and tokens .* have not been fetched/);
    late.expectLog(/refused: this token is unknown here/);
    const refused = await post(late, known);
    strictEqual(refused.status, 503);
    match(refused.headers.get('retry-after') ?? '', /^\d+$/);
    match(refused.json.detail, /cannot be fetched from the shared Git server now/);
    strictEqual((await post(late, 'let me in')).status, 401);
    const { status, json } = await late.request('/readyz');
    strictEqual(status, 503);
    strictEqual(json.parts.remote.ready, false);
    const issued = await token(clones[1]);
    strictEqual(issued.code, 2);
    match(issued.stderr, /not been fetched/);

    server.mode = 'serve';
    await eventually(async () => strictEqual((await late.request('/readyz')).status, 200));
    strictEqual((await post(late, known)).status, 200);
  });

  it('are known after a crash between the fetch of the state and its merge, though the remote is away', async () => {
    const known = (await token(clones[0])).stdout.trim();
    clones[1]?.git('fetch', '-q', shared.folder, `+${stateRef}:refs/botshelf/remote/state`);
    server.mode = 'cut';
    const restarted = await service(clones[1]);
    restarted.expectLog(remoteAway);
    strictEqual((await post(restarted, known)).status, 200);
    await eventually(() => match(restarted.log(), remoteAway));
  });
});

const stateRef = 'refs/botshelf/state';

const remoteAway = /not in step with the remote: .*Empty reply from server/;

async function post(service: TestService, authorization: string): Promise<Answer> {
  return await service.post(homer, authorization, { count: 5 });
}
