import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { botshelf } from '../support/command-line.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { catalogueOfTwo, check, checkChange, lenny, pullRequest, runCheck } from '../support/pull-request.ts';

describe('a pull request is refused by name', () => {
  it('with a symbolic link, in bots/ and outside', async () => {
    const { passes, found } = await checkChange((repo) => {
      rmSync(join(repo.folder, pagePath(lenny)));
      symlinkSync('/etc/passwd', join(repo.folder, pagePath(lenny)));
      symlinkSync('/etc', join(repo.folder, 'bots/005'));
      symlinkSync('/etc', join(repo.folder, 'docs'));
    });
    ok(!passes);
    deepStrictEqual(found, [
      'bots/005 regular-file error',
      `${pagePath(lenny)} regular-file error`,
      'docs regular-file error',
    ]);
  });

  it('with a change of a bot of which another file is a link', async () => {
    const repo = catalogueOfTwo();
    symlinkSync('/etc/passwd', join(repo.folder, pagePath(lenny, 'fr')));
    repo.commit({}, 'Link');
    pullRequest(repo, () =>
      repo.write(
        pagePath(lenny),
        mainPage({ name: 'Lenny', invite: 'https://example.org/lenny', nsfw: true }),
      ),
    );
    deepStrictEqual((await check(repo)).found, [`${pagePath(lenny, 'fr')} regular-file error`]);
  });

  it('with a link in the place of bots/', async () => {
    const { found } = await checkChange((repo) => {
      rmSync(join(repo.folder, 'bots'), { recursive: true });
      symlinkSync('/etc', join(repo.folder, 'bots'));
    });
    deepStrictEqual(found, ['bots regular-file error']);
  });

  it('with a submodule, in bots/, in the place of a page and outside', async () => {
    const { found } = await checkChange((repo) => {
      const commit = repo.git('rev-parse', 'HEAD');
      for (const path of ['bots/005/module', pagePath('6'), 'module'])
        repo.git('update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
      repo.write('.gitmodules', '[submodule "module"]\n\tpath = module\n\turl = https://example.org/x\n');
      repo.git('add', '.gitmodules');
      repo.git('commit', '-q', '-m', 'Change');
    });
    deepStrictEqual(found, [
      '.gitmodules submodule error',
      'bots/005/module submodule error',
      `${pagePath('6')} submodule error`,
      'module submodule error',
    ]);
  });

  it('with a .gitattributes that sets filters, drivers or an encoding; one that does not passes', async () => {
    const { found, messages } = await checkChange((repo) => {
      repo.write('.gitattributes', '# filter=x\n* text=auto\n*.md filter=lfs diff=lfs -text\n');
      repo.write('a/.gitattributes', '*.md working-tree-encoding=UTF-16\n');
      repo.write('b/.gitattributes', '*.md merge=ours');
      repo.write('c/.gitattributes', '*.md text eol=lf\n*.png binary -diff\n');
      repo.write('d/.gitattributes', `${'#'.repeat(70_000)}\n`);
      repo.write('bots/.gitattributes', '*.md text\n');
      repo.write('bots/312/.gitattributes', '*.md text\n');
    });
    deepStrictEqual(
      found,
      ['.', 'a/.', 'b/.', 'bots/.', 'bots/312/.', 'c/.', 'd/.'].map(
        (path) => `${path}gitattributes ${path === 'c/.' ? 'outside-bots notice' : 'git-attributes error'}`,
      ),
    );
    match(messages[0] ?? '', /^"filter=lfs" makes Git run a program or rewrite files: remove it/);
  });

  it('with a file larger than a string can be, also one that a later commit takes away', async () => {
    const repo = catalogueOfTwo();
    // It has this size by its header only, so that Git fails when anything reads it whole.
    const blob = 'b16'.padEnd(40, '0');
    repo.write(`.git/objects/b1/${blob.slice(2)}`, deflateSync(`blob ${2 ** 29 + 1}\0begun`));
    const commit = (...paths: string[]): void => {
      for (const path of paths) repo.git('update-index', '--add', '--cacheinfo', `100644,${blob},${path}`);
      repo.git('commit', '-q', '-m', 'Change');
    };
    pullRequest(repo, () => {
      commit(pagePath(lenny), 'botshelf.json', 'large.bin');
      repo.git('branch', 'large');
      repo.git('rm', '-q', '--cached', 'botshelf.json', 'large.bin');
      repo.commit({ [pagePath(lenny)]: mainPage({ name: 'Lenny', invite: 'https://example.org/lenny' }) });
    });
    const takenAway = await check(repo);
    ok(!takenAway.passes);
    deepStrictEqual(takenAway.found, [
      `${pagePath(lenny)} file-size error`,
      'botshelf.json file-size error',
      'large.bin file-size error',
    ]);
    match(takenAway.messages[2] ?? '', /^commit [0-9a-f]{10} adds a file of more than 10 MiB here: /);

    repo.git('branch', '-q', '-f', 'pull', 'large');
    const { found, messages } = await check(repo);
    deepStrictEqual([...new Set(found)], takenAway.found);
    match(messages.join('\n'), /^the file has more than 262144 bytes: shorten the page$/m);
  });

  it('with a path that has a newline or control characters', async () => {
    const repo = catalogueOfTwo();
    pullRequest(repo, () => {
      repo.write('bots/001/1.en.md\n::error::x', mainPage());
      repo.write('a\n::error::b', '');
      repo.write('c\u001b[2J', '');
      repo.write('d\u202e', '');
    });
    const { stdout } = await runCheck(repo);
    deepStrictEqual(
      stdout
        .split('\n')
        .slice(0, 4)
        .map((line) => line.split(' ', 2).join(' ')),
      [
        './a\\u{a}::error::b:1:1 file-name',
        'bots/001/1.en.md\\u{a}::error::x:1:1 stray-file',
        './c\\u{1b}[2J:1:1 file-name',
        './d\\u{202e}:1:1 file-name',
      ],
    );
  });

  it('with anything but an empty file as bots/.gitkeep', async () => {
    const repo = catalogueOfTwo();
    repo.commit({ 'bots/.gitkeep': '' });
    pullRequest(repo, () => {
      rmSync(join(repo.folder, 'bots/.gitkeep'));
      repo.write('bots/.gitkeep/.gitattributes', '* filter=lfs\n');
      repo.write('bots/.gitkeep/large', 'x'.repeat(3 * 1024 * 1024));
      repo.write('bots/.gitkeep/run', '#!/bin/sh\n');
      chmodSync(join(repo.folder, 'bots/.gitkeep/run'), 0o755);
      symlinkSync('/etc/passwd', join(repo.folder, 'bots/.gitkeep/passwd'));
    });
    deepStrictEqual((await check(repo)).found, [
      'bots/.gitkeep stray-file error',
      'bots/.gitkeep/.gitattributes git-attributes error',
      'bots/.gitkeep/passwd regular-file error',
    ]);
    repo.git('switch', '-q', 'pull');
    match((await botshelf(repo.folder, ['check'])).stdout, /^bots\/\.gitkeep:1:1 stray-file /m);
    repo.git('switch', '-q', 'main');

    repo.git('branch', '-q', '-D', 'pull');
    pullRequest(repo, () => repo.write('bots/.gitkeep', 'x'.repeat(3 * 1024 * 1024)));
    deepStrictEqual((await check(repo)).found, ['bots/.gitkeep stray-file error']);
    repo.git('branch', '-q', '-D', 'pull');
    pullRequest(repo, () => {
      rmSync(join(repo.folder, 'bots/.gitkeep'));
      symlinkSync('/dev/null', join(repo.folder, 'bots/.gitkeep'));
    });
    deepStrictEqual((await check(repo)).found, ['bots/.gitkeep regular-file error']);
  });

  it('with a name that no disk can hold, and a path that is too long', async () => {
    const repo = catalogueOfTwo();
    const blob = repo.git('hash-object', '-w', join(repo.folder, '.gitignore'));
    const paths = [
      'n'.repeat(256),
      `bots/001/${'1'.repeat(300)}.en.md`,
      `docs/${'ü'.repeat(128)}`,
      `long${'/0123456789'.repeat(400)}`,
    ];
    const fine = ['f'.repeat(255), `deep${'/0123456789'.repeat(80)}`];
    for (const path of [...paths, ...fine])
      repo.git('update-index', '--add', '--cacheinfo', `100644,${blob},${path}`);
    const tree = repo.git('write-tree');
    repo.git('branch', 'pull', repo.git('commit-tree', '-p', 'HEAD', '-m', 'Change', tree));
    repo.git('read-tree', 'HEAD');
    const { found, messages } = await check(repo);
    deepStrictEqual(
      found.filter((line) => line.endsWith('file-name error')),
      paths.toSorted().map((path) => `${path.slice(0, 60)}… file-name error`),
    );
    match(messages.join('\n'), /^the path is too long for some disks: keep each name to 255 bytes/m);
  });

  it('with a folder botshelf.json, or a twin of bots/, of the settings or of var/ that differs only in case', async () => {
    const { found, messages } = await checkChange((repo) => {
      for (const path of ['Bots/312/1.en.md', 'BotShelf.json', 'VAR/x', 'bot\u017F/x', 'a/Bots/x'])
        repo.write(path, 'x');
      repo.write('botshelf.json/x', 'x');
    });
    deepStrictEqual(found, [
      'BotShelf.json file-name error',
      'Bots/312/1.en.md file-name error',
      'VAR/x file-name error',
      'a/Bots/x outside-bots notice',
      'botshelf.json/x regular-file error',
      'bot\u017F/x file-name error',
    ]);
    match(messages[1] ?? '', /^"Bots" differs from bots only in case, .+: choose another name/);
    match(messages[4] ?? '', /^botshelf\.json is a file of the catalogue: remove the folder/);
  });

  it('with a file that becomes a folder, or a folder that becomes a file', async () => {
    const repo = catalogueOfTwo();
    repo.commit({ 'notes/a': 'a', 'docs/deep/b': 'b', plain: 'c', 'moved/d': 'd'.repeat(100) });
    pullRequest(repo, () => {
      for (const path of ['notes', 'docs', 'plain', 'moved'])
        rmSync(join(repo.folder, path), { recursive: true });
      repo.write('notes', 'a');
      repo.write('docs/deep', 'b');
      repo.write('plain/deeper/c', 'c');
      repo.write('moved', 'd'.repeat(100));
      repo.write('other/e', 'e');
    });
    const { found, messages } = await check(repo);
    deepStrictEqual(
      found.filter((line) => line.endsWith('error')),
      ['docs/deep', 'moved', 'notes', 'plain'].map((path) => `${path} kind-stays error`),
    );
    match(messages.join('\n'), /^this was a file and becomes a folder: choose another name/m);
  });

  it('with a commit that has a link, a submodule or a filter, also when a later one takes it away', async () => {
    const { passes, found, messages } = await checkChange((repo) => {
      const commit = repo.git('rev-parse', 'HEAD');
      repo.write(pagePath('1009'), '');
      rmSync(join(repo.folder, pagePath('1009')));
      symlinkSync('/etc/passwd', join(repo.folder, pagePath('9')));
      repo.write('.gitattributes', '*.md filter=lfs\n');
      repo.git('add', '-A');
      repo.git('update-index', '--add', '--cacheinfo', `160000,${commit},module`);
      repo.git('commit', '-q', '-m', 'Try');
      repo.git('rm', '-q', '-r', '--cached', 'module', pagePath('9'), '.gitattributes');
      rmSync(join(repo.folder, pagePath('9')));
      rmSync(join(repo.folder, '.gitattributes'));
      repo.commit({ [pagePath('7')]: mainPage({ name: 'Seven', invite: 'https://example.org/7' }) });
    });
    ok(!passes);
    deepStrictEqual(found, [
      '.gitattributes git-attributes error',
      `${pagePath('9')} regular-file error`,
      'module submodule error',
    ]);
    for (const message of messages)
      match(message, / \(commit [0-9a-f]{10} adds it: remove it from that commit too\)$/);
  });

  it('with more than 1,000 files, and says so in one line', async () => {
    const repo = catalogueOfTwo();
    const blob = repo.git('hash-object', '-w', join(repo.folder, '.gitignore'));
    const add = (...ids: number[]): void => {
      const entries = ids.map((id) => `100644,${blob},bots/${String(id % 7).padStart(3, '0')}/${id}`);
      repo.git('update-index', '--add', ...entries.flatMap((entry) => ['--cacheinfo', entry]));
      repo.git('commit', '-q', '-m', 'Change');
    };
    pullRequest(repo, () => {
      add(...Array.from({ length: 1000 }, (_, id) => id));
      repo.git('branch', 'smaller');
      add(1000);
    });
    const { code, stdout } = await runCheck(repo);
    strictEqual(code, 1);
    match(
      stdout,
      /^bots\/000\/0:1:1 change-size this change touches 1001 files, and at most 1000 are checked: split it/,
    );
    strictEqual(stdout.match(/:1:1 /g)?.length, 1);
    repo.git('branch', '-q', '-f', 'pull', 'smaller');
    strictEqual((await check(repo)).found.length, 1000);
  });

  it('with commits of more than 512 MiB, of which each file may be fine, or that are too many to look through', async () => {
    const large = catalogueOfTwo();
    pullRequest(large, () => {
      for (let i = 0; i < 52; i++) {
        // It has its size by its header only, so that Git fails when anything reads it.
        const blob = `b${i + 100}`.padEnd(40, '0');
        large.write(
          `.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`,
          deflateSync(`blob ${10 * 2 ** 20}\0`),
        );
        large.git('update-index', '--add', '--cacheinfo', `100644,${blob},large${i}`);
      }
      large.git('commit', '-q', '-m', 'Change');
    });
    const { found, messages } = await check(large);
    deepStrictEqual(found.slice(0, 2), ['bots change-size error', 'large0 outside-bots notice']);
    strictEqual(found.length, 53);
    match(messages[0] ?? '', /^the files of this change are more than 512 MiB together: /);

    const long = catalogueOfTwo();
    const commit = `commit refs/heads/pull\ncommitter Ada <ada@example.org> 0 +0000\ndata 0\n`;
    const blob = long.git('rev-parse', 'main:.gitignore');
    const names = Array.from({ length: 2100 }, (_, i) => `M 100644 ${blob} ${String(i).padEnd(4000, 'x')}\n`);
    const tree = long.git('rev-parse', 'main^{tree}');
    const input = `${commit}from refs/heads/main\n${names.join('')}${commit}M 040000 ${tree} \n`;
    execFileSync('git', ['fast-import', '--quiet'], { cwd: long.folder, input });
    const checked = await check(long);
    deepStrictEqual(checked.found, ['bots change-size error']);
    match(checked.messages[0] ?? '', /^this change has too many commits or file versions to look through: /);
  });

  it('with files of the service’s own folder', async () => {
    const { found } = await checkChange((repo) => {
      repo.write('var/journal/1.ndjson', '{}\n');
      repo.git('add', '-f', 'var');
      repo.git('commit', '-q', '-m', 'Change');
    });
    deepStrictEqual(found, ['var/journal/1.ndjson service-folder error']);
  });
});
