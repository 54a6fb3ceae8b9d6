import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { dirname } from 'node:path';
import { GitError } from '../../src/git/process/git-error.ts';
import { gitProcessesIn } from '../../src/git/locks/git-processes.ts';
import {
  fetchRemote,
  pushRemote,
  remoteFault,
  type RemoteOptions,
  remoteRefs,
} from '../../src/sync/remote.ts';
import { openRepository, type Repository } from '../../src/git/repository.ts';
import { eventually } from '../support/eventually.ts';
import { type GitServer, startGitServer } from '../support/git-server.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import type { TestRepository } from '../support/repository.ts';

const state = 'refs/botshelf/state';

describe('a remote behind HTTP', () => {
  let shared: SharedRepository;
  let server: GitServer;
  let clone: TestRepository;
  let opened: Repository;
  let options: RemoteOptions;
  before(async () => {
    shared = sharedRepository({ file: 'text' });
    server = await startGitServer(dirname(shared.folder), ['shared.git']);
    clone = shared.clone();
    opened = await openRepository(clone.folder);
    const remote = `${server.address}/shared.git`;
    options = { remote, branch: 'refs/heads/main', timeLimit: 20, signal: new AbortController().signal };
  });
  after(() => opened.objects.close());
  beforeEach(() => {
    server.mode = 'serve';
  });

  it('is fetched into refs of our own, without a checkout', async () => {
    const commit = shared.mergePullRequest((person) => person.write('file', 'other'));
    deepStrictEqual(await fetchRemote(opened, options), { branch: commit, state: null });
    strictEqual(clone.git('rev-parse', remoteRefs.branch), commit);
    strictEqual(clone.read('file'), 'text');
    strictEqual(clone.status(), '');
  });

  it('takes branch and state together, or neither', async () => {
    const tip = clone.commit({ mine: 'text' });
    clone.git('fetch', '-q');
    clone.git('rebase', '-q', 'origin/main');
    const branch = { ref: 'refs/heads/main', commit: clone.git('rev-parse', 'HEAD') };
    const other = shared.mergePullRequest((person) => person.write('file', 'third'));
    await rejects(pushRemote(opened, [{ ref: state, commit: tip }, branch], options), GitError);
    strictEqual(shared.git('for-each-ref', state), '');
    strictEqual(shared.git('rev-parse', 'main'), other);
    await pushRemote(opened, [{ ref: state, commit: tip }], options);
    deepStrictEqual(await fetchRemote(opened, options), { branch: other, state: tip });
  });

  it('replaces a ref by no descendant of it only where it is still as was known', async () => {
    const before = shared.git('rev-parse', state);
    const thinned = clone.git('commit-tree', 'HEAD^{tree}', '-m', 'Thinned');
    const moved = clone.git('rev-parse', 'HEAD');
    await rejects(pushRemote(opened, [{ ref: state, commit: thinned, lease: moved }], options), GitError);
    await pushRemote(opened, [{ ref: state, commit: thinned, lease: before }], options);
    strictEqual(shared.git('rev-parse', state), thinned);
  });

  it('is given up when it hangs, and nothing that was started for it is left', async () => {
    server.mode = 'hang';
    const error = await fetchRemote(opened, { ...options, timeLimit: 1 }).catch((error: unknown) => error);
    match(remoteFault(error), /did not answer in time/);
    await nothingIsLeft();
  });

  it('is let go of at once when the service stops', async () => {
    server.mode = 'hang';
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    await rejects(fetchRemote(opened, { ...options, signal: stop.signal }), GitError);
    await nothingIsLeft();
  });

  it('that asks for a password gets none, and nobody is asked', async () => {
    server.mode = 'refuse';
    const error = await fetchRemote(opened, options).catch((error: unknown) => error);
    match(remoteFault(error), /could not read Username.*terminal prompts disabled/);
  });

  it('that is away is told of in words without the password of its address', async () => {
    server.mode = 'cut';
    const remote = options.remote.replace('//', '//homer:secret@');
    const error = await fetchRemote(opened, { ...options, remote }).catch((error: unknown) => error);
    const fault = remoteFault(error);
    match(fault, /^git says: fatal: unable to access/);
    strictEqual(fault.includes('secret'), false);
  });

  it('that nobody listens for is told of with the reason, which git puts into another line', async () => {
    const remote = 'git://127.0.0.1:1/shared.git';
    const error = await fetchRemote(opened, { ...options, remote }).catch((error: unknown) => error);
    match(remoteFault(error), /^git says: fatal: unable to connect to 127\.0\.0\.1: .*Connection refused/);
  });

  async function nothingIsLeft(): Promise<void> {
    await eventually(async () => {
      const { seen } = await gitProcessesIn(opened);
      return !seen.some(({ args }) => args.some((arg) => arg.includes('ls-remote') || arg.includes('http')));
    });
  }
});
