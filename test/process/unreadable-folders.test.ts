import { doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { mainFile } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestServiceProcess } from '../support/service.ts';
import { asNobody, giveToNobody } from './nobody.ts';

describe('a folder that the service may list and not enter', () => {
  it('is named, and what was served of it stays, also for a service that starts then @long', async () => {
    const { folder: root } = testRepository({
      [pagePath('7')]: mainPage({ name: 'Seven' }),
      'people/190519304972664832.json': '{ "name": "Marge" }\n',
    });
    giveToNobody(root);
    const command = [...asNobody, process.execPath, mainFile, 'serve'] as const;
    const start = async () => await startTestServiceProcess({}, { root, command });
    const service = await start();
    for (const pattern of [/a file breaks a rule/, /cannot read the catalogue/]) service.expectLog(pattern);
    for (const folder of ['people', 'bots/007']) chmodSync(join(root, folder), 0o644);
    await eventually(async () => {
      const { json } = await service.request('/readyz');
      match(JSON.stringify(json), /people\/ cannot be read: EACCES/);
      match(JSON.stringify(json), /bots\/007\/ cannot be read: EACCES/);
    });
    strictEqual((await service.request('/api/v2/bots/7')).json.contents.en.name, 'Seven');
    // All records are made again.
    writeFileSync(join(root, 'botshelf.json'), '{ "categories": { "maths": { "en": "Maths" } } }\n');
    await eventually(async () =>
      strictEqual((await service.request('/api/v2/bots?category=maths')).status, 200),
    );
    await eventually(() => match(readFileSync(join(root, 'var/botshelf.json'), 'utf8'), /maths/));
    for (const folder of ['people', 'bots/007']) chmodSync(join(root, folder), 0o755);
    await eventually(async () => {
      const { json } = await service.request('/readyz');
      doesNotMatch(JSON.stringify(json), /cannot be read/);
    }, 90);
    // The folders are looked at every two seconds.
    chmodSync(root, 0o644);
    await rest(2500);
    strictEqual((await service.request('/api/v2/bots/7')).json.contents.en.name, 'Seven');
    chmodSync(root, 0o755);
    for (const folder of ['people', 'bots/007']) chmodSync(join(root, folder), 0o644);
    strictEqual(await service.end('SIGTERM'), 0);
    const again = await start();
    again.allowLog(/a file breaks a rule|cannot read the catalogue/);
    strictEqual((await again.request('/api/v2/bots/7')).json.contents.en.name, 'Seven');
    for (const folder of ['people', 'bots/007']) chmodSync(join(root, folder), 0o755);
  });
});
