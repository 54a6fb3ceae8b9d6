import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { rmSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { issueTestToken } from '../support/token.ts';
import { updateRequest } from '../support/update-request.ts';

describe('uncommitted edits in the clone of a service', () => {
  it('are named with their time on /readyz, with their age in the metrics, and once in the log, until they are committed', async function () {
    this.timeout(120_000);
    const { folder, git } = testRepository({ [pagePath('1')]: mainPage(), [pagePath('2')]: mainPage() });
    const token = await issueTestToken(folder, '1');
    writeFileSync(join(folder, pagePath('1')), mainPage({ category: 'games' }));
    utimesSync(join(folder, pagePath('1')), 1_700_000_000, 1_700_000_000);
    rmSync(join(folder, pagePath('2')));
    const service = await startTestService({}, { root: folder });
    // The removal is no line of the log while somebody may be at work on it.
    service.expectLog(/1\.en\.md.* has had uncommitted edits/);
    const readyz = async (): Promise<string[]> => {
      const { ready, parts } = (await service.request('/readyz')).json;
      ok(ready);
      return parts.repository.faults;
    };
    const ages = async (): Promise<string[]> => {
      const text = await (await fetch(`${service.address}/metrics`)).text();
      return text.match(/^botshelf_uncommitted_edit_age_seconds\{.+$/gm) ?? [];
    };

    await eventually(async () =>
      deepStrictEqual(await readyz(), [
        '"bots/001/1.en.md" has had uncommitted edits since 2023-11-14T22:13:20.000Z, so posts to its bot are refused: commit or discard them',
        '"bots/002/2.en.md" has had uncommitted edits, so posts to its bot are refused: commit or discard them',
      ]),
    );
    match((await ages()).join(), /^\w+\{path="bots\/001\/1\.en\.md"\} \d{8,}/);
    const post = async (): Promise<number> =>
      (await service.request('/api/v2/bots/1', updateRequest(token, { category: 'music' }))).status;
    deepStrictEqual([await post(), await post()], [409, 409]);

    git('commit', '-qam', 'By hand');
    // On a busy machine the next look comes late: after twenty times what this one took.
    await eventually(async () => deepStrictEqual(await readyz(), []), 60);
    deepStrictEqual(await ages(), []);
    strictEqual(await post(), 200);
    strictEqual(service.log().split('has had uncommitted edits').length, 2);
  });
});
