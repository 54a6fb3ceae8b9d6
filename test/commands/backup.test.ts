import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf, type Run } from '../support/command-line.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';

describe('botshelf backup and restore', () => {
  /** The folder that a catalogue is restored to. */
  const restore = async (folder: string, root: string): Promise<Run> =>
    await botshelf(root, ['restore', folder], { cwd: tempFolder() });

  it('bring back all refs and the files beside Git, also of a catalogue in a folder of its repository @slow', async () => {
    const repo = testRepository({ [`list/${pagePath('7')}`]: mainPage(), '.gitignore': 'var/\n' });
    repo.git('update-ref', 'refs/botshelf/proposals/7/8', 'HEAD');
    const root = join(repo.folder, 'list');
    writeFiles(root, { 'var/journal/1.ndjson': 'x', 'var/reports/1': 'y', 'var/index.snapshot': 'z' });
    const folder = tempFolder();
    strictEqual((await botshelf(root, ['backup', folder])).code, 0);
    repo.git('update-ref', '-d', 'refs/botshelf/proposals/7/8');
    repo.git('update-ref', 'refs/botshelf/state', 'HEAD');
    strictEqual(
      (await botshelf(root, ['backup', folder])).stdout,
      `${folder} has a backup, in which git fsck finds no fault: catalogue.git, journal, reports\n`,
    );

    const top = join(tempFolder(), 'new');
    const { code, stdout } = await restore(folder, join(top, 'list'));
    deepStrictEqual([code, stdout], [0, `${top}/list is restored. Next: botshelf doctor, botshelf serve\n`]);
    const restored = repositoryIn(top);
    strictEqual(restored.git('show-ref'), repo.git('show-ref'));
    strictEqual(restored.git('symbolic-ref', 'HEAD'), repo.git('symbolic-ref', 'HEAD'));
    strictEqual(restored.status(), '');
    deepStrictEqual(readdirSync(join(top, 'list/var')), ['journal', 'reports']);
    strictEqual(readFileSync(join(top, 'list/var/journal/1.ndjson'), 'utf8'), 'x');
    strictEqual(statSync(join(top, 'list/var/reports')).mode & 0o777, 0o700);
  });

  it('leave an earlier backup as it is when a later one fails @slow', async () => {
    const repo = testRepository({ [pagePath('7')]: mainPage() });
    const { folder: root } = repo;
    writeFiles(root, { 'var/cookie-secret': 'first', 'var/log-outs.json': '[]' });
    const folder = tempFolder();
    await botshelf(root, ['backup', folder]);
    const names = readdirSync(folder);
    match(names.join(), /^catalogue\.git,private-\d{8}T\d{9}Z$/);
    const blob = repo.git('rev-parse', `HEAD:${pagePath('7')}`);
    rmSync(join(folder, 'catalogue.git/objects', blob.slice(0, 2)), { recursive: true });
    writeFiles(root, { 'var/cookie-secret': 'second' });
    const { code, stderr } = await botshelf(root, ['backup', folder]);
    strictEqual(code, 2);
    match(stderr, /^git fsck finds .+ damaged: move .+ away, and make a new backup\n$/);
    deepStrictEqual(
      readdirSync(folder).filter((name) => !name.startsWith('unfinished-')),
      names,
    );
    for (const [name, text] of Object.entries({ 'cookie-secret': 'first', 'log-outs.json': '[]' }))
      strictEqual(readFileSync(join(folder, names[1] ?? '', name), 'utf8'), text);
  });

  it('take a shallow repository as it is, and what it fetches later @slow', async () => {
    const origin = testRepository({ [pagePath('7')]: mainPage() });
    origin.commit({ [pagePath('8')]: mainPage() });
    const root = tempFolder();
    origin.git('clone', '-q', '--depth=1', `file://${origin.folder}`, root);
    const shallow = repositoryIn(root);
    const folder = tempFolder();
    await botshelf(root, ['backup', folder]);
    const top = join(tempFolder(), 'new');
    strictEqual((await restore(folder, top)).code, 0);
    strictEqual(repositoryIn(top).git('show-ref'), shallow.git('show-ref'));
    shallow.git('fetch', '-q', '--unshallow');
    strictEqual((await botshelf(root, ['backup', folder])).code, 0);
    strictEqual(repositoryIn(join(folder, 'catalogue.git')).git('rev-list', '--count', 'main'), '2');
  });

  it('take a repository of SHA-256, and branches whose names were folders before @slow', async () => {
    const root = tempFolder();
    const repo = repositoryIn(root);
    repo.git('init', '-q', '--initial-branch=main', '--object-format=sha256');
    repo.commit({ [pagePath('7')]: mainPage() });
    const folder = tempFolder();
    const branches = ['edits/7', 'edits', 'edits/8'];
    for (const [i, branch] of branches.entries()) {
      if (i > 0) repo.git('branch', '-q', '-D', branches[i - 1] ?? '');
      repo.git('branch', branch);
      strictEqual((await botshelf(root, ['backup', folder])).stderr, '');
    }
    const top = join(tempFolder(), 'new');
    strictEqual((await restore(folder, top)).code, 0);
    strictEqual(repositoryIn(top).git('show-ref'), repo.git('show-ref'));
  });

  it('restore no catalogue beside the folder that the settings name @slow', async () => {
    const { folder: root } = testRepository({ [`list/${pagePath('7')}`]: mainPage() });
    const folder = tempFolder();
    await botshelf(join(root, 'list'), ['backup', folder]);
    const top = join(tempFolder(), 'new');
    const stderr = 'the catalogue is in list/ of this repository: let BOTSHELF_CATALOGUE end in /list\n';
    deepStrictEqual(await restore(folder, join(top, 'other')), { code: 2, stdout: '', stderr });
    strictEqual(existsSync(top), false);
  });

  it('write over nothing @long', async () => {
    const { folder: root } = testRepository({ [pagePath('7')]: mainPage() });
    const full = tempFolder();
    writeFileSync(join(full, 'x'), '');
    const folder = tempFolder();
    mkdirSync(join(folder, 'unfinished-1'));
    const cases: [Promise<Run>, RegExp][] = [
      [botshelf(root, ['backup', full]), /is not empty: use a new or empty folder\n$/],
      [restore(folder, join(tempFolder(), 'new')), /has no backup: pass the folder of one that/],
      [restore(join(folder, 'x'), join(tempFolder(), 'new')), /has no backup/],
    ];
    for (const [run, message] of cases) {
      const { code, stderr } = await run;
      strictEqual(code, 2);
      match(stderr, message);
    }
    rmSync(join(folder, 'unfinished-1'), { recursive: true });
    await botshelf(root, ['backup', folder]);
    match((await restore(folder, root)).stderr, /is not empty: use a new or empty folder\n$/);
    const env = { BOTSHELF_BLOCKED: join(full, 'x') };
    const blocked = await botshelf(join(tempFolder(), 'new'), ['restore', folder], { cwd: full, env });
    match(blocked.stderr, /\/x is there: move it away\n$/);
    deepStrictEqual(readdirSync(full), ['x']);
  });
});
