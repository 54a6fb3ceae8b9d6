import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
import { repositoryIn, type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import {
  catalogueOfTwo,
  check,
  checkChange,
  homer,
  lenny,
  pullRequest,
  runCheck,
} from '../support/pull-request.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('a pull request is checked without being checked out', () => {
  it('and passes when it is sound', async () => {
    const repo = catalogueOfTwo();
    pullRequest(repo, () => {
      repo.write(pagePath(homer, 'fr'), translation('Homère', 'Sait tout des beignets.'));
      repo.write(pagePath('7'), mainPage({ name: 'Seven', invite: 'https://example.org/7' }));
    });
    deepStrictEqual(await check(repo), { passes: true, found: [], messages: [] });
    strictEqual(repo.git('rev-parse', '--abbrev-ref', 'HEAD'), 'main');
    strictEqual(repo.status(), '');
  });

  it('and its bots are looked at as a whole, against all rules and those about change', async () => {
    const { passes, found } = await checkChange((repo) => {
      repo.write(pagePath(homer, 'fr'), mainPage({ invite: 'https://example.org/fr' }));
      repo.write(
        pagePath(lenny),
        mainPage({ name: 'Lenny', invite: 'https://example.org/lenny', created: 5, nsfw: 'no' }),
      );
    });
    ok(!passes);
    deepStrictEqual(found, [
      `${pagePath(homer)} one-main-page error`,
      `${pagePath(homer, 'fr')} one-main-page error`,
      `${pagePath(lenny)} created-stays error`,
      `${pagePath(lenny)} type error`,
    ]);
  });

  it('and the settings with their logo, as files of the merge', async () => {
    const repo = catalogueOfTwo();
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

  it('and as in the folder, a page of 256 KiB is read, and found too long; one byte more is refused unread', async () => {
    const repo = catalogueOfTwo();
    const keys = { name: 'Lenny', invite: 'https://example.org/lenny' };
    const propose = async (bytes: number, more = {}): Promise<string[]> => {
      repo.git('branch', '-q', '-f', 'before');
      pullRequest(repo, () =>
        repo.write(pagePath(lenny), mainPage({ ...keys, ...more }).padEnd(bytes, 'x ')),
      );
      const { found } = await check(repo);
      repo.git('merge', '-q', 'pull');
      repo.git('branch', '-q', '-D', 'pull');
      return found.map((finding) => finding.split(' ')[1] ?? '').toSorted();
    };
    const inFolder = async (...args: string[]): Promise<string | undefined> =>
      (await botshelf(repo.folder, ['check', ...args])).stdout.split(' ')[1];

    deepStrictEqual(await propose(256 * 1024), ['maxLength']);
    strictEqual(await inFolder(), 'maxLength');
    strictEqual(await inFolder('--base=before'), 'maxLength');
    deepStrictEqual(await propose(256 * 1024, { created: 5 }), ['created-stays', 'maxLength']);
    deepStrictEqual(await propose(256 * 1024 + 1), ['file-size']);
    strictEqual(await inFolder(), 'file-size');
    strictEqual(await inFolder('--base=before'), 'file-size');
  });

  it('--head without --base is wrong use, a head that is not there a sentence', async () => {
    const repo = catalogueOfTwo();
    const alone = await botshelf(repo.folder, ['check', '--head=main']);
    deepStrictEqual([alone.code, alone.stdout], [2, '']);
    match(alone.stderr, /^--head needs --base: .+\n$/);
    const nowhere = await botshelf(repo.folder, ['check', '--base=main', '--head=--output=x']);
    deepStrictEqual([nowhere.code, nowhere.stdout], [2, '']);
    match(nowhere.stderr, /^"--output=x" is no commit here: .+\n$/);
  });

  it('in a repository of SHA-256', async () => {
    const folder = tempFolder();
    execFileSync('git', ['init', '-q', '-b', 'main', '--object-format=sha256', folder]);
    const repo = repositoryIn(folder);
    repo.commit({ 'botshelf.json': '{"categories": {"books": {"en": "Books"}}}' });
    pullRequest(repo, () => repo.write(pagePath('7'), mainPage()));
    deepStrictEqual((await check(repo)).found, [`${pagePath('7')} enum error`]);
  });

  it('in a catalogue that is a folder of a repository', async () => {
    const repo = testRepository({ [`inner/${pagePath(homer)}`]: mainPage() });
    pullRequest(repo, () => {
      repo.write(`inner/${pagePath(homer)}`, mainPage({ created: 1 }));
      repo.write(`inner/${pagePath('7')}`, mainPage());
    });
    const { stdout } = await runCheck({ folder: join(repo.folder, 'inner') });
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
      match(
        messages[0] ?? '',
        /^authors adds "5": authors can manage this bot\. Only its present authors may ask for this$/,
      );
      strictEqual(repo.status(), '');
      strictEqual(repo.git('merge-base', '--all', 'main', 'pull').split('\n').length, 2);

      repo.git('switch', '-q', 'pull');
      const here = await botshelf(repo.folder, ['check', '--base=main']);
      deepStrictEqual([here.code, here.stdout], [2, '']);
      match(here.stderr, /^HEAD and "main" have merged each other, .+ or commit and add --head HEAD\n$/);
    });

  it('so that two of them, each fine alone, are found to have two main pages, or one name, together', async () => {
    const repo = catalogueOfTwo();
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
    const repo = catalogueOfTwo();
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
      const { code, stdout } = await runCheck({ folder: join(repo.folder, prefix) });
      strictEqual(code, 1);
      match(stdout, /^bots\/006\/6\.en\.md:1:1 opener /m);
      match(stdout, /^bots\/313\/190519304972663313\.en\.md:1:1 merge-conflict Git cannot merge this: /m);
      match(stdout, /^\.\/(?:\.\.\/)?notes\.txt:1:1 merge-conflict /m);
    }
  });
});
