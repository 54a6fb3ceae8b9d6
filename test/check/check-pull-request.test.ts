import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { checkInThreads } from '../../src/check/check.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { gitSync } from '../support/run-sync.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import {
  catalogueOfTwo,
  check,
  checkChange,
  checkWorkTree,
  commitTo,
  homer,
  lenny,
  lennys,
  pullRequest,
} from '../support/pull-request.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('a pull request is checked without being checked out', () => {
  it('and passes when it is sound @slow', async () => {
    const repo = catalogueOfTwo();
    pullRequest(repo, {
      [pagePath(homer, 'fr')]: translation('Homère', 'Sait tout des beignets.'),
      [pagePath('7')]: mainPage({ name: 'Seven', invite: 'https://example.org/7' }),
    });
    deepStrictEqual((await check(repo)).found, []);
    strictEqual(repo.git('rev-parse', '--abbrev-ref', 'HEAD'), 'main');
    strictEqual(repo.status(), '');
  });

  it('and its bots are looked at as a whole, against all rules and those about change', async () => {
    const { passes, found } = await checkChange({
      [pagePath(homer, 'fr')]: mainPage({ invite: 'https://example.org/fr' }),
      [pagePath(lenny)]: lennys({ created: 5, nsfw: 'no' }),
    });
    ok(!passes);
    deepStrictEqual(found, [
      `${pagePath(homer)} one-main-page error`,
      `${pagePath(homer, 'fr')} one-main-page error`,
      `${pagePath(lenny)} created-stays error`,
      `${pagePath(lenny)} type error`,
    ]);
  });

  it('and the settings with their logo are read as files of the merge', async () => {
    const repo = catalogueOfTwo();
    pullRequest(repo, {
      'botshelf.json': '{\n  "name": "Homers",\n  "logo": "logo.png"\n}\n',
      'logo.png': 'no picture',
    });
    const { passes, messages, found } = await check(repo);
    ok(!passes);
    ok(found.includes('botshelf.json logo error'), found.join());
    match(messages.join('\n'), /^logo: this is not an image that can be used: save it as a PNG/m);
    ok(!existsSync(join(repo.folder, 'botshelf.json')));
  });

  it('and as in the folder, a page of 256 KiB is read, and found too long; one byte more is refused unread @long', async () => {
    const repo = catalogueOfTwo();
    for (const [bytes, alone, changed] of [
      [256 * 1024, ['maxLength'], ['created-stays', 'maxLength']],
      [256 * 1024 + 1, ['file-size'], ['file-size']],
    ] as const) {
      const page = lennys({ created: 5 }).padEnd(bytes, 'x ');
      pullRequest(repo, { [pagePath(lenny)]: page });
      repo.write(pagePath(lenny), page);
      const { findings } = await checkInThreads(repo.folder, 'everything');
      deepStrictEqual(
        findings.map(({ rule }) => rule),
        alone,
      );
      for (const { found } of [await check(repo), await checkWorkTree(repo.folder)])
        deepStrictEqual(found.map((finding) => finding.split(' ')[1] ?? '').toSorted(), changed);
    }
  });

  it('in a repository of SHA-256', async () => {
    const folder = tempFolder();
    gitSync({ args: ['init', '-q', '-b', 'main', '--object-format=sha256'], cwd: folder });
    const repo = repositoryIn(folder);
    repo.commit({ 'botshelf.json': '{"categories": {"books": {"en": "Books"}}}' });
    pullRequest(repo, { [pagePath('7')]: mainPage() });
    deepStrictEqual((await check(repo)).found, [`${pagePath('7')} enum error`]);
  });

  it('in a bare repository, as a Git host has it', async () => {
    const repo = catalogueOfTwo();
    pullRequest(repo, { [pagePath(homer)]: mainPage({ created: 1 }) });
    const folder = join(tempFolder(), 'list.git');
    repo.git('clone', '--quiet', '--mirror', repo.folder, folder);
    match((await check({ folder })).text, /^bots\/312\/190519304972663312\.en\.md:9:14 created-stays /m);
  });

  it('in a catalogue that is a folder of a repository @slow', async () => {
    const repo = testRepository({ [`inner/${pagePath(homer)}`]: mainPage() });
    pullRequest(repo, {
      [`inner/${pagePath(homer)}`]: mainPage({ created: 1 }),
      [`inner/${pagePath('7')}`]: mainPage(),
    });
    const text = (await check({ folder: join(repo.folder, 'inner') })).text;
    match(text, /^bots\/007\/7\.en\.md:3:11 name-taken warning: .+ bots\/312\//m);
    match(text, /^bots\/312\/190519304972663312\.en\.md:9:14 created-stays /m);
  });
});

describe('a pull request is judged by what merging it would give', () => {
  for (const [order, removedAt, unrelatedAt] of [
    ['older', 1_700_000_100, 1_700_000_200],
    ['newer', 1_700_000_200, 1_700_000_100],
  ] as const)
    it(`so that several merge bases hide no author who comes back, the removal being the ${order} one`, async () => {
      const page = (...authors: string[]): string =>
        mainPage({ invite: 'https://example.org/homer', authors: ['190519304972664832', ...authors] });
      const repo = testRepository({ [pagePath(homer)]: page('5'), [pagePath(lenny)]: lennys() });
      // Git orders merge bases by their times.
      const at = 1_700_000_300;
      const notes = { 'notes.txt': 'Notes\n' };
      commitTo(
        repo,
        { branch: 'unrelated', changes: notes, at: unrelatedAt },
        { branch: 'main', changes: { [pagePath(homer)]: page() }, at: removedAt },
        // The merge keeps the author of its first parent.
        {
          from: 'unrelated',
          merged: 'main',
          changes: { [pagePath(lenny)]: lennys({}, '# Lenny\n\nHas a page now.\n') },
          at,
        },
        { branch: 'main', merged: 'unrelated', changes: notes, at },
      );
      const { found, messages } = await check(repo);
      deepStrictEqual(found, [`${pagePath(homer)} authors-changed notice`]);
      match(messages[0] ?? '', /^authors adds "5": authors can manage this bot\. Only its present authors/);
      strictEqual(repo.git('merge-base', '--all', 'main', 'pull').split('\n').length, 2);

      repo.git('switch', '-q', '-f', 'pull');
      await rejects(checkWorkTree(repo.folder), {
        message: /^HEAD and "main" have merged each other, .+ or commit and add --head HEAD\n$/,
      });
    });

  it('so that two of them, each fine alone, are found to have two main pages, or one name, together @slow', async () => {
    const repo = catalogueOfTwo();
    const first = { [pagePath('7')]: mainPage({ name: 'Seven', invite: 'https://example.org/7' }) };
    const second = {
      [pagePath('7', 'fr')]: mainPage({ name: 'Sept', invite: 'https://example.org/7' }),
      [pagePath('8')]: mainPage({ name: 'Seven', invite: 'https://example.org/8' }),
    };
    commitTo(repo, { branch: 'first', changes: first }, { branch: 'second', changes: second });
    for (const head of ['first', 'second']) deepStrictEqual((await check(repo, head)).found, [], head);
    commitTo(repo, { branch: 'main', merged: 'first', changes: first });
    const { passes, found } = await check(repo, 'second');
    ok(!passes);
    deepStrictEqual(found, [
      `${pagePath('7')} one-main-page error`,
      `${pagePath('7', 'fr')} one-main-page error`,
      `${pagePath('8')} name-taken warning`,
    ]);
  });

  it('so that what main did since is not held against it @slow', async () => {
    const repo = catalogueOfTwo();
    const onMain = { [pagePath(lenny)]: lennys({ verified: true }), 'bots/006/6.en.md': 'faulty on main' };
    commitTo(
      repo,
      { changes: { [pagePath(homer, 'fr')]: translation('Homère', 'Sait tout.') } },
      { branch: 'main', changes: onMain },
    );
    for (const head of ['pull', 'main~1']) deepStrictEqual((await check(repo, head)).found, [], head);
  });

  it('so that a conflict is a fault that says so, beside the faults of its own @slow', async () => {
    for (const prefix of ['', 'inner/']) {
      const path = `${prefix}${pagePath(lenny)}`;
      const repo = testRepository({ [path]: lennys({ description: 'One.' }), 'notes.txt': 'a\n' });
      const pulled = {
        [path]: lennys({ description: 'Two.' }),
        [`${prefix}bots/006/6.en.md`]: 'faulty',
        'notes.txt': 'b\n',
      };
      const onMain = { [path]: lennys({ description: 'Three.' }), 'notes.txt': 'c\n' };
      commitTo(repo, { changes: pulled }, { branch: 'main', changes: onMain });
      const { passes, text } = await check({ folder: join(repo.folder, prefix) });
      ok(!passes);
      match(text, /^bots\/006\/6\.en\.md:1:1 opener /m);
      match(text, /^bots\/313\/190519304972663313\.en\.md:1:1 merge-conflict Git cannot merge this: /m);
      match(text, /^\.\/(?:\.\.\/)?notes\.txt:1:1 merge-conflict /m);
    }
  });
});
