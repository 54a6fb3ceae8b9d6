import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
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

  it('is not that of a commit later than all dates, which a person pulls before a start and while it runs, and all else goes on @slow', async () => {
    const repository = testRepository({ [pagePath('7')]: mainPage(), [pagePath('8')]: mainPage() });
    const { folder: root, commitAll, git } = repository;
    const first = git('rev-parse', 'HEAD');
    const change = (name: string): string =>
      commitAll([{ files: { [pagePath('7')]: mainPage({ name }) }, at: 9_000_000_000_000 }])[0] ?? '';
    change('Marge');
    const service = await startTestService({}, { root });
    const changed = change('Lisa');
    const read = async (path: string): Promise<string> => {
      const response = await fetch(service.address + path);
      const text = await response.text();
      strictEqual(response.status, 200, `${path}: ${text}`);
      return text;
    };
    await eventually(async () => {
      strictEqual((await service.request('/api/v2/changes')).json.next, changed);
      strictEqual((await service.request('/api/v2/bots/7/changes')).json.length, 3);
    });
    const { json } = await service.request(`/api/v2/changes?since=${first}`);
    deepStrictEqual(
      (json.changes as { at: string }[]).map(({ at }) => at),
      ['9999-12-31T23:59:59.000Z', '9999-12-31T23:59:59.000Z'],
    );
    for (const path of '/ /bots/7 /bots/7/changes /feeds/bot/7.atom /feeds/new.atom /sitemap.xml'.split(' '))
      await read(path);
    strictEqual(JSON.parse(await read('/api/v2/bots/7')).edited, 1_700_000_000_000);
    const run = await botshelf(root, ['check', '--base', first]);
    strictEqual(run.code, 1);
    match(run.stdout, /commit [0-9a-f]{10} is dated 9999-12-31: set the clock/);
  });
});
