import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService } from '../support/service.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

describe('botshelf export', () => {
  const files = {
    [pagePath('7')]: mainPage({ website: 'https://example.org/', description: 'Says "hi", often.' }),
    [pagePath('7', 'de')]: '---\n{ "name": "Homer", "description": "Sagt hallo." }\n---\n\nHallo!\n',
    [pagePath('10', 'de')]: mainPage({ name: 'Lisa', authors: ['2', '3'] }),
  };

  it('prints what the service exports, which an import brings back byte for byte @slow', async () => {
    const { root, address } = await startTestService(files);
    const { code, stdout, stderr } = await botshelf(root, ['export']);
    deepStrictEqual([code, stderr], [0, '']);
    strictEqual(stdout, await (await fetch(`${address}/api/v2/export.ndjson`)).text());
    await botshelf(root, ['format']);
    const [cwd, copy] = [tempFolder(), testRepository({ 'bots/.gitkeep': '' })];
    writeFiles(cwd, { 'bots.ndjson': (await botshelf(root, ['export'])).stdout });
    strictEqual((await botshelf(copy.folder, ['import', 'bots.ndjson'], { cwd })).code, 0);
    for (const path of Object.keys(files)) strictEqual(copy.read(path), repositoryIn(root).read(path));
  });

  it('prints the main pages as CSV, lists and objects as JSON @slow', async () => {
    const { folder } = testRepository(files);
    const { code, stdout } = await botshelf(folder, ['export', '--format', 'csv']);
    strictEqual(code, 0);
    const [head = '', homer = '', lisa = '', ...rest] = stdout.split('\r\n');
    deepStrictEqual(rest, ['']);
    strictEqual(
      head,
      'id,locale,name,description,authors,category,created,edited,codehost,images,invite,legacy,nsfw,oauth,random,support,trigger,verified,website,page',
    );
    match(homer, /^7,en,Homer,"Says ""hi"", often\.","\[""190519304972664832""\]",fun,1700000000000,/);
    match(homer, /,https:\/\/example\.org\/,"# Homer\n\nThe page\."$/);
    match(lisa, /^10,de,Lisa,[^,]*,"\[""2"",""3""\]",.*,,"# Homer\n\nThe page\."$/);
  });

  it('prints no formulas and no control characters as CSV, which comes back by an import @slow', async () => {
    const names = ['=1+1', '+a', '-a', '@a', "'=a", "'a", 'a=b'];
    const bots = names.map((name, i) => [pagePath(`${20 + i}`), mainPage({ name, nsfw: true })]);
    const { folder } = testRepository({
      ...Object.fromEntries(bots),
      [pagePath('30', 'de')]: mainPage(
        { images: { avatar: 'https://a.example/a.png' }, trigger: { prefix: ['homer ', '!'] } },
        'a\u001b[2J\u009b\n\nb',
      ),
    });
    const { stdout } = await botshelf(folder, ['export', '--format', 'csv']);
    deepStrictEqual(
      [...stdout.matchAll(/^2\d,en,([^,]*),/gm)].map(([, name]) => name),
      ["'=1+1", "'+a", "'-a", "'@a", "''=a", "'a", 'a=b'],
    );
    match(stdout, /a\\u001b\[2J\\u009b\n\nb/);
    const source = tempFolder({ 'bots.csv': stdout });
    const copy = testRepository({ 'bots/.gitkeep': '' }).folder;
    const imported = await botshelf(copy, ['import', 'bots.csv'], { cwd: source });
    strictEqual(imported.stdout, '8 records: 8 added, 0 replaced, 0 there already, 0 did not fit\n');
    const again = (await botshelf(copy, ['export', '--format', 'csv'])).stdout;
    const withoutRandom = (text: string): string => text.replaceAll(/,0\.\d+(?=,)/g, '');
    strictEqual(withoutRandom(again), withoutRandom(stdout));
  });

  it('leaves out what has faults, and says so, also without Git @slow', async () => {
    const { folder } = testRepository(files);
    writeFileSync(join(folder, pagePath('7')), 'half a page');
    rmSync(join(folder, '.git'), { recursive: true });
    const { code, stdout, stderr } = await botshelf(folder, ['export']);
    strictEqual(code, 1);
    match(stdout, /^\{"id":"10",[^\n]*\n$/);
    match(stderr, /^\d faults? in the files.*"botshelf check" names them$/m);
  });
});
