import { match, strictEqual } from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { clearedLock } from '../support/service-log.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { sharedRepository } from '../support/shared-repository.ts';
import { issueTestToken } from '../support/token.ts';

const homer = pagePath('312');
const marge = pagePath('7');
const page = mainPage({ website: null });

describe('after a crash in a merge from the remote', () => {
  for (const failpoint of ['advance.before-branch', 'advance.after-branch', 'checkout.before-index']) {
    it(`at ${failpoint}, both sides are there and everything is clean`, async () => {
      const shared = sharedRepository({ [homer]: page, 'run.sh': 'true\n', 'docs/old': '' });
      const clone = shared.clone();
      const token = await issueTestToken(clone.folder, '312');
      const first = await startServiceProcess(clone.folder, {
        BOTSHELF_REMOTE: 'origin',
        BOTSHELF_PUSH_SECONDS: '3600',
      });
      const { status } = await fetch(`${first.address}/api/v2/bots/312`, {
        method: 'POST',
        headers: { authorization: token, 'content-type': 'application/json' },
        body: '{"bot":{"category":"music"}}',
      });
      strictEqual(status, 200);
      await eventually(() => strictEqual(clone.status(), ''));
      await first.end('SIGKILL');
      const theirs = shared.mergePullRequest((person) => {
        person.write(homer, page.replace('The page.', 'A better page.'));
        person.write(marge, mainPage({ name: 'Marge' }));
        person.git('rm', '-q', 'docs/old');
        chmodSync(join(person.folder, 'run.sh'), 0o755);
      });

      match(await lastWordsAt(clone.folder, failpoint), /SIGKILL/);

      const again = await startServiceProcess(clone.folder, {
        BOTSHELF_REMOTE: 'origin',
        BOTSHELF_PUSH_SECONDS: '0',
      });
      again.allowLog(clearedLock);
      await eventually(async () => {
        strictEqual((await record(again.address, '7')).contents.en.name, 'Marge');
        const { category, contents } = await record(again.address, '312');
        strictEqual(category, 'music');
        match(contents.en.page, /A better page/);
      });
      await eventually(() => strictEqual(clone.status(), ''));
      strictEqual(existsSync(join(clone.folder, 'docs')), false);
      strictEqual(statSync(join(clone.folder, 'run.sh')).mode & 0o111, 0o111);
      clone.git('merge-base', '--is-ancestor', theirs, 'HEAD');
      await eventually(() => match(shared.git('show', `main:${homer}`), /"music"/));
      strictEqual(await again.end('SIGTERM'), 0);
      strictEqual(clone.git('fsck', '--strict', '--no-dangling'), '');
    });
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

// oxlint-disable-next-line typescript/no-explicit-any -- a record, looked into
async function record(address: string, id: string): Promise<any> {
  return await (await fetch(`${address}/api/v2/bots/${id}`)).json();
}
