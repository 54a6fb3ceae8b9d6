import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { deflateSync } from 'node:zlib';
import { checkChanges } from '../../src/check/check-changes.ts';
import type { Finding } from '../../src/check/check.ts';
import { printReport } from '../../src/commands/check-report.ts';
import { revisionRange } from '../../src/git/inspect/revision-range.ts';
import { botshelf } from '../support/command-line.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';

const homer = '190519304972663312';
const lenny = '190519304972663313';
/** Put together here, so that no file of the project holds what looks like a token. */
const token = ['bsh', 'a'.repeat(43) + 'B0c1D2'].join('_');

/** A catalogue of two bots whose working tree stays on main while others make pull requests on a branch. */
function catalogue(): TestRepository {
  return testRepository({
    [pagePath(homer)]: mainPage({ invite: 'https://discord.com/oauth2/authorize?client_id=77&scope=bot' }),
    [pagePath(homer, 'fr')]: translation('Homère', 'Répond.'),
    [pagePath(lenny)]: mainPage({ name: 'Lenny', invite: 'https://example.org/lenny' }),
  });
}

/** Makes a pull request on the branch `pull`: what `work` leaves, unless it commits itself. Main is checked out again. */
function pullRequest(repo: TestRepository, work: () => void): void {
  repo.git('switch', '-q', '-c', 'pull');
  const before = repo.git('rev-parse', 'HEAD');
  work();
  if (repo.git('rev-parse', 'HEAD') === before) repo.commit({}, 'Change');
  repo.git('switch', '-q', '-f', 'main');
}

interface Checked {
  /** Whether the check passes. */
  readonly passes: boolean;
  /** `path rule severity` of each finding. */
  readonly found: string[];
  readonly messages: string[];
}

/** What `botshelf check --base=main --head=pull` finds, without starting a process for it. */
async function check({ folder }: TestRepository): Promise<Checked> {
  const range = await revisionRange(folder, 'main', 'pull');
  const report = printReport(await checkChanges(folder, range, 'everything'), 'json');
  const { faults } = JSON.parse(report) as { faults: readonly Finding[] };
  return {
    passes: faults.every(({ severity }) => severity !== 'error'),
    found: faults.map(({ path, rule, severity }) => `${path} ${rule} ${severity}`),
    messages: faults.map(({ message }) => message),
  };
}

describe('a pull request is checked without being checked out', () => {
  it('and passes when it is sound', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      repo.write(pagePath(homer, 'fr'), translation('Homère', 'Sait tout des beignets.'));
      repo.write(pagePath('7'), mainPage({ name: 'Seven', invite: 'https://example.org/7' }));
    });
    deepStrictEqual(await check(repo), { passes: true, found: [], messages: [] });
    strictEqual(repo.git('rev-parse', '--abbrev-ref', 'HEAD'), 'main');
    strictEqual(repo.status(), '');
  });

  it('and its bots are looked at as a whole, against all rules and those about change', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      repo.write(pagePath(homer, 'fr'), mainPage({ invite: 'https://example.org/fr' }));
      repo.write(
        pagePath(lenny),
        mainPage({ name: 'Lenny', invite: 'https://example.org/lenny', created: 5, nsfw: 'no' }),
      );
    });
    const { passes, found } = await check(repo);
    ok(!passes);
    deepStrictEqual(found, [
      `${pagePath(homer)} one-main-page error`,
      `${pagePath(homer, 'fr')} one-main-page error`,
      `${pagePath(lenny)} created-stays error`,
      `${pagePath(lenny)} type error`,
    ]);
  });

  it('and the settings with their logo, as files of the merge', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      repo.write('botshelf.json', '{\n  "name": "Homers",\n  "logo": "logo.png"\n}\n');
      repo.write('logo.png', 'no picture');
    });
    const { passes, messages, found } = await check(repo);
    ok(!passes);
    ok(found.includes('botshelf.json logo error'), found.join());
    match(messages.join('\n'), /^logo: this is not a picture that can be used: save it as a PNG/m);
    ok(!existsSync(join(repo.folder, 'botshelf.json')));
  });

  it('--head without --base is wrong use, a head that is not there a sentence', async () => {
    const repo = catalogue();
    const alone = await botshelf(repo.folder, ['check', '--head=main']);
    deepStrictEqual([alone.code, alone.stdout], [2, '']);
    match(alone.stderr, /^--head needs --base: .+\n$/);
    const nowhere = await botshelf(repo.folder, ['check', '--base=main', '--head=--output=x']);
    deepStrictEqual([nowhere.code, nowhere.stdout], [2, '']);
    match(nowhere.stderr, /^"--output=x" is no commit here: .+\n$/);
  });

  it('in a catalogue that is a folder of a repository', async () => {
    const repo = testRepository({ [`inner/${pagePath(homer)}`]: mainPage() });
    pullRequest(repo, () => {
      repo.write(`inner/${pagePath(homer)}`, mainPage({ created: 1 }));
      repo.write(`inner/${pagePath('7')}`, mainPage());
    });
    const root = join(repo.folder, 'inner');
    const { stdout } = await botshelf(root, ['check', '--base=main', '--head=pull']);
    match(stdout, /^bots\/007\/7\.en\.md:3:11 name-taken warning: .+ bots\/312\//m);
    match(stdout, /^bots\/312\/190519304972663312\.en\.md:9:14 created-stays /m);
  });
});

describe('a pull request is judged by what merging it would give', () => {
  /** Commits all that is in the working tree, at a time of its own: Git orders merge bases by it. */
  function commitAt(repo: TestRepository, seconds: number, message: string): void {
    repo.git('add', '-A');
    const env = { ...process.env, GIT_COMMITTER_DATE: `@${seconds} +0000` };
    const identity = ['-c', 'user.name=Ada', '-c', 'user.email=ada@example.org'];
    execFileSync('git', [...identity, 'commit', '-q', '--allow-empty', '-m', message], {
      cwd: repo.folder,
      env,
    });
  }

  for (const [order, removedAt, unrelatedAt] of [
    ['older', 1_700_000_100, 1_700_000_200],
    ['newer', 1_700_000_200, 1_700_000_100],
  ] as const)
    it(`so that several merge bases hide no author who comes back, the removal being the ${order} one`, async () => {
      const former = ['190519304972664832', '5'];
      const keys = { invite: 'https://example.org/homer' };
      const repo = testRepository({
        [pagePath(homer)]: mainPage({ ...keys, authors: former }),
        [pagePath(lenny)]: mainPage({ name: 'Lenny', invite: 'https://example.org/lenny' }),
      });
      repo.git('branch', 'unrelated');
      repo.write(pagePath(homer), mainPage(keys));
      commitAt(repo, removedAt, 'Take an author out');
      repo.git('tag', 'removed');
      repo.git('switch', '-q', 'unrelated');
      repo.write('notes.txt', 'Notes\n');
      commitAt(repo, unrelatedAt, 'Take notes');
      repo.git('switch', '-q', 'main');
      repo.git('merge', '-q', '--no-ff', '-m', 'Merge the notes', 'unrelated');

      repo.git('switch', '-q', '-c', 'pull', 'unrelated');
      repo.git('merge', '-q', '--no-ff', '--no-commit', 'removed');
      repo.write(pagePath(homer), mainPage({ ...keys, authors: former }));
      repo.write(
        pagePath(lenny),
        mainPage({ name: 'Lenny', invite: 'https://example.org/lenny' }, '# Lenny\n\nHas a page now.\n'),
      );
      repo.commit({}, 'Write the page of Lenny');
      repo.git('switch', '-q', 'main');

      const { found, messages } = await check(repo);
      deepStrictEqual(found, [`${pagePath(homer)} authors-changed notice`]);
      match(messages[0] ?? '', /^authors has "5" added, /);
      strictEqual(repo.status(), '');
      strictEqual(repo.git('merge-base', '--all', 'main', 'pull').split('\n').length, 2);

      repo.git('switch', '-q', 'pull');
      const here = await botshelf(repo.folder, ['check', '--base=main']);
      deepStrictEqual([here.code, here.stdout], [2, '']);
      match(here.stderr, /^HEAD and "main" have merged each other, .+ or commit and add --head HEAD\n$/);
    });

  it('so that two of them, each fine alone, are found to have two main pages, or one name, together', async () => {
    const repo = catalogue();
    const first = { [pagePath('7')]: mainPage({ name: 'Seven', invite: 'https://example.org/7' }) };
    const second = {
      [pagePath('7', 'fr')]: mainPage({ name: 'Sept', invite: 'https://example.org/7' }),
      [pagePath('8')]: mainPage({ name: 'Seven', invite: 'https://example.org/8' }),
    };
    pullRequest(repo, () => repo.commit(second));
    deepStrictEqual(await check(repo), { passes: true, found: [], messages: [] });
    repo.git('branch', '-q', '-m', 'pull', 'second');
    pullRequest(repo, () => repo.commit(first));
    deepStrictEqual(await check(repo), { passes: true, found: [], messages: [] });
    repo.git('merge', '-q', '--no-ff', '-m', 'Merge the first', 'pull');
    repo.git('branch', '-q', '-M', 'second', 'pull');
    const { passes, found } = await check(repo);
    ok(!passes);
    deepStrictEqual(found, [
      `${pagePath('7')} one-main-page error`,
      `${pagePath('7', 'fr')} one-main-page error`,
      `${pagePath('8')} name-taken warning`,
    ]);
  });

  it('so that what main did since is not held against it', async () => {
    const repo = catalogue();
    pullRequest(repo, () => repo.write(pagePath(homer, 'fr'), translation('Homère', 'Sait tout.')));
    repo.commit({
      [pagePath(lenny)]: mainPage({ name: 'Lenny', invite: 'https://example.org/lenny', verified: true }),
      'bots/006/6.en.md': 'faulty on main',
    });
    deepStrictEqual(await check(repo), { passes: true, found: [], messages: [] });
    repo.git('branch', '-q', '-f', 'pull', 'main~1');
    deepStrictEqual(await check(repo), { passes: true, found: [], messages: [] });
  });

  it('so that a conflict is a fault that says so, beside the faults of its own', async () => {
    const lennys = (description: string): string =>
      mainPage({ name: 'Lenny', invite: 'https://example.org/lenny', description });
    for (const prefix of ['', 'inner/']) {
      const repo = testRepository({ [`${prefix}${pagePath(lenny)}`]: lennys('One.'), 'notes.txt': 'a\n' });
      pullRequest(repo, () => {
        repo.write(`${prefix}${pagePath(lenny)}`, lennys('Two.'));
        repo.write(`${prefix}bots/006/6.en.md`, 'faulty');
        repo.write('notes.txt', 'b\n');
      });
      repo.commit({ [`${prefix}${pagePath(lenny)}`]: lennys('Three.'), 'notes.txt': 'c\n' });
      const { code, stdout } = await botshelf(join(repo.folder, prefix), [
        'check',
        '--base=main',
        '--head=pull',
      ]);
      strictEqual(code, 1);
      match(stdout, /^bots\/006\/6\.en\.md:1:1 opener /m);
      match(stdout, /^bots\/313\/190519304972663313\.en\.md:1:1 merge-conflict Git cannot merge this: /m);
      match(stdout, /^\.\/(?:\.\.\/)?notes\.txt:1:1 merge-conflict /m);
    }
  });
});

describe('a pull request is refused by name', () => {
  it('with a symbolic link, in bots/ and outside', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      rmSync(join(repo.folder, pagePath(lenny)));
      symlinkSync('/etc/passwd', join(repo.folder, pagePath(lenny)));
      symlinkSync('/etc', join(repo.folder, 'bots/005'));
      symlinkSync('/etc', join(repo.folder, 'docs'));
    });
    const { passes, found } = await check(repo);
    ok(!passes);
    deepStrictEqual(found, [
      'bots/005 regular-file error',
      `${pagePath(lenny)} regular-file error`,
      'docs regular-file error',
    ]);
  });

  it('with a link in the place of bots/', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      rmSync(join(repo.folder, 'bots'), { recursive: true });
      symlinkSync('/etc', join(repo.folder, 'bots'));
    });
    deepStrictEqual((await check(repo)).found, ['bots regular-file error']);
  });

  it('with a submodule, in bots/, in the place of a page and outside', async () => {
    const repo = catalogue();
    const commit = repo.git('rev-parse', 'HEAD');
    pullRequest(repo, () => {
      for (const path of ['bots/005/module', pagePath('6'), 'module'])
        repo.git('update-index', '--add', '--cacheinfo', `160000,${commit},${path}`);
      repo.write('.gitmodules', '[submodule "module"]\n\tpath = module\n\turl = https://example.org/x\n');
      repo.git('add', '.gitmodules');
      repo.git('commit', '-q', '-m', 'Change');
    });
    deepStrictEqual((await check(repo)).found, [
      '.gitmodules submodule error',
      'bots/005/module submodule error',
      `${pagePath('6')} submodule error`,
      'module submodule error',
    ]);
  });

  it('with a .gitattributes that sets filters, drivers or an encoding; one that does not passes', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      repo.write('.gitattributes', '# filter=x\n* text=auto\n*.md filter=lfs diff=lfs -text\n');
      repo.write('a/.gitattributes', '*.md working-tree-encoding=UTF-16\n');
      repo.write('b/.gitattributes', '*.md merge=ours');
      repo.write('c/.gitattributes', '*.md text eol=lf\n*.png binary -diff\n');
      repo.write('d/.gitattributes', `${'#'.repeat(70_000)}\n`);
      repo.write('bots/.gitattributes', '*.md text\n');
      repo.write('bots/312/.gitattributes', '*.md text\n');
    });
    const { found, messages } = await check(repo);
    deepStrictEqual(
      found,
      ['.', 'a/.', 'b/.', 'bots/.', 'bots/312/.', 'c/.', 'd/.'].map(
        (path) => `${path}gitattributes ${path === 'c/.' ? 'outside-bots notice' : 'git-attributes error'}`,
      ),
    );
    match(messages[0] ?? '', /^"filter=lfs" makes Git run a program or rewrite files: remove it/);
  });

  it('with a file larger than a string can be, also one that a later commit takes away', async () => {
    const repo = catalogue();
    // It has this size by its header only, so that Git fails when anything reads it whole.
    const blob = 'b16'.padEnd(40, '0');
    repo.write(`.git/objects/b1/${blob.slice(2)}`, deflateSync(`blob ${2 ** 29 + 1}\0begun`));
    const commit = (...paths: string[]): void => {
      for (const path of paths) repo.git('update-index', '--add', '--cacheinfo', `100644,${blob},${path}`);
      repo.git('commit', '-q', '-m', 'Change');
    };
    pullRequest(repo, () => {
      commit(pagePath(lenny), 'large.bin');
      repo.git('branch', 'large');
      repo.git('rm', '-q', '--cached', 'large.bin');
      repo.commit({ [pagePath(lenny)]: mainPage({ name: 'Lenny', invite: 'https://example.org/lenny' }) });
    });
    const takenAway = await check(repo);
    ok(!takenAway.passes);
    deepStrictEqual(takenAway.found, [`${pagePath(lenny)} file-size error`, 'large.bin file-size error']);
    match(takenAway.messages[1] ?? '', /^commit [0-9a-f]{10} adds a file of more than 10 MiB here: /);

    repo.git('branch', '-q', '-f', 'pull', 'large');
    const { found, messages } = await check(repo);
    deepStrictEqual([...new Set(found)], takenAway.found);
    match(messages.join('\n'), /^the file has more than 262144 bytes: shorten the page$/m);
  });

  it('with a path that has a newline or control characters', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      repo.write('bots/001/1.en.md\n::error::x', mainPage());
      repo.write('a\n::error::b', '');
      repo.write('c\u001b[2J', '');
      repo.write('d\u202e', '');
    });
    const { stdout } = await botshelf(repo.folder, ['check', '--base=main', '--head=pull']);
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
    const repo = catalogue();
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
    const repo = catalogue();
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

  it('with a file that becomes a folder, or a folder that becomes a file', async () => {
    const repo = catalogue();
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
    const repo = catalogue();
    const commit = repo.git('rev-parse', 'HEAD');
    pullRequest(repo, () => {
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
    const { passes, found, messages } = await check(repo);
    ok(!passes);
    deepStrictEqual(found, [
      '.gitattributes git-attributes error',
      `${pagePath('9')} regular-file error`,
      'module submodule error',
    ]);
    for (const message of messages)
      match(message, / \(commit [0-9a-f]{10} adds it: remove it from that commit too\)$/);
  });

  it('with a token in a file called ::stop-commands::abc, which begins no line of what the CI reads', async () => {
    const repo = catalogue();
    pullRequest(repo, () => repo.write('::stop-commands::abc', token));
    for (const format of ['github', 'text']) {
      const { code, stdout } = await botshelf(repo.folder, [
        'check',
        '--base=main',
        '--head=pull',
        `--format=${format}`,
      ]);
      strictEqual(code, 1);
      ok(stdout.includes('::stop-commands::abc:1:1 token '), stdout);
      ok(!/^\s*::stop-commands/m.test(stdout), stdout);
    }
  });

  it('with more than 1,000 files, and says so in one line', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      const blob = repo.git('hash-object', '-w', join(repo.folder, '.gitignore'));
      const entries = Array.from({ length: 1001 }, (_, id) => {
        const path = `bots/${String(id % 7).padStart(3, '0')}/${id}`;
        return ['--cacheinfo', `100644,${blob},${path}`];
      });
      repo.git('update-index', '--add', ...entries.flat());
      repo.git('commit', '-q', '-m', 'Change');
    });
    const { code, stdout } = await botshelf(repo.folder, ['check', '--base=main', '--head=pull']);
    strictEqual(code, 1);
    match(
      stdout,
      /^bots\/000\/0:1:1 change-size this change touches 1001 files, and at most 1000 are checked: split it/,
    );
    strictEqual(stdout.match(/:1:1 /g)?.length, 1);
  });

  it('with files of the service’s own folder', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      repo.write('var/journal/1.ndjson', '{}\n');
      repo.git('add', '-f', 'var');
      repo.git('commit', '-q', '-m', 'Change');
    });
    deepStrictEqual((await check(repo)).found, ['var/journal/1.ndjson service-folder error']);
  });
});

describe('a token in a pull request is found', () => {
  it('in a page, in any other file, in a file’s name', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      repo.write(pagePath(homer), mainPage({}, `# Homer\n\nÄ ${token}\n`));
      repo.write('scripts/post.sh', `${'#'.repeat(1024 * 1024 - 20)}\n curl -H 'Authorization: ${token}'\n`);
      repo.write(`notes/${token}.txt`, '');
      repo.write(`bots/001/${token}.md`, '');
      repo.write(pagePath(lenny), mainPage({ category: token }));
    });
    const { stdout } = await botshelf(repo.folder, ['check', '--base=main', '--head=pull']);
    match(stdout, /^bots:1:1 token the name of a file looks like a bot token/m);
    match(
      stdout,
      /^bots\/312\/190519304972663312\.en\.md:16:3 token commit [0-9a-f]{10} puts here what looks like/m,
    );
    match(stdout, /^\.\/scripts\/post\.sh:2:26 token /m);
    for (const format of ['text', 'github', 'json']) {
      const args = ['check', '--base=main', '--head=pull', `--format=${format}`];
      ok(!(await botshelf(repo.folder, args)).stdout.includes(token), format);
    }
  });

  it('in a commit that a later one took back, and in a commit’s message', async () => {
    for (const head of [['--head=pull'], []]) {
      const repo = catalogue();
      pullRequest(repo, () => {
        repo.commit({ 'notes.txt': `${token}\n` }, 'Take notes');
        rmSync(join(repo.folder, 'notes.txt'));
        repo.commit({}, 'Remove the notes');
        repo.commit({}, `Try\n\n${token} did not work`);
      });
      if (head.length === 0) repo.git('switch', '-q', 'pull');
      const { code, stdout } = await botshelf(repo.folder, ['check', '--base=main', ...head]);
      strictEqual(code, 1);
      match(stdout, /^bots:1:1 token the message of commit [0-9a-f]{10} holds .+ reword that commit$/m);
      match(
        stdout,
        /^\.\/notes\.txt:1:1 token commit [0-9a-f]{10} puts here .+ remove it from that commit too$/m,
      );
      ok(!stdout.includes(token));
    }
  });

  it('in what a merge brings of its own, and not in what main has', async () => {
    const repo = catalogue();
    pullRequest(repo, () => repo.commit({ 'a.txt': 'a' }));
    repo.commit({ 'main.txt': token });
    repo.git('switch', '-q', 'pull');
    repo.git('merge', '-q', '--no-commit', 'main');
    repo.commit({ 'merge.txt': token }, 'Merge main');
    repo.git('switch', '-q', 'main');
    deepStrictEqual((await check(repo)).found, ['a.txt outside-bots notice', 'merge.txt token error']);
  });
});

describe('a maintainer is told of a pull request', () => {
  it('that changes files outside bots/, and warned where they decide how changes are checked', async () => {
    const repo = catalogue();
    const owners = '* @octocat\n/bots/**\n'.repeat(5);
    repo.commit({ '.github/CODEOWNERS': owners, 'notes.txt': 'a', '.gitlab-ci.yml': 'a', 'docs/gone': 'a' });
    pullRequest(repo, () => {
      repo.write('.github/workflows/catalogue.yml', 'on: pull_request\n');
      repo.git('mv', '.github/CODEOWNERS', 'owners');
      repo.git('rm', '-q', '.gitlab-ci.yml', 'docs/gone');
      repo.write('.forgejo/workflows/x.yml', '');
      repo.write('notes.txt', 'b');
      repo.write('scripts/.github/x', '');
    });
    const { passes, found, messages } = await check(repo);
    ok(passes);
    deepStrictEqual(found, [
      '.forgejo/workflows/x.yml checks-changed warning',
      '.github/CODEOWNERS checks-changed warning',
      '.github/workflows/catalogue.yml checks-changed warning',
      '.gitlab-ci.yml checks-changed warning',
      'docs/gone outside-bots notice',
      'notes.txt outside-bots notice',
      'owners outside-bots notice',
      'scripts/.github/x outside-bots notice',
    ]);
    match(messages[1] ?? '', /^this decides how changes are checked and reviewed: /);
  });

  it('that adds a bot whose invite or name another has, whatever the case, accents and other parameters', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      const invite = 'https://www.discordapp.com/api/oauth2/authorize?permissions=8&client_id=77';
      repo.write(pagePath('7'), mainPage({ name: 'LÉNNY', invite }));
      repo.write(pagePath('8'), mainPage({ name: 'homere', invite: 'https://EXAMPLE.org/lenny/' }));
      repo.write(pagePath('9'), mainPage({ name: 'New', invite: 'https://example.org/9' }));
    });
    const { passes, found, messages } = await check(repo);
    ok(passes);
    deepStrictEqual(found, [
      `${pagePath('7')} name-taken warning`,
      `${pagePath('7')} invite-taken warning`,
      `${pagePath('8')} name-taken warning`,
      `${pagePath('8')} invite-taken warning`,
    ]);
    match(messages[0] ?? '', /^name: "LÉNNY" is the name of bots\/313\/190519304972663313\.en\.md already: /);
    match(messages[1] ?? '', /^invite: bots\/312\/190519304972663312\.en\.md adds the same bot already: /);
    const { stdout } = await botshelf(repo.folder, [
      'check',
      '--base=main',
      '--head=pull',
      '--format=github',
    ]);
    match(stdout, /^::warning file=bots\/007\/7\.en\.md,line=3,col=11,title=name-taken::name: /m);
    match(stdout, /^3 files, 0 faults, 4 warnings$/m);
  });

  it('but not of a duplicate that was there before', async () => {
    const repo = testRepository({
      [pagePath('7')]: mainPage(),
      [pagePath('8')]: mainPage(),
    });
    pullRequest(repo, () => repo.write(pagePath('7'), mainPage({ website: 'https://example.org/' })));
    deepStrictEqual((await check(repo)).found, []);
  });

  it('that adds an author, or takes a bot out', async () => {
    const repo = catalogue();
    pullRequest(repo, () => {
      repo.write(
        pagePath(homer),
        mainPage({
          authors: ['190519304972664832', '5'],
          invite: 'https://discord.com/oauth2/authorize?client_id=77&scope=bot',
        }),
      );
      rmSync(join(repo.folder, pagePath(lenny)));
    });
    const { passes, found, messages } = await check(repo);
    ok(passes);
    deepStrictEqual(found, [
      `${pagePath(homer)} authors-changed notice`,
      `${pagePath(lenny)} bot-removed notice`,
    ]);
    match(messages[0] ?? '', /^authors has "5" added, who may manage the bot from then on: /);
    match(messages[1] ?? '', /^this removes "Lenny" from the catalogue: /);
  });

  it('that moves a bot’s page out of bots/, which takes the bot out', async () => {
    const repo = catalogue();
    pullRequest(repo, () => repo.git('mv', pagePath(lenny), 'lenny.md'));
    deepStrictEqual((await check(repo)).found, [
      `${pagePath(lenny)} bot-removed notice`,
      'lenny.md outside-bots notice',
    ]);
  });

  it('whatever the person’s Git is told to do with grep and diff', async () => {
    const repo = catalogue();
    const ran = join(repo.folder, 'var/ran');
    repo.write('var/program', `#!/bin/sh\ntouch '${ran}'\n`);
    chmodSync(join(repo.folder, 'var/program'), 0o755);
    repo.git('switch', '-q', '-c', 'pull');
    repo.commit({ x: '' });
    repo.write(pagePath('7'), mainPage({ name: 'lenny', invite: 'https://example.org/7' }));
    for (const [key, value] of [
      ['grep.lineNumber', 'true'],
      ['grep.column', 'true'],
      ['color.ui', 'always'],
      ['grep.fullName', 'true'],
      ['submodule.recurse', 'true'],
      ['diff.renames', 'copies'],
      ['diff.mnemonicPrefix', 'true'],
      ['core.quotePath', 'true'],
      ['diff.external', join(repo.folder, 'var/program')],
      ['core.fsmonitor', join(repo.folder, 'var/program')],
    ] as const)
      repo.git('config', key, value);
    const { stdout } = await botshelf(repo.folder, ['check', '--base=main']);
    match(stdout, /^bots\/007\/7\.en\.md:3:11 name-taken warning/m);
    match(stdout, /^1 file, 0 faults, 1 warning, 1 notice$/m);
    strictEqual(existsSync(ran), false);
  });
});
