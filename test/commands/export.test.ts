import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';

describe('botshelf export', () => {
  const files = {
    [pagePath('7')]: mainPage({ website: 'https://example.org/', description: 'Says "hi", often.' }),
    [pagePath('7', 'de')]: '---\n{ "name": "Homer", "description": "Sagt hallo." }\n---\n\nHallo!\n',
    [pagePath('10', 'de')]: mainPage({ name: 'Lisa', authors: ['2', '3'] }),
  };

  it('prints what the service exports @slow', async () => {
    const { root, address } = await startTestService(files);
    const { code, stdout, stderr } = await botshelf(root, ['export']);
    deepStrictEqual([code, stderr], [0, '']);
    strictEqual(stdout, await (await fetch(`${address}/api/v2/export.ndjson`)).text());
  });

  it('prints the main pages as CSV, lists and objects as JSON @slow', async () => {
    const { folder } = testRepository(files);
    const { code, stdout } = await botshelf(folder, ['export', '--format', 'csv']);
    strictEqual(code, 0);
    const [head = '', homer = '', lisa = '', ...rest] = stdout.split('\r\n');
    deepStrictEqual(rest, ['']);
    strictEqual(
      head,
      'id,locale,name,description,authors,category,created,edited,codehost,images,invite,legacy,nsfw,oauth,random,support,trigger,verified,website',
    );
    match(homer, /^7,en,Homer,"Says ""hi"", often\.","\[""190519304972664832""\]",fun,1700000000000,/);
    match(homer, /,https:\/\/example\.org\/$/);
    match(lisa, /^10,de,Lisa,[^,]*,"\[""2"",""3""\]",.*,$/);
  });

  it('leaves out what has faults, and says so, also without Git', async () => {
    const { folder } = testRepository(files);
    writeFileSync(join(folder, pagePath('7')), 'half a page');
    rmSync(join(folder, '.git'), { recursive: true });
    const { code, stdout, stderr } = await botshelf(folder, ['export']);
    strictEqual(code, 1);
    match(stdout, /^\{"id":"10",[^\n]*\n$/);
    match(stderr, /^\d faults? in the files.*"botshelf check" names them$/m);
  });
});
