import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { dirname } from 'node:path';
import { GitError } from '../../src/git/run-git.ts';
import {
  describeRemoteError,
  fetchRemote,
  fetchRemoteState,
  pushRemote,
  type RemoteBranch,
  remoteRefs,
  toBaseRef,
} from '../../src/sync/remote.ts';
import type { Repository } from '../../src/git/repository.ts';
import { eventually } from '../support/eventually.ts';
import { type GitServer, startGitServer } from '../support/git-server.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import type { TestRepository } from '../support/repository.ts';
import { openUntilEnd } from '../support/opened.ts';
import { readCases } from '../support/fixture-lines.ts';

const state = 'refs/botshelf/state';

describe('a remote behind HTTP', () => {
  let shared: SharedRepository;
  let server: GitServer;
  let clone: TestRepository;
  let opened: Repository;
  let remote: RemoteBranch;
  before(async () => {
    shared = sharedRepository({ file: 'text' });
    server = await startGitServer(dirname(shared.folder), ['shared.git']);
    clone = shared.clone();
    opened = await openUntilEnd(clone.folder);
    const address = `${server.address}/shared.git`;
    const { signal } = new AbortController();
    remote = {
      repository: opened,
      address,
      branch: 'refs/heads/main',
      baseRef: toBaseRef(opened),
      stallSeconds: 20,
      signal,
    };
  });
  beforeEach(() => {
    server.mode = 'serve';
  });

  it('is fetched into refs of our own, without a checkout', async () => {
    const commit = shared.mergePullRequest((person) => person.write('file', 'other'));
    deepStrictEqual(await fetchRemote(remote), { branch: commit, state: null });
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
    await rejects(pushRemote(remote, [{ ref: state, commit: tip }, branch]), GitError);
    strictEqual(shared.git('for-each-ref', state), '');
    strictEqual(shared.git('rev-parse', 'main'), other);
    await pushRemote(remote, [{ ref: state, commit: tip }]);
    deepStrictEqual(await fetchRemote(remote), { branch: other, state: tip });
  });

  it('replaces a ref by no descendant of it only where it is still as was known', async () => {
    const before = shared.git('rev-parse', state);
    const pruned = clone.git('commit-tree', 'HEAD^{tree}', '-m', 'Pruned');
    const moved = clone.git('rev-parse', 'HEAD');
    await rejects(pushRemote(remote, [{ ref: state, commit: pruned, lease: moved }]), GitError);
    await pushRemote(remote, [{ ref: state, commit: pruned, lease: before }]);
    strictEqual(shared.git('rev-parse', state), pruned);
  });

  it('gives its state alone to a clone that has none', async () => {
    const other = await openUntilEnd(shared.clone().folder);
    const commit = await fetchRemoteState({ ...remote, repository: other });
    strictEqual(commit, shared.git('rev-parse', state));
    strictEqual(await other.objects.has(commit), true);
  });

  it('is given up when it hangs or the service stops, and nothing that was started for it is left', async () => {
    server.mode = 'hang';
    const error = await fetchRemote({ ...remote, stallSeconds: 1 }).catch((error: unknown) => error);
    match(describeRemoteError(error), /^git made no progress for 1 s: look at the load of this machine, /);
    await nothingIsLeft();
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 100);
    await rejects(fetchRemote({ ...remote, signal: stop.signal }), GitError);
    await nothingIsLeft();
  });

  it('that asks for a password gets none, and nobody is asked', async () => {
    server.mode = 'refuse';
    const error = await fetchRemote(remote).catch((error: unknown) => error);
    match(describeRemoteError(error), /could not read Username.*terminal prompts disabled/);
  });

  it('that refuses connections is named with the reason, which git puts into another line', async () => {
    const address = 'git://127.0.0.1:1/shared.git';
    const error = await fetchRemote({ ...remote, address }).catch((error: unknown) => error);
    match(
      describeRemoteError(error),
      /^git says: fatal: unable to connect to 127\.0\.0\.1: .*Connection refused/,
    );
  });

  /** Looks at /proc itself, as the service's own view of the processes may be what is wrong. */
  async function nothingIsLeft(): Promise<void> {
    await eventually(() => {
      const left = readdirSync('/proc').filter((pid) => {
        try {
          const ofClone = readlinkSync(`/proc/${pid}/cwd`) === clone.folder;
          return ofClone && /ls-remote|http/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
        } catch {
          return false;
        }
      });
      deepStrictEqual(left, []);
    });
  }
});

describe('the message about a remote', () => {
  for (const { title, input, expected } of readCases('remote-errors'))
    it(title, () => {
      const [status, stderr] = JSON.parse(input) as [number | null, string];
      deepStrictEqual([describeRemoteError(new GitError(['push'], status, stderr))], expected);
    });

  it('has no control characters of the remote', () => {
    const error = new GitError(['fetch'], 128, 'remote: \u001B[31mred\nfatal: no');
    strictEqual(describeRemoteError(error), 'the remote says: [31mred; git says: fatal: no');
  });

  it('is made of the beginnings of lines, whatever the remote sends', () => {
    const blanks = '\t \u2028'.repeat(20_000);
    for (const line of [
      `remote:${blanks}a`,
      `remote: a${blanks}`,
      `ERROR:${blanks}`,
      `remote: a${'b\u2028'.repeat(30_000)}`,
      `${blanks}a${blanks}`,
    ])
      match(
        describeRemoteError(new GitError(['push'], 1, `${line}\nfatal: no`)),
        /^.{0,700}git says: fatal: no$/,
      );
  });
});
