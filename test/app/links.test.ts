import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { readConfig } from '../../src/app/config.ts';
import { openLinks } from '../../src/app/links.ts';
import { silentLog } from '../../src/lib/log.ts';
import { openCatalogue } from '../support/live-catalogue.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the check of the links that bots name', () => {
  it('keeps its file in var, and connects to nothing that is not public', async () => {
    const local = {
      website: 'https://127.0.0.1:1/',
      support: 'https://[::1]:1/',
      invite: 'https://10.0.0.1/',
    };
    const { root, catalogue } = await openCatalogue({ [pagePath('7')]: mainPage(local) });
    const config = readConfig({ BOTSHELF_CATALOGUE: root, BOTSHELF_VAR: tempFolder() });
    const check = await openLinks(config, catalogue, silentLog);
    await check.start();
    await check.checkHour();
    await check.close();
    const { version, failures } = JSON.parse(readFileSync(`${config.var}/links.json`, 'utf8')) as Record<
      string,
      unknown
    >;
    deepStrictEqual([version, failures], [1, []]);
  });

  it('is off by default, and begins a minute after the start where it is on', async () => {
    strictEqual(readConfig({}).linkCheck, false);
    const service = await startTestService(
      { [pagePath('7')]: mainPage() },
      { env: { BOTSHELF_LINK_CHECK: 'on' } },
    );
    strictEqual((await service.request('/api/v2/bots/7')).status, 200);
    strictEqual(existsSync(`${service.root}/var/links.json`), false);
  });
});
