import { match, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, cpSync, existsSync, lstatSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { record } from '../support/replica.ts';
import { repositoryIn, type TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { clearedLock } from '../support/service-log.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestToken } from '../support/token.ts';

const homer = pagePath('312');
const marge = pagePath('7');
const page = mainPage({ website: null });

describe('after a crash in a merge from the remote', () => {
  let shared: SharedRepository;
  let clone: TestRepository;
  let theirs: string;

  before('a clone with a post that was not pushed, and a pull request that it has not fetched', async () => {
    shared = sharedRepository({ [homer]: page, 'run.sh': 'true\n', 'docs/old': '' });
    clone = shared.clone();
    const token = await issueTestToken(clone.folder, '312');
    const service = await startTestService({}, { root: clone.folder });
    service.expectLog(/BOTSHELF_REMOTE is not set/);
    const { status } = await service.post('312', token, { category: 'music' });
    strictEqual(status, 200);
    await service.stop();
    theirs = shared.mergePullRequest((person) => {
      person.write(homer, page.replace('The page.', 'A better page.'));
      person.write(marge, mainPage({ name: 'Marge' }));
      person.git('rm', '-q', 'docs/old');
      chmodSync(join(person.folder, 'run.sh'), 0o755);
    });
  });

  for (const [failpoint, tag] of [
    ['advance.before-branch', ' @long'],
    ['advance.after-branch', ''],
    ['checkout.before-index', ' @long'],
  ] as const) {
    it(`at ${failpoint}, both sides are there and everything is clean${tag}`, async () => {
      const [remote, crashed] = copies();
      match(await lastWordsAt(crashed.folder, failpoint), /SIGKILL/);

      const env = { BOTSHELF_REMOTE: 'origin', BOTSHELF_PUSH_SECONDS: '0' };
      const again = await startTestService({}, { root: crashed.folder, env });
      again.allowLog(clearedLock);
      await eventually(async () => {
        strictEqual((await record(again, '7'))?.contents.en.name, 'Marge');
        const { category, contents } = await record(again, '312');
        strictEqual(category, 'music');
        match(contents.en.page, /A better page/);
      });
      await eventually(() => strictEqual(crashed.status(), ''));
      strictEqual(existsSync(join(crashed.folder, 'docs')), false);
      strictEqual(statSync(join(crashed.folder, 'run.sh')).mode & 0o111, 0o111);
      crashed.git('merge-base', '--is-ancestor', theirs, 'HEAD');
      await eventually(() => match(remote.git('show', `main:${homer}`), /"music"/));
      await again.stop();
      strictEqual(crashed.git('fsck', '--strict', '--no-dangling'), '');
    });
  }

  /** Copies of the shared repository and of the clone, which has the copy as its remote. */
  function copies(): [remote: TestRepository, clone: TestRepository] {
    const root = tempFolder();
    // The lock of the killed service is a socket, which cannot be copied.
    const filter = (path: string): boolean => !lstatSync(path).isSocket();
    const [remote, copy] = [shared, clone].map(({ folder }) => {
      const to = join(root, basename(folder));
      cpSync(folder, to, { recursive: true, preserveTimestamps: true, filter });
      return repositoryIn(to);
    }) as [TestRepository, TestRepository];
    copy.git('remote', 'set-url', 'origin', `file://${remote.folder}`);
    strictEqual(copy.status(), '');
    return [remote, copy];
  }
});

/** Starts a service that dies at a failpoint of the merge, whether it is ready by then or not; returns the signal that ended it. */
async function lastWordsAt(folder: string, failpoint: string): Promise<string> {
  const settings = {
    NODE_ENV: 'test',
    BOTSHELF_FAILPOINT: failpoint,
    BOTSHELF_REMOTE: 'origin',
    BOTSHELF_PUSH_SECONDS: '3600',
  };
  return await startServiceProcess(folder, settings).then(async ({ process }) => {
    if (process.signalCode === null) await once(process, 'exit');
    return String(process.signalCode);
  }, String);
}
