import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { clearedLock } from '../../support/service-log.ts';
import { startTestServiceProcess, type TestServiceProcess } from '../../support/service.ts';
import { issueTestToken } from '../../support/token.ts';
import { faultInjector } from './fault-injector.ts';
import { needs } from '../../support/tools.ts';

needs('gcc', describe)('a count that the disk refuses', () => {
  it('is cut off before the next one is written, which is refused too while that fails @long', async () => {
    const repository = testRepository({ [pagePath('312')]: mainPage() });
    const token = await issueTestToken(repository.folder, '312');
    const journal = join(repository.folder, 'var/journal');
    const injector = faultInjector(journal);
    const start = async (): Promise<TestServiceProcess> => {
      const service = await startTestServiceProcess({}, { root: repository.folder, env: injector.env });
      service.allowLog(/counts cannot be saved|requests are refused/);
      return service;
    };
    let service = await start();
    const post = async (count: number): Promise<number> =>
      (await service.post('312', token, { count })).status;
    const postFailing = async (count: number, call: RegExp): Promise<void> => {
      injector.arm(1, 0);
      strictEqual(await post(count), 503);
      match(injector.disarm().failed ?? '', call);
    };
    strictEqual(await post(1), 200);
    // The first count is committed immediately, the next ones a minute later.
    await eventually(() => deepStrictEqual(readdirSync(journal), []));
    strictEqual(await post(2), 200);
    await postFailing(3, /^write of .*, ENOSPC$/);
    await postFailing(4, /^truncate of .*, ENOSPC$/);
    strictEqual(await post(5), 200);
    await service.end('SIGKILL');
    service = await start();
    const { json } = await service.request('/api/v2/bots/312/counts');
    strictEqual(json.at(-1).count, 5);
  });
});

needs('gcc', describe)('a commit of counts that is not synced', () => {
  it('is synced before its journal goes @long', async () => {
    const repository = testRepository({ [pagePath('312')]: mainPage() });
    const token = await issueTestToken(repository.folder, '312');
    const journal = join(repository.folder, 'var/journal');
    const syncs = faultInjector(repository.folder, 'fsync of .git/refs/botshelf');
    const env = { ...syncs.env, BOTSHELF_STATE_SECONDS: '1' };
    const service = await startTestServiceProcess({}, { root: repository.folder, env });
    service.allowLog(/counts/);
    const post = async (count: number): Promise<void> => {
      const { status } = await service.post('312', token, { count });
      strictEqual(status, 200);
      await eventually(() => deepStrictEqual(readdirSync(journal), []), 30);
    };
    await post(1);
    syncs.arm(1, 0);
    await post(2);
    const { failed, calls } = syncs.disarm();
    strictEqual(failed, 'fsync of .git/refs/botshelf, EIO');
    ok(calls > 1, 'it was tried again');
  });
});

needs('gcc', describe)('a count whose service dies as it answers', () => {
  it('is there after the next start @long', async () => {
    const repository = testRepository({ [pagePath('312')]: mainPage() });
    const token = await issueTestToken(repository.folder, '312');
    const injector = faultInjector(repository.folder);
    const first = await startTestServiceProcess({}, { root: repository.folder, env: injector.env });
    injector.killAfterAnswer();
    const { status } = await first.post('312', token, { count: 7 });
    strictEqual(status, 200);
    await eventually(() => strictEqual(first.process.signalCode, 'SIGKILL'));
    const service = await startTestServiceProcess({}, { root: repository.folder });
    service.allowLog(clearedLock);
    const { json } = await service.request('/api/v2/bots/312/counts');
    strictEqual(json.at(-1).count, 7);
  });
});
