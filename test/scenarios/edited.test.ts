import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { eventually } from '../support/eventually.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';

describe('the time of the last edit that is served', () => {
  it('is that of the commit once that is released, in lists too, also after a restart without a snapshot @slow', async () => {
    const {
      folder: root,
      commit,
      git,
    } = testRepository({ [pagePath('7')]: mainPage(), [pagePath('8')]: mainPage() });
    const service = await startTestService({}, { root });
    const changed = commit({ [pagePath('7')]: mainPage({ name: 'Marge' }) });
    const time = Number(git('log', '-1', '--format=%ct')) * 1000;
    await eventually(async () => strictEqual((await service.request('/api/v2/changes')).json.next, changed));
    const { json } = await service.request('/api/v2/bots?sort=-edited');
    deepStrictEqual(
      (json as { id: string; edited: number }[]).map(({ id, edited }) => [id, edited]),
      [
        ['7', time],
        ['8', 1_700_000_000_000],
      ],
    );
    strictEqual(git('rev-parse', 'HEAD'), changed);
    await service.stop();
    rmSync(join(root, 'var/index.snapshot'), { force: true });
    const restarted = await startTestService({}, { root });
    await eventually(async () => strictEqual((await restarted.request('/api/v2/bots/7')).json.edited, time));
  });
});
