import { deepStrictEqual, match } from 'node:assert/strict';
import { mkdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
import {
  catalogueOfTwo,
  checkWorkTree,
  commitTo,
  homer,
  homers,
  lenny,
  lennys,
} from '../support/pull-request.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

/** A catalogue of two valid bots and one that was faulty before the change. */
function repository(): TestRepository {
  return catalogueOfTwo({ 'bots/001/1.en.md': 'faulty since long ago' });
}

async function findingsIn(root: string, ...paths: string[]): Promise<string[]> {
  return (await checkWorkTree(root, ...paths)).found;
}

describe('botshelf check --base', () => {
  it('looks at the bots that changed only, and at those as a whole @slow', async () => {
    const { folder: root } = repository();
    const check = async (): Promise<unknown[]> => {
      const { files, found } = await checkWorkTree(root);
      return [files, found];
    };
    deepStrictEqual(await check(), [0, []]);
    writeFiles(root, { [pagePath(homer, 'fr')]: translation('Homère', 'Sait tout des beignets.') });
    deepStrictEqual(await check(), [2, []]);
  });

  it('checks the settings where they change @slow', async () => {
    const { folder: root, commit } = repository();
    writeFiles(root, { 'botshelf.json': '{"nmae": "Homers"}' });
    deepStrictEqual(await findingsIn(root), ['botshelf.json additionalProperties error']);
    commit({}, 'Break the settings');
    writeFiles(root, { [pagePath(homer)]: homers({ nsfw: true }) });
    deepStrictEqual(await findingsIn(root), []);
    writeFiles(root, { 'botshelf.json': '{"categories": {"books": {"en": "Books"}}}' });
    deepStrictEqual(await findingsIn(root), [
      'botshelf.json former-settings warning',
      `${pagePath(homer)} enum error`,
      `${pagePath(lenny)} enum error`,
    ]);
  });

  it('names the bots of a category and of a language that the settings no longer have, beside its own faults @slow', async () => {
    const { folder: root, commit } = repository();
    const noCategory = [`${pagePath(homer)} enum error`, `${pagePath(lenny)} enum error`];
    const noLanguage = `${pagePath(homer, 'fr')} language error`;
    const outside = 'botshelf.json outside-bots notice';
    const findWith = async (settings: string): Promise<string[]> => {
      writeFiles(root, { 'botshelf.json': settings });
      return await findingsIn(root);
    };
    deepStrictEqual(await findWith('{"categories": {"fun": {}}}'), [outside]);
    deepStrictEqual(await findWith('{"languages": ["en"]}'), [noLanguage, outside]);
    deepStrictEqual(await findWith('{"categories": {"music": {}}}'), [...noCategory, outside]);
    commit({ 'botshelf.json': '{"languages": ["en"]}' }, 'Take English only');
    deepStrictEqual(await findWith('{}'), [outside]);
    writeFiles(root, { 'bots/003/notes.txt': '', 'bots/README/notes.txt': '' });
    deepStrictEqual(
      await findWith('{"categories": {"books": {}}, "languages": ["de", "en"], "logo": "missing.png"}'),
      [
        'bots/003/notes.txt stray-file error',
        noCategory[0],
        noLanguage,
        noCategory[1],
        'bots/README stray-file error',
        'botshelf.json logo error',
      ],
    );
  });

  it('sees what is committed on the branch, staged, edited, not yet known to Git and ignored, but not what main did since @slow', async () => {
    const repo = repository();
    const { folder: root } = repo;
    commitTo(
      repo,
      { branch: 'more', changes: { 'bots/002/2.en.md': 'committed' } },
      { branch: 'main', changes: { 'bots/006/6.en.md': 'merged meanwhile' } },
    );
    repo.git('switch', '-q', '-f', 'more');
    writeFiles(root, { 'bots/003/3.en.md': 'staged' });
    repo.git('add', '--all');
    writeFiles(root, { 'bots/004/4.en.md': 'untracked', [pagePath(lenny)]: 'edited' });
    writeFiles(root, { '.git/info/exclude': 'bots/005\n', 'bots/005/5.en.md': 'ignored' });
    deepStrictEqual(await findingsIn(root), [
      'bots/002/2.en.md opener error',
      'bots/003/3.en.md opener error',
      'bots/004/4.en.md opener error',
      'bots/005/5.en.md opener error',
      `${pagePath(lenny)} opener error`,
    ]);
    rmSync(join(root, pagePath(homer)));
    deepStrictEqual(await findingsIn(root, 'bots/003', 'bots/004/4.en.md'), [
      'bots/003/3.en.md opener error',
      'bots/004/4.en.md opener error',
    ]);
  });

  it('works in a catalogue that is a folder of a repository @slow', async () => {
    const root = join(testRepository({ [`catalogue/${pagePath(homer)}`]: homers() }).folder, 'catalogue');
    writeFiles(root, { [pagePath(homer)]: homers({ created: 1 }), [pagePath(lenny)]: 'x' });
    deepStrictEqual(await findingsIn(root), [
      `${pagePath(homer)} created-stays error`,
      `${pagePath(lenny)} opener error`,
    ]);
  });

  it('refuses a bot that is given another id', async () => {
    const { folder: root } = repository();
    writeFiles(root, { 'bots/314/314.en.md': lennys() });
    rmSync(join(root, pagePath(lenny)));
    const { passes, files, found } = await checkWorkTree(root);
    deepStrictEqual(
      [passes, files, found],
      [false, 1, [`${pagePath(lenny)} bot-removed notice`, 'bots/314/314.en.md id-stays error']],
    );
  });

  it('refuses a file of more than 10 MiB, wherever it is, once @long', async () => {
    const { folder: root, git, commit } = repository();
    const bytes = 10 * 1024 * 1024;
    writeFiles(root, {
      fine: Buffer.alloc(bytes),
      large: Buffer.alloc(bytes + 1),
      'bots/005/5.en.md': Buffer.alloc(bytes + 1),
    });
    git('add', 'fine', 'large');
    const expected = [
      'bots/005/5.en.md file-size error',
      'fine outside-bots notice',
      'large file-size error',
    ];
    deepStrictEqual(await findingsIn(root), expected);
    git('switch', '-q', '-c', 'more');
    commit({}, 'Add files');
    const { found, text } = await checkWorkTree(root);
    deepStrictEqual(found, expected);
    match(text, /^\.\/large:1:1 file-size the file has more than 10 MiB: leave it out, /m);
  });

  it('refuses a submodule that was not checked out, and a link in the place of bots/', async () => {
    const { folder: root, git } = repository();
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},bots/005/module`);
    mkdirSync(join(root, 'bots/005/module'), { recursive: true });
    deepStrictEqual(await findingsIn(root), ['bots/005/module submodule error']);

    rmSync(join(root, 'bots'), { recursive: true });
    symlinkSync('/etc', join(root, 'bots'));
    git('add', '--all');
    deepStrictEqual(await findingsIn(root), ['bots regular-file error']);
  });

  it('ends with 2 and one sentence when it is used wrongly or there is nothing to compare with @slow', async () => {
    const { folder: root, git } = repository();
    git('checkout', '--quiet', '--orphan', 'alone');
    git('commit', '--quiet', '--message=Alone');
    git('commit', '--quiet', '--allow-empty', '--message=More');
    const shallow = join(tempFolder(), 'clone');
    git('clone', '--quiet', '--depth=1', '--no-single-branch', `file://${root}`, shallow);
    const bare = tempFolder({ [pagePath(lenny)]: mainPage() });
    const noPath = { PATH: '/nowhere' };
    const cases: [string, string[], RegExp, Record<string, string>?][] = [
      [root, ['--base=no-such'], /^"no-such" is no commit here: .+\n$/],
      [root, ['--base=--output=/tmp/x'], /^"--output=\/tmp\/x" is no commit here: .+\n$/],
      [root, ['--base='], /^"" is no commit here: .+\n$/],
      [root, ['--base=main'], /^HEAD and "main" have no commit in common: .+\n$/],
      [root, ['--base=main', '--head=--output=x'], /^"--output=x" is no commit here: .+\n$/],
      [root, ['--head=main'], /^--head needs --base: .+\n$/],
      [root, ['--base=HEAD', '--fetch=origin'], /^--fetch needs --head: name the commit to fetch\n$/],
      [shallow, ['--base=HEAD~1'], /^this clone is shallow .+\n$/],
      [shallow, ['--base=origin/main'], /^this clone is shallow .+\n$/],
      [bare, ['--base=main'], /^git cannot read .+\n$/],
      [root, ['--base=main'], /^git cannot be run: install it, or .+\n$/, noPath],
    ];
    for (const [folder, args, message, env = {}] of cases) {
      const { code, stdout, stderr } = await botshelf(folder, ['check', ...args], { env });
      match(stderr, message);
      deepStrictEqual([code, stdout], [2, '']);
    }
  });
});
