import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf, commitAll, git } from '../support/command-line.ts';
import { mainPage, pagePath, translation, writeFiles } from '../support/sample.ts';
import { catalogueOfTwo, homer, lenny, token } from '../support/pull-request.ts';
import { tempFolder } from '../support/temp-folder.ts';

/** A catalogue of two sound bots and one that was faulty before the change. */
function repository(): string {
  const repo = catalogueOfTwo();
  repo.commit({ 'bots/001/1.en.md': 'faulty since long ago' });
  return repo.folder;
}

/** Checks against main, and gives `path rule severity` of each finding. */
async function check(
  root: string,
  ...args: string[]
): Promise<{ code: number; files: number; found: string[] }> {
  const { code, stdout, stderr } = await botshelf(root, ['check', '--base=main', '--format=json', ...args]);
  ok(stdout, stderr);
  const { files, faults } = JSON.parse(stdout) as { files: number; faults: Record<string, string>[] };
  return { code, files, found: faults.map(({ path, rule, severity }) => `${path} ${rule} ${severity}`) };
}

describe('botshelf check --base', () => {
  it('looks at the bots that changed only, and at those as a whole', async () => {
    const root = repository();
    deepStrictEqual(await check(root), { code: 0, files: 0, found: [] });
    writeFiles(root, { [pagePath(homer, 'fr')]: translation('Homère', 'Sait tout des beignets.') });
    deepStrictEqual(await check(root), { code: 0, files: 2, found: [] });
  });

  it('checks the settings where they change', async () => {
    const root = repository();
    writeFiles(root, { 'botshelf.json': '{"name": "Homers"}' });
    deepStrictEqual((await check(root)).found, ['botshelf.json outside-bots notice']);
    commitAll(root, 'Name the site');
    writeFiles(root, { 'botshelf.json': '{"nmae": "Homers"}' });
    deepStrictEqual((await check(root)).found, ['botshelf.json additionalProperties error']);
    commitAll(root, 'Break the settings');
    writeFiles(root, { [pagePath(homer)]: mainPage({ nsfw: true }) });
    deepStrictEqual((await check(root)).found, []);
    writeFiles(root, { 'botshelf.json': '{"categories": {"books": {"en": "Books"}}}' });
    deepStrictEqual((await check(root)).found, [
      `${pagePath(homer)} enum error`,
      `${pagePath(lenny)} enum error`,
      'botshelf.json former-settings warning',
    ]);
  });

  it('names the bots of a category and of a language that the settings no longer have, beside its own faults', async () => {
    const root = repository();
    writeFiles(root, {
      'botshelf.json':
        '{"categories": {"books": {"en": "Books"}}, "languages": ["en"], "logo": "missing.png"}',
      'bots/003/notes.txt': '',
      'bots/README/notes.txt': '',
    });
    deepStrictEqual((await check(root)).found, [
      'bots/003/notes.txt stray-file error',
      `${pagePath(homer)} enum error`,
      `${pagePath(homer, 'fr')} language error`,
      `${pagePath(lenny)} enum error`,
      'bots/README stray-file error',
      'botshelf.json logo error',
    ]);
    writeFiles(root, { 'botshelf.json': '{"categories": {"fun": {}}}' });
    deepStrictEqual((await check(root)).found.slice(2), ['botshelf.json outside-bots notice']);
    writeFiles(root, { 'botshelf.json': '{"languages": ["en"]}' });
    deepStrictEqual((await check(root)).found.slice(1, 2), [`${pagePath(homer, 'fr')} language error`]);
    writeFiles(root, { 'botshelf.json': '{"categories": {"music": {}}}' });
    deepStrictEqual((await check(root)).found.slice(1, 3), [
      `${pagePath(homer)} enum error`,
      `${pagePath(lenny)} enum error`,
    ]);
    writeFiles(root, { 'botshelf.json': '{"languages": ["en"]}' });
    commitAll(root, 'Take English only');
    writeFiles(root, { 'botshelf.json': '{}' });
    deepStrictEqual((await check(root)).found, ['botshelf.json outside-bots notice']);
  });

  it('sees what is committed on the branch, staged, edited and not yet known to Git, but not what main did since', async () => {
    const root = repository();
    git(root, 'checkout', '--quiet', '-b', 'more');
    writeFiles(root, { 'bots/002/2.en.md': 'committed' });
    commitAll(root, 'Add a bot');
    git(root, 'checkout', '--quiet', 'main');
    writeFiles(root, { 'bots/006/6.en.md': 'merged meanwhile' });
    commitAll(root, 'Go on');
    git(root, 'checkout', '--quiet', 'more');
    writeFiles(root, { 'bots/003/3.en.md': 'staged' });
    git(root, 'add', '--all');
    writeFiles(root, { 'bots/004/4.en.md': 'untracked', [pagePath(lenny)]: 'edited' });
    const { code, found } = await check(root);
    strictEqual(code, 1);
    deepStrictEqual(found, [
      'bots/002/2.en.md opener error',
      'bots/003/3.en.md opener error',
      'bots/004/4.en.md opener error',
      `${pagePath(lenny)} opener error`,
    ]);
    rmSync(join(root, pagePath(homer)));
    deepStrictEqual((await check(root, 'bots/003', 'bots/004/4.en.md')).found, [
      'bots/003/3.en.md opener error',
      'bots/004/4.en.md opener error',
    ]);
  });

  it('works in a catalogue that is a folder of a repository', async () => {
    const repositoryRoot = tempFolder();
    const root = join(repositoryRoot, 'catalogue');
    writeFiles(root, { [pagePath(homer)]: mainPage() });
    commitAll(repositoryRoot);
    writeFiles(root, { [pagePath(homer)]: mainPage({ created: 1 }), [pagePath(lenny)]: 'x' });
    deepStrictEqual((await check(root)).found, [
      `${pagePath(homer)} created-stays error`,
      `${pagePath(lenny)} opener error`,
    ]);
  });

  it('keeps created, wherever the main page goes', async () => {
    const root = repository();
    writeFiles(root, { [pagePath(homer)]: mainPage({ created: 1_700_000_000_001 }) });
    const { stdout } = await botshelf(root, ['check', '--base=main']);
    match(
      stdout,
      /^bots\/312\/190519304972663312\.en\.md:9:14 created-stays created was 1700000000000: put it back/,
    );
    writeFiles(root, {
      [pagePath(homer)]: translation('Homer', 'Answers.'),
      [pagePath(homer, 'fr')]: mainPage({ created: 5 }),
    });
    deepStrictEqual((await check(root)).found, [`${pagePath(homer, 'fr')} created-stays error`]);
    writeFiles(root, { [pagePath(homer, 'fr')]: mainPage() });
    deepStrictEqual(await check(root), { code: 0, files: 2, found: [] });
  });

  it('tells the maintainer of verified and legacy, and does not fail for them', async () => {
    const root = repository();
    writeFiles(root, {
      [pagePath(homer)]: mainPage({ verified: true, legacy: false }),
      'bots/002/2.en.md': mainPage({ name: 'Two', invite: 'https://example.org/two', legacy: true }),
    });
    const { code, found } = await check(root);
    strictEqual(code, 0);
    deepStrictEqual(found, [
      'bots/002/2.en.md legacy-changed notice',
      `${pagePath(homer)} verified-changed notice`,
    ]);
    const { stdout } = await botshelf(root, ['check', '--base=main', '--format=github']);
    match(
      stdout,
      /^::notice file=bots\/002\/2\.en\.md,line=11,col=13,title=legacy-changed::legacy changes from /,
    );
    match(stdout, /\n3 files, 0 faults, 2 notices\n$/);
  });

  it('refuses a bot that is given another id', async () => {
    const root = repository();
    mkdirSync(join(root, 'bots/314'));
    renameSync(join(root, pagePath(lenny)), join(root, 'bots/314/314.en.md'));
    git(root, 'add', '--all');
    deepStrictEqual((await check(root)).found, [
      `${pagePath(lenny)} bot-removed notice`,
      'bots/314/314.en.md id-stays error',
    ]);
  });

  it('lets a bot be moved to another locale, and be removed', async () => {
    const root = repository();
    renameSync(join(root, pagePath(homer, 'fr')), join(root, pagePath(homer, 'fr-CA')));
    rmSync(join(root, pagePath(lenny)));
    git(root, 'add', '--all');
    deepStrictEqual(await check(root), {
      code: 0,
      files: 2,
      found: [`${pagePath(lenny)} bot-removed notice`],
    });
  });

  it('finds a token anywhere in the change, and does not repeat it', async () => {
    const root = repository();
    writeFiles(root, {
      [pagePath(homer)]: mainPage({}, `# Homer\n\nÄ ${token}\n`),
      'scripts/post.sh': `${'#'.repeat(1024 * 1024 - 20)}\n curl -H 'Authorization: ${token}'\n`,
      'scripts/fine.sh': `${token}longer than a token`,
    });
    git(root, 'add', 'scripts');
    const { code, stdout } = await botshelf(root, ['check', '--base=main']);
    strictEqual(code, 1);
    match(
      stdout,
      /^bots\/312\/190519304972663312\.en\.md:16:3 token this looks like a bot token: remove it/m,
    );
    match(stdout, /^\.\/scripts\/post\.sh:2:26 token /m);
    ok(!stdout.includes(token));
    match(stdout, /\n2 files, 2 faults, 1 notice\n$/);
  });

  it('refuses a file of more than 10 MiB, wherever it is, once', async () => {
    const root = repository();
    const bytes = 10 * 1024 * 1024;
    writeFiles(root, {
      fine: Buffer.alloc(bytes),
      large: Buffer.alloc(bytes + 1),
      'bots/005/5.en.md': Buffer.alloc(bytes + 1),
    });
    git(root, 'add', 'fine', 'large');
    const expected = [
      'bots/005/5.en.md file-size error',
      'fine outside-bots notice',
      'large file-size error',
    ];
    deepStrictEqual((await check(root)).found, expected);
    git(root, 'checkout', '--quiet', '-b', 'more');
    commitAll(root, 'Add files');
    deepStrictEqual((await check(root)).found, expected);
    const { stdout } = await botshelf(root, ['check', '--base=main']);
    match(stdout, /^\.\/large:1:1 file-size the file has more than 10 MiB: leave it out, /m);
  });

  it('refuses a submodule that was not checked out, and a link in the place of bots/', async () => {
    const root = repository();
    const commit = git(root, 'rev-parse', 'HEAD').trim();
    git(root, 'update-index', '--add', '--cacheinfo', `160000,${commit},bots/005/module`);
    mkdirSync(join(root, 'bots/005/module'), { recursive: true });
    deepStrictEqual((await check(root)).found, ['bots/005/module submodule error']);

    rmSync(join(root, 'bots'), { recursive: true });
    symlinkSync('/etc', join(root, 'bots'));
    git(root, 'add', '--all');
    deepStrictEqual((await check(root)).found, ['bots regular-file error']);
  });

  it('ends with 2 and one sentence when there is nothing to compare with', async () => {
    const root = repository();
    git(root, 'checkout', '--quiet', '--orphan', 'alone');
    git(root, 'commit', '--quiet', '--message=Alone');
    writeFiles(root, { [pagePath(lenny)]: mainPage() });
    const shallow = tempFolder();
    git(root, 'commit', '--quiet', '--allow-empty', '--message=More');
    git(shallow, 'clone', '--quiet', '--depth=1', '--no-single-branch', `file://${root}`, 'clone');
    const bare = tempFolder();
    writeFiles(bare, { [pagePath(lenny)]: mainPage() });
    const noPath = { PATH: '/nowhere' };
    const cases: [string, string, RegExp, Record<string, string>?][] = [
      [root, 'no-such', /^"no-such" is no commit here: .+\n$/],
      [root, '--output=/tmp/x', /^"--output=\/tmp\/x" is no commit here: .+\n$/],
      [root, '', /^"" is no commit here: .+\n$/],
      [root, 'main', /^HEAD and "main" have no commit in common: .+\n$/],
      [join(shallow, 'clone'), 'HEAD~1', /^this clone is shallow .+\n$/],
      [join(shallow, 'clone'), 'origin/main', /^this clone is shallow .+\n$/],
      [bare, 'main', /^git cannot read .+\n$/],
      [root, 'main', /^git is not on the PATH: .+\n$/, noPath],
    ];
    for (const [folder, revision, message, env = {}] of cases) {
      const { code, stdout, stderr } = await botshelf(folder, ['check', `--base=${revision}`], { env });
      match(stderr, message);
      strictEqual(stdout, '');
      strictEqual(code, 2);
    }
  });
});
