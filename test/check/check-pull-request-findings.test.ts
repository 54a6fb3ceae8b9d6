import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { chmodSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
import { testRepository } from '../support/repository.ts';
import { sampleImage } from '../support/sample-images.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import {
  catalogueOfTwo,
  check,
  checkChange,
  type Checked,
  homer,
  lenny,
  pullRequest,
  runCheck,
  token,
} from '../support/pull-request.ts';

describe('a token in a pull request is found', () => {
  it('in a page, in any other file, in a file’s name', async () => {
    const repo = catalogueOfTwo();
    pullRequest(repo, () => {
      repo.write(pagePath(homer), mainPage({}, `# Homer\n\nÄ ${token}\n`));
      repo.write('scripts/post.sh', `${'#'.repeat(1024 * 1024 - 20)}\n curl -H 'Authorization: ${token}'\n`);
      repo.write(`notes/${token}.txt`, '');
      repo.write(`bots/001/${token}.md`, '');
      repo.write(pagePath(lenny), mainPage({ category: token }));
    });
    const { stdout } = await runCheck(repo);
    match(stdout, /^bots:1:1 token the name of a file looks like a bot token/m);
    match(
      stdout,
      /^bots\/312\/190519304972663312\.en\.md:16:3 token commit [0-9a-f]{10} puts here what looks like/m,
    );
    match(stdout, /^\.\/scripts\/post\.sh:2:26 token /m);
    ok(!stdout.includes(token));
    for (const format of ['github', 'json'])
      ok(!(await runCheck(repo, `--format=${format}`)).stdout.includes(token), format);
  });

  it('in a commit that a later one took back, and in a commit’s message', async () => {
    for (const head of [['--head=pull'], []]) {
      const repo = catalogueOfTwo();
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
    const repo = catalogueOfTwo();
    pullRequest(repo, () => repo.commit({ 'a.txt': 'a' }));
    repo.commit({ 'main.txt': token });
    repo.git('switch', '-q', 'pull');
    repo.git('merge', '-q', '--no-commit', 'main');
    repo.commit({ 'merge.txt': token }, 'Merge main');
    repo.git('switch', '-q', 'main');
    deepStrictEqual((await check(repo)).found, ['a.txt outside-bots notice', 'merge.txt token error']);
  });
});

describe('a maintainer is informed of a pull request', () => {
  it('that changes files outside bots/, and warned where they decide how changes are checked', async () => {
    const repo = catalogueOfTwo();
    const buildServices =
      '.circleci/x .drone.star .drone.yml .travis.yml .woodpecker.yaml .woodpecker.yml .woodpecker/a/x Jenkinsfile'.split(
        ' ',
      );
    const owners = '* @octocat\n/bots/**\n'.repeat(5);
    repo.commit({ '.github/CODEOWNERS': owners, 'notes.txt': 'a', '.gitlab-ci.yml': 'a', 'docs/gone': 'a' });
    pullRequest(repo, () => {
      repo.write('.github/workflows/catalogue.yml', 'on: pull_request\n');
      repo.git('mv', '.github/CODEOWNERS', 'owners');
      repo.git('rm', '-q', '.gitlab-ci.yml', 'docs/gone');
      repo.write('.forgejo/workflows/x.yml', '');
      repo.write('notes.txt', 'b');
      repo.write('scripts/.github/x', '');
      for (const path of buildServices) repo.write(path, '');
    });
    const { passes, found, messages } = await check(repo);
    ok(passes);
    const hosts =
      '.forgejo/workflows/x.yml .github/CODEOWNERS .github/workflows/catalogue.yml .gitlab-ci.yml'.split(' ');
    deepStrictEqual(
      found,
      [
        ...[...hosts, ...buildServices].map((path) => `${path} checks-changed warning`),
        'docs/gone outside-bots notice',
        'notes.txt outside-bots notice',
        'owners outside-bots notice',
        'scripts/.github/x outside-bots notice',
      ].toSorted(),
    );
    match(messages[0] ?? '', /^this decides how changes are checked and reviewed: /);
  });

  it('that adds a bot whose invite or name another has, whatever the case, accents and other parameters', async () => {
    const repo = catalogueOfTwo();
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
    const { stdout } = await runCheck(repo, '--format=github');
    match(stdout, /^::warning file=bots\/007\/7\.en\.md,line=3,col=11,title=name-taken::name: /m);
    match(stdout, /^3 files, 0 faults, 4 warnings$/m);
  });

  it('that adds a bot whose name several have, however it is written', async () => {
    const repo = catalogueOfTwo();
    const named = (name: string): string => mainPage().replace('"name": "Homer"', name);
    repo.commit({
      [pagePath('4')]: named(String.raw`"name": "\x", "name": "\u"`),
      [pagePath('5')]: named(String.raw`"name" :"Se\u0076en"`),
      [pagePath('6')]: named('"name":"SEVEN"'),
    });
    pullRequest(repo, () => {
      for (const id of ['7', '8'])
        repo.write(pagePath(id), mainPage({ name: 'Seven', invite: `https://example.org/${id}` }));
      repo.write(pagePath('7', 'fr'), translation('Seven', 'Répond.'));
    });
    const { found, messages } = await check(repo);
    deepStrictEqual(found, [`${pagePath('7')} name-taken warning`, `${pagePath('8')} name-taken warning`]);
    const others = messages.map(
      (message) => /^name: "Seven" is the name of (.+) already: /.exec(message)?.[1],
    );
    deepStrictEqual(others, ['bots/005/5.en.md and 2 more', 'bots/005/5.en.md and 3 more']);
  });

  it('but not of a duplicate that was there before', async () => {
    const repo = testRepository({
      [pagePath('7')]: mainPage(),
      [pagePath('8')]: mainPage(),
    });
    pullRequest(repo, () => repo.write(pagePath('7'), mainPage({ website: 'https://example.org/' })));
    deepStrictEqual((await check(repo)).found, []);
  });

  it('that adds or removes an author, by name, or takes a bot out', async () => {
    const repo = catalogueOfTwo();
    const invite = 'https://discord.com/oauth2/authorize?client_id=77&scope=bot';
    const changeAuthors = async (...authors: string[]): Promise<Checked> => {
      pullRequest(repo, () => repo.write(pagePath(homer), mainPage({ authors, invite })));
      const checked = await check(repo);
      repo.git('merge', '-q', 'pull');
      repo.git('branch', '-q', '-D', 'pull');
      ok(checked.passes);
      deepStrictEqual(checked.found, [`${pagePath(homer)} authors-changed notice`]);
      return checked;
    };
    const end = 'authors can manage this bot. Only its present authors may ask for this';
    deepStrictEqual((await changeAuthors('190519304972664832', '5', '6')).messages, [
      `authors adds "5", "6": ${end}`,
    ]);
    deepStrictEqual((await changeAuthors('6', '190519304972664832')).messages, [
      `authors removes "5": ${end}`,
    ]);
    deepStrictEqual((await changeAuthors('7', '190519304972664832')).messages, [
      `authors adds "7" and removes "6": ${end}`,
    ]);
    pullRequest(repo, () => rmSync(join(repo.folder, pagePath(lenny))));
    const { passes, found, messages } = await check(repo);
    ok(passes);
    deepStrictEqual(found, [`${pagePath(lenny)} bot-removed notice`]);
    match(messages[0] ?? '', /^this removes "Lenny" from the catalogue: /);
  });

  for (const [what, before] of [
    ['cannot be parsed', 'no page'],
    ['is larger than a page may be', mainPage({}, 'x'.repeat(256 * 1024))],
    ['names no authors', mainPage({ authors: 'me' })],
  ] as const)
    it(`that changes a main page which ${what} as it was, as authors and created cannot be compared`, async () => {
      const repo = catalogueOfTwo();
      repo.commit({ [pagePath(homer)]: before });
      pullRequest(repo, () =>
        repo.write(
          pagePath(homer),
          mainPage({ authors: ['5'], created: 5, invite: 'https://example.org/5' }),
        ),
      );
      const { found, messages } = await check(repo);
      ok(found.includes(`${pagePath(homer)} former-page warning`), found.join());
      match(messages.join('\n'), /^bots\/312\/\d+\.en\.md could not be read before this change: compare /m);
    });

  it('that changes who reviews proposals, or lets authors change their bots without a review', async () => {
    const repo = catalogueOfTwo();
    const propose = async (text: string | object | undefined): Promise<string[]> => {
      pullRequest(repo, () =>
        text === undefined
          ? rmSync(join(repo.folder, 'botshelf.json'))
          : repo.write('botshelf.json', typeof text === 'string' ? text : JSON.stringify(text, null, 2)),
      );
      const { passes, found, messages } = await check(repo);
      ok(passes || typeof text === 'string');
      repo.git('merge', '-q', 'pull');
      repo.git('branch', '-q', '-D', 'pull');
      return found.map((finding, i) => `${finding}: ${messages[i] ?? ''}`);
    };
    const maintainers = (change: string): string =>
      `botshelf.json maintainers-changed notice: maintainers ${change}: maintainers may review proposals and accept them into the catalogue. Only a present maintainer may ask for this`;
    const publishes = (before: string): string =>
      `botshelf.json proposals-changed notice: proposals.authors changes from "${before}" to "publish": authors may then change their bots without a review. Only a maintainer may change this`;
    const outside =
      'botshelf.json outside-bots notice: this is outside bots/: a maintainer has to look at it';

    deepStrictEqual(await propose({ maintainers: ['1', '2'] }), [maintainers('adds "1", "2"')]);
    deepStrictEqual(await propose({ maintainers: ['2', '1'] }), [outside]);
    deepStrictEqual(await propose({ maintainers: ['1', '3'], proposals: { authors: 'publish' } }), [
      maintainers('adds "3" and removes "2"'),
      publishes('review'),
    ]);
    deepStrictEqual(
      await propose({ name: 'A', maintainers: ['1', '3'], proposals: { authors: 'publish', others: 'off' } }),
      [outside],
    );
    deepStrictEqual(await propose({ proposals: { authors: 'off' } }), [maintainers('removes "1", "3"')]);
    deepStrictEqual(await propose({ proposals: { authors: 'publish' } }), [publishes('off')]);
    deepStrictEqual(await propose({ maintainers: ['4'] }), [maintainers('adds "4"')]);
    deepStrictEqual(await propose(undefined), [maintainers('removes "4"')]);

    const [fault = ''] = await propose('{"maintainers": [4]}');
    match(fault, /^botshelf\.json type error: maintainers\[0\]: /);
    deepStrictEqual(await propose({ maintainers: ['4'] }), [
      'botshelf.json former-settings warning: botshelf.json had a fault before this change: compare maintainers and proposals with its last version without one (git log -p)',
    ]);
  });

  it('that changes who reviews proposals, at the place of the list in the file', async () => {
    const repo = catalogueOfTwo();
    pullRequest(repo, () => repo.write('botshelf.json', '{\n  "name": "A",\n  "maintainers": ["1"]\n}\n'));
    match((await runCheck(repo)).stdout, /^\.?\/?botshelf\.json:3:18 maintainers-changed /m);
    repo.commit({ 'botshelf.json': '{' });
    repo.git('switch', '-q', '-c', 'mended');
    repo.commit({ 'botshelf.json': '{\n  "name": "A",\n  "maintainers": ["1"]\n}\n' });
    const { stdout } = await botshelf(repo.folder, ['check', '--base=main']);
    match(stdout, /^\.?\/?botshelf\.json:3:18 former-settings /m);
  });

  it('but not of the maintainers where the change is about the logo alone', async () => {
    const repo = catalogueOfTwo();
    const settings = { logo: 'logo.png', maintainers: ['1'], proposals: { authors: 'publish' } };
    repo.commit({ 'botshelf.json': JSON.stringify(settings), 'logo.png': 'no picture' });
    const logo = await sampleImage();
    pullRequest(repo, () => repo.write('logo.png', logo));
    deepStrictEqual((await check(repo)).found, ['logo.png outside-bots notice']);
  });

  it('that takes a bot out whose page cannot be parsed', async () => {
    const repo = catalogueOfTwo();
    repo.commit({ [pagePath(lenny)]: 'no page' });
    pullRequest(repo, () => rmSync(join(repo.folder, pagePath(lenny))));
    const { found, messages } = await check(repo);
    deepStrictEqual(found, [`${pagePath(lenny)} bot-removed notice`]);
    match(messages[0] ?? '', /^this removes a bot from the catalogue: /);
  });

  it('that takes the last bot out, and refused where bots/ goes with it', async () => {
    const repo = testRepository({ [pagePath('7')]: mainPage() });
    pullRequest(repo, () => rmSync(join(repo.folder, pagePath('7'))));
    const removed = `${pagePath('7')} bot-removed notice`;
    const { passes, found, messages } = await check(repo);
    ok(!passes);
    deepStrictEqual(found, ['bots bots-folder error', removed]);
    match(messages[0] ?? '', /^this leaves no file in bots\/.*: add an empty file bots\/\.gitkeep$/);
    const { code, stdout } = await runCheck(repo);
    deepStrictEqual([code, stdout.startsWith('bots:1:1 bots-folder this leaves ')], [1, true]);
    repo.git('switch', '-q', 'pull');
    repo.commit({ 'bots/.gitkeep': '' });
    repo.git('switch', '-q', 'main');
    deepStrictEqual((await check(repo)).found, [removed]);
  });

  it('that moves a bot’s page out of bots/, which takes the bot out', async () => {
    const { found } = await checkChange((repo) => repo.git('mv', pagePath(lenny), 'lenny.md'));
    deepStrictEqual(found, [`${pagePath(lenny)} bot-removed notice`, 'lenny.md outside-bots notice']);
  });

  it('whatever grep and diff are configured to do in the person’s Git', async () => {
    const repo = catalogueOfTwo();
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
