import { ok, strictEqual } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
import { replaceGit } from '../../support/replaced-git.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestServiceProcess } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';
import { faultInjector } from './fault-injector.ts';
import { needs } from '../../support/tools.ts';

const homer = pagePath('312');

needs('gcc', describe)('the intent of a change', () => {
  it('is kept until the new file is synced, also where the old one is being replaced while others are synced @long', async () => {
    const repository = testRepository({ [homer]: mainPage({ website: null }) });
    const token = await issueTestToken(repository.folder, '312');
    const syncs = faultInjector(repository.folder, `fsync of ${homer}`);
    const slow = join(tempFolder(), 'slow');
    const takeBack = replaceGit('fast-import', `[ -e '${slow}' ] && sleep 3`);
    const { folder: root } = repository;
    const service = await startTestServiceProcess({}, { root, env: syncs.env }).finally(takeBack);
    const post = async (n: number): Promise<void> => {
      const { status } = await service.post('312', token, { website: `https://example.org/${n}` });
      strictEqual(status, 200);
    };
    const intents = (): string => readFileSync(join(repository.folder, '.git/botshelf/intents'), 'utf8');
    await post(1);
    writeFileSync(slow, '');
    const posted = post(2);
    await eventually(() => ok(intents().split('\n').length > 2));
    syncs.arm(2 ** 30, 0);
    // The intents of the first change are dropped after a second.
    await sleep(1500);
    strictEqual(syncs.disarm().calls, 0, 'the file before the change counts as the one after it');
    syncs.arm(2 ** 30, 0);
    await posted;
    await eventually(() => strictEqual(intents(), ''));
    ok(syncs.disarm().calls > 0, 'the new file was synced');
  });
});
