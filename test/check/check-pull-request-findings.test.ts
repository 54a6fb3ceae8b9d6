import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { chmodSync, existsSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf } from '../support/command-line.ts';
import {
  catalogueOfTwo,
  check,
  checkChange,
  checkWorkTree,
  commitTo,
  homer,
  homers,
  lenny,
  lennys,
  pullRequest,
  token,
} from '../support/pull-request.ts';
import { type Changes, testRepository } from '../support/repository.ts';
import { sampleImage } from '../support/sample-images.ts';
import { mainPage, pagePath, profile, translation } from '../support/sample.ts';

describe('an address in a pull request', () => {
  const [website, signed] = ['https://exämple.org/', 'https://cdn.example.org/a.png?ex=67a1b2c3&hm=0'];
  const listed = { website, images: { avatar: signed } };

  it('has to be in ASCII if it is new, and should not expire @slow', async () => {
    const repo = catalogueOfTwo({
      [pagePath(homer)]: homers(listed, `![](${signed})`),
      'people/1.json': profile({ website }),
    });
    pullRequest(repo, {
      [pagePath(homer)]: homers({ ...listed, support: 'https://example.org/%zz' }, `![](${signed}0)`),
      [pagePath(lenny)]: lennys({ images: { preview: ['https://example.org/1.png', signed] } }),
      'people/1.json': profile({ website, name: 'Ada L.' }),
      'people/2.json': profile({ website }),
    });
    const { found, text } = await check(repo);
    deepStrictEqual(
      found.filter((line) => /address|expires/.test(line)),
      [
        `${pagePath(homer)} image-expires warning`,
        `${pagePath(homer)} address error`,
        `${pagePath(lenny)} image-expires warning`,
        'people/2.json address error',
      ],
    );
    match(text, /address support: "https:\/\/example.org\/%zz" has .*: write "https:\/\/example.org\/%25zz"/);
    match(text, /address website: "https:\/\/exämple.org\/" .*: write "https:\/\/xn--exmple-cua.org\/"/);
  });

  it('stays valid as it is listed', async () => {
    const repo = catalogueOfTwo({ [pagePath(homer)]: homers(listed, `![](${signed})`) });
    deepStrictEqual((await checkWorkTree(repo.folder)).found, []);
    strictEqual((await botshelf(repo.folder, ['check'])).code, 0);
    const other = { ...listed, support: 'https://example.org/' };
    pullRequest(repo, { [pagePath(homer)]: homers(other, `![](${signed})`) });
    doesNotMatch((await check(repo)).text, /address|image-expires/);
  });
});

describe('a token in a pull request is found', () => {
  it('in a page, in any other file, in a file’s name @slow', async () => {
    const repo = catalogueOfTwo();
    const { folder } = repo;
    pullRequest(repo, {
      [pagePath(homer)]: mainPage({}, `# Homer\n\nÄ ${token}\n`),
      'scripts/post.sh': `${'#'.repeat(1024 * 1024 - 20)}\n curl -H 'Authorization: ${token}'\n`,
      [`notes/${token}.txt`]: '',
      [`bots/001/${token}.md`]: '',
      [pagePath(lenny)]: mainPage({ category: token }),
    });
    const { stdout: text } = await botshelf(folder, ['check', '--base=main', '--head=pull']);
    match(text, /^bots:1:1 token the name of a file looks like a bot token/m);
    match(
      text,
      /^bots\/312\/190519304972663312\.en\.md:16:3 token this looks like a bot token: .+ \(commit [0-9a-f]{10} adds it: /m,
    );
    match(text, /^\.\/scripts\/post\.sh:2:26 token /m);
    ok(!text.includes(token));
    for (const kind of ['github', 'json']) {
      const { stdout } = await botshelf(folder, ['check', '--base=main', '--head=pull', `--format=${kind}`]);
      ok(stdout.includes('post.sh') && !stdout.includes(token), kind);
    }
  });

  it('in a commit that a later one took back, and in a commit’s message @slow', async () => {
    const repo = catalogueOfTwo();
    commitTo(
      repo,
      { changes: { 'notes.txt': `${token}\n` } },
      { changes: { 'notes.txt': null } },
      { message: `Try\n\n${token} did not work` },
    );
    const withHead = await check(repo);
    repo.git('switch', '-q', 'pull');
    for (const { passes, text } of [withHead, await checkWorkTree(repo.folder)]) {
      ok(!passes);
      match(text, /^bots:1:1 token the message of commit [0-9a-f]{10} holds .+ reword that commit$/m);
      match(
        text,
        /^\.\/notes\.txt:1:1 token this looks like .+ \(commit [0-9a-f]{10} adds it: remove it from that commit too\)$/m,
      );
      ok(!text.includes(token));
    }
  });

  it('in what a merge brings of its own, and not in what main has', async () => {
    const repo = catalogueOfTwo();
    commitTo(
      repo,
      { changes: { 'a.txt': 'a' } },
      { branch: 'main', changes: { 'main.txt': token } },
      { merged: 'main', changes: { 'main.txt': token, 'merge.txt': token } },
    );
    deepStrictEqual((await check(repo)).found, ['a.txt outside-bots notice', 'merge.txt token error']);
  });
});

describe('a maintainer is informed of a pull request', () => {
  it('that changes files outside bots/, and warned where they decide how changes are checked', async () => {
    const owners = '* @octocat\n/bots/**\n'.repeat(5);
    const repo = catalogueOfTwo({
      '.github/CODEOWNERS': owners,
      'notes.txt': 'a',
      '.gitlab-ci.yml': 'a',
      'docs/gone': 'a',
    });
    const added = '.forgejo/workflows/x.yml .github/workflows/catalogue.yml Jenkinsfile'.split(' ');
    pullRequest(repo, {
      ...Object.fromEntries(added.map((path) => [path, 'on: pull_request\n'])),
      '.github/CODEOWNERS': null,
      owners,
      '.gitlab-ci.yml': null,
      'docs/gone': null,
      'notes.txt': 'b',
      'scripts/.github/x': '',
    });
    const { passes, found, messages } = await check(repo);
    ok(passes);
    const [first, ...deciding] = [...added, '.github/CODEOWNERS', '.gitlab-ci.yml'].toSorted();
    deepStrictEqual(found, [`${first} checks-changed warning`, 'docs/gone outside-bots notice']);
    for (const path of deciding) ok(messages[0]?.includes(`"${path}"`), path);
    match(messages[1] ?? '', /^this, "notes\.txt", "owners" and "scripts\/\.github\/x" are outside bots\/: /);
  });

  it('that has a commit with the trailers of a service', async () => {
    const repo = catalogueOfTwo();
    const changes = { [pagePath(homer)]: homers({ nsfw: true }) };
    commitTo(repo, { changes, message: 'Edit\n\nBot: 7\nProposed-by: 7' });
    const { found, messages } = await check(repo);
    deepStrictEqual(found, ['bots service-trailer notice']);
    match(messages[0] ?? '', /^the message of commit [0-9a-f]{10} has "Bot:" as a service writes it/);
  });

  it('that adds a bot whose invite or name another has, whatever the case, accents, punctuation and other parameters', async () => {
    const invite = 'https://www.discordapp.com/api/oauth2/authorize?permissions=8&client_id=77';
    const { passes, found, messages, text } = await checkChange({
      [pagePath('7')]: mainPage({ name: 'LÉNNY', invite }),
      [pagePath('8')]: mainPage({ name: 'homere', invite: 'https://EXAMPLE.org/lenny/' }),
      [pagePath('9')]: mainPage({ name: 'Н\u043Emer', invite: 'https://example.org/9' }),
      [pagePath('10')]: mainPage({ name: 'New', invite: 'https://example.org/10' }),
      [pagePath('11')]: mainPage({ name: '| Lenny |', invite: 'https://example.org/11' }),
    });
    ok(passes);
    deepStrictEqual(found, [
      `${pagePath('7')} name-taken warning`,
      `${pagePath('7')} invite-other-bot warning`,
      `${pagePath('7')} invite-taken warning`,
      `${pagePath('8')} name-taken warning`,
      `${pagePath('8')} invite-taken warning`,
      `${pagePath('9')} name-taken warning`,
      `${pagePath('11')} name-taken warning`,
    ]);
    match(messages[0] ?? '', /^name: "LÉNNY" is the name of bots\/011\/11\.en\.md and 1 more already, or /);
    match(messages[1] ?? '', /^invite adds the bot 77, not 7: correct the link, or set oauth to 77/);
    match(messages[2] ?? '', /^invite: bots\/312\/190519304972663312\.en\.md adds the same bot already: /);
    match(text, /^bots\/007\/7\.en\.md:3:11 name-taken warning: name: /m);
    match(text, /^5 files, 0 faults, 7 warnings$/m);
  });

  it('that adds a bot whose ID begins with zeros', async () => {
    const { found, messages } = await checkChange({ [pagePath('0042')]: mainPage({ name: 'Zero' }) });
    deepStrictEqual(found, [`${pagePath('0042')} id-zeros notice`]);
    match(messages[0] ?? '', /^0042 is another bot than 42: leave the zeros out/);
  });

  it('that adds a bot whose name several have, however it is written', async () => {
    const named = (name: string): string => mainPage().replace('"name": "Homer"', name);
    const repo = catalogueOfTwo({
      [pagePath('4')]: named(String.raw`"name": "\x", "name": "\u"`),
      [pagePath('5')]: named(String.raw`"name" :"Se\u0076en"`),
      [pagePath('6')]: named('"name":"SEVEN"'),
    });
    const seven = (id: string): string => mainPage({ name: 'Seven', invite: `https://example.org/${id}` });
    pullRequest(repo, {
      [pagePath('7')]: seven('7'),
      [pagePath('8')]: seven('8'),
      [pagePath('7', 'fr')]: translation('Seven', 'Répond.'),
    });
    const { found, messages } = await check(repo);
    deepStrictEqual(found, [`${pagePath('7')} name-taken warning`, `${pagePath('8')} name-taken warning`]);
    const others = messages.map(
      (message) => /^name: "Seven" is the name of (.+) already, or looks like it: /.exec(message)?.[1],
    );
    deepStrictEqual(others, ['bots/005/5.en.md and 2 more', 'bots/005/5.en.md and 3 more']);
  });

  it('that takes out a bot, also one whose page cannot be parsed, or moves out of bots/', async () => {
    const repo = catalogueOfTwo({ [pagePath('5')]: 'no page' });
    pullRequest(repo, { [pagePath('5')]: null, [pagePath(lenny)]: null, 'lenny.md': lennys() });
    const { passes, found, messages } = await check(repo);
    ok(passes);
    deepStrictEqual(found, [
      `${pagePath('5')} bot-removed notice`,
      `${pagePath(lenny)} bot-removed notice`,
      'lenny.md outside-bots notice',
    ]);
    match(messages[0] ?? '', /^this removes a bot from the catalogue: /);
    match(messages[1] ?? '', /^this removes "Lenny" from the catalogue: /);
  });

  it('of rights before all else, and with one notice for all files outside bots/', async () => {
    const pages = Array.from({ length: 12 }, (_, i) => [pagePath(String(i + 1)), mainPage({ nsfw: true })]);
    const repo = catalogueOfTwo(Object.fromEntries(pages) as Record<string, string>);
    const changed = pages.map(([path]) => [path, mainPage({ nsfw: 3 })]);
    const outside = Array.from({ length: 12 }, (_, i) => [`a${i}`, '']);
    pullRequest(repo, {
      ...(Object.fromEntries([...changed, ...outside]) as Changes),
      '.github/a': '',
      '.github/b': '',
      'people/7.json': '{"name": "Ned"}\n',
      [pagePath(lenny)]: lennys({ authors: ['1'] }),
    });
    const { found, messages } = await check(repo);
    deepStrictEqual(found.slice(0, 3), [
      `${pagePath(lenny)} authors-changed notice`,
      '.github/a checks-changed warning',
      'people/7.json profile-changed notice',
    ]);
    deepStrictEqual(
      found.filter((finding) => finding.includes('outside-bots')),
      ['a0 outside-bots notice'],
    );
    match(messages[1] ?? '', /^this and "\.github\/b" decide how /);
    match(messages.join('\n'), /^this, "a1", "a10", "a11", "a2", "a3" and 6 more are outside bots\/: /m);
  });

  it('with one of each rule of rights before the second of any', async () => {
    const own = (authors: string[]) =>
      Array.from({ length: 12 }, (_, i) => [pagePath(String(i + 1)), mainPage({ authors })] as const);
    const repo = catalogueOfTwo(Object.fromEntries(own(['1'])));
    pullRequest(repo, {
      ...Object.fromEntries(own(['1', '2'])),
      'botshelf.json': '{ "maintainers": ["1"] }',
      [pagePath(lenny)]: lennys({ verified: true }),
    });
    deepStrictEqual((await check(repo)).found.slice(0, 4), [
      `${pagePath('1')} authors-changed notice`,
      `${pagePath(lenny)} verified-changed notice`,
      'botshelf.json maintainers-changed notice',
      `${pagePath('2')} authors-changed notice`,
    ]);
  });

  it('that takes the last bot out, and it is refused where bots/ goes with it', async () => {
    const repo = testRepository({ [pagePath('7')]: mainPage() });
    pullRequest(repo, { [pagePath('7')]: null });
    const removed = `${pagePath('7')} bot-removed notice`;
    const { passes, found, messages, text } = await check(repo);
    ok(!passes);
    deepStrictEqual(found, [removed, 'bots bots-folder error']);
    match(messages[1] ?? '', /^this leaves no file in bots\/.*: add an empty file bots\/\.gitkeep$/);
    match(text, /^bots:1:1 bots-folder this leaves /m);
    pullRequest(repo, { [pagePath('7')]: null, 'bots/.gitkeep': '' });
    deepStrictEqual((await check(repo)).found, [removed]);
  });

  it('whatever grep and diff are configured to do in the person’s Git', async () => {
    const repo = catalogueOfTwo();
    const [ran, program] = ['var/ran', 'var/program'].map((path) => join(repo.folder, path)) as [
      string,
      string,
    ];
    repo.write('var/program', `#!/bin/sh\ntouch '${ran}'\n`);
    chmodSync(program, 0o755);
    repo.git('switch', '-q', '-c', 'pull');
    repo.commit({ x: '' });
    repo.write(pagePath('7'), mainPage({ name: 'lenny', invite: 'https://example.org/7' }));
    const config = `[grep]
lineNumber = true
column = true
fullName = true
[color]
ui = always
[submodule]
recurse = true
[diff]
renames = copies
mnemonicPrefix = true
external = ${program}
[core]
quotePath = true
fsmonitor = ${program}
`;
    repo.write('.git/config', `${repo.read('.git/config')}${config}`);
    const text = (await checkWorkTree(repo.folder)).text;
    match(text, /^bots\/007\/7\.en\.md:3:11 name-taken warning/m);
    match(text, /^1 file, 0 faults, 1 warning, 1 notice$/m);
    strictEqual(existsSync(ran), false);
  });
});

describe('a maintainer is informed of a change of the settings', () => {
  const place = '{\n  "name": "A",\n  "maintainers": ["1"]\n}\n';

  it('in a pull request that removes the file, but not in one about the logo alone @slow', async () => {
    const settings = { logo: 'logo.png', maintainers: ['1'], proposals: { authors: 'publish' } };
    const repo = catalogueOfTwo({ 'botshelf.json': JSON.stringify(settings), 'logo.png': 'no picture' });
    pullRequest(repo, { 'botshelf.json': null });
    const { passes, messages } = await check(repo);
    ok(passes);
    match(messages[0] ?? '', /^maintainers removes "1": /);
    repo.git('switch', '-q', '-c', 'logo');
    repo.commit({ 'logo.png': await sampleImage() });
    deepStrictEqual((await check(repo, 'logo')).found, ['logo.png outside-bots notice']);
  });

  it('in which the settings have a fault, and in one that mends them, where they cannot be compared @slow', async () => {
    const { passes, found, messages } = await checkChange({ 'botshelf.json': '{"maintainers": [4]}' });
    ok(!passes);
    deepStrictEqual(found, ['botshelf.json type error']);
    match(messages[0] ?? '', /^maintainers\[0\]: /);
    const repo = catalogueOfTwo({ 'botshelf.json': '{' });
    repo.write('botshelf.json', place);
    pullRequest(repo, { 'botshelf.json': place });
    for (const { passes, text } of [await check(repo), await checkWorkTree(repo.folder)]) {
      ok(passes);
      strictEqual(
        text.split('\n')[0],
        './botshelf.json:3:18 former-settings warning: botshelf.json had a fault before this change: compare maintainers and proposals with its last version without one (git log -p)',
      );
    }
  });
});
