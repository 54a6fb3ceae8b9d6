import { ok, strictEqual } from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { eventually } from '../../support/eventually.ts';
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
    const bin = slowImports();
    const env = { ...syncs.env, PATH: [bin, process.env['PATH']].join(delimiter) };
    const service = await startTestServiceProcess({}, { root: repository.folder, env });
    const post = async (n: number): Promise<void> => {
      const { status } = await service.post('312', token, { website: `https://example.org/${n}` });
      strictEqual(status, 200);
    };
    const intents = (): string => readFileSync(join(repository.folder, '.git/botshelf/intents'), 'utf8');
    await post(1);
    writeFileSync(join(bin, 'slow'), '');
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

/** Returns a folder for the PATH, with a git that takes three seconds for an import once there is a file `slow` in it. */
function slowImports(): string {
  const bin = tempFolder();
  const script = `#!/bin/sh
PATH='${process.env['PATH']}'
case "$*" in *fast-import*) [ -e '${bin}/slow' ] && sleep 3 ;; esac
exec git "$@"
`;
  writeFileSync(join(bin, 'git'), script, { mode: 0o755 });
  return bin;
}
