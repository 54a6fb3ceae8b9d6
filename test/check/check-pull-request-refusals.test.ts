import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import { readCases } from '../support/fixture-lines.ts';
import { commitHugeTree } from '../support/huge-tree.ts';
import type { Changes, TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import {
  catalogueOfTwo,
  check,
  checkChange,
  commitTo,
  lenny,
  lennys,
  pullRequest,
} from '../support/pull-request.ts';

const newBot = mainPage({ name: 'Seven', invite: 'https://example.org/7' });
const someId = '1'.repeat(40);

/** Writes a blob that has its size by its header only, so that Git fails when anything reads it whole. */
function writeHollowBlob({ write }: TestRepository, start: string, size: number): { readonly blob: string } {
  const blob = start.padEnd(40, '0');
  write(`.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`, deflateSync(`blob ${size}\0begun`));
  return { blob };
}

describe('a pull request is refused', () => {
  it('with each path that has no place in a catalogue, as a link, a submodule or a filter @slow', async () => {
    const refused: Record<string, string> = { 'd/.gitattributes': 'git-attributes error' };
    const changes: [string, Changes[string]][] = [['d/.gitattributes', `${'#'.repeat(70_000)}\n`]];
    for (const { input, expected } of readCases('refused-paths')) {
      const [path, entry] = JSON.parse(input) as (typeof changes)[number];
      refused[path] = expected.join();
      changes.push([path, entry]);
    }
    const { passes, found, messages } = await checkChange(Object.fromEntries(changes));
    const expected = Object.entries(refused).map(([path, finding]) => `${path} ${finding}`);
    deepStrictEqual(found, expected.toSorted());
    ok(!passes);
    const text = messages.join('\n');
    match(text, /^"filter=lfs" makes Git run a program or rewrite files: remove it/m);
    match(text, /^"Bots" differs from bots only in case, .+: choose another name/m);
    match(text, /^botshelf\.json is a file of the catalogue: remove the folder/m);
  });

  for (const [title, main, next] of [
    ['with a tree of ten million paths, which share their folders', {}, {}],
    ['with such a tree in bots/, beside a change of main', { 'README.md': 'Hello' }, {}],
    ['with such a tree in a commit of which the next one removes it', {}, { huge: null }],
  ] as const)
    it(`${title}, before Git compares it`, async () => {
      const repo = catalogueOfTwo();
      commitHugeTree(repo, title.includes('bots/') ? 'bots' : 'huge', 'pull');
      if ('README.md' in main) commitTo(repo, { branch: 'main', changes: main });
      if ('huge' in next) commitTo(repo, { branch: 'pull', from: 'pull', changes: next });
      const { passes, found } = await check(repo);
      ok(!passes);
      deepStrictEqual(found, ['bots change-size error']);
    });

  for (const [title, changes, ...expected] of [
    ['a link in the place of bots/', { bots: { link: '/etc' } }, 'bots regular-file error'],
    [
      'a folder as bots/.gitkeep',
      {
        'bots/.gitkeep/.gitattributes': '* filter=lfs\n',
        'bots/.gitkeep/large': 'x'.repeat(300_000),
        'bots/.gitkeep/passwd': { link: '/etc/passwd' },
      },
      'bots/.gitkeep stray-file error',
      'bots/.gitkeep/.gitattributes git-attributes error',
      'bots/.gitkeep/passwd regular-file error',
    ],
    ['a file with a text as bots/.gitkeep', { 'bots/.gitkeep': 'x' }, 'bots/.gitkeep stray-file error'],
    ['a link as bots/.gitkeep', { 'bots/.gitkeep': { link: '/' } }, 'bots/.gitkeep regular-file error'],
  ] as const)
    it(`with ${title}`, async () => deepStrictEqual((await checkChange(changes)).found, expected));

  it('with a commit that has a link, a submodule or a filter, also when a later one takes it away', async () => {
    const added = {
      '.gitattributes': '*.md filter=lfs\n',
      [pagePath('9')]: { link: '/etc/passwd' },
      module: { module: someId },
    };
    const gone = Object.fromEntries(Object.keys(added).map((path) => [path, null]));
    const { passes, found, messages } = await checkChange(added, { ...gone, [pagePath('7')]: newBot });
    ok(!passes);
    deepStrictEqual(found, [
      '.gitattributes git-attributes error',
      `${pagePath('9')} regular-file error`,
      'module submodule error',
    ]);
    for (const message of messages)
      match(message, / \(commit [0-9a-f]{10} adds it: remove it from that commit too\)$/);
  });

  it('with a change of a bot of which another file is a link', async () => {
    const repo = catalogueOfTwo();
    commitTo(
      repo,
      { branch: 'main', changes: { [pagePath(lenny, 'fr')]: { link: '/etc/passwd' } } },
      { changes: { [pagePath(lenny)]: lennys({ nsfw: true }) } },
    );
    deepStrictEqual((await check(repo)).found, [`${pagePath(lenny, 'fr')} regular-file error`]);
  });

  it('with a file larger than a string can be, also one that a later commit takes away @slow', async () => {
    const repo = catalogueOfTwo();
    const blob = writeHollowBlob(repo, 'b16', 2 ** 29 + 1);
    commitTo(
      repo,
      { branch: 'large', changes: { [pagePath(lenny)]: blob, 'botshelf.json': blob, 'large.bin': blob } },
      { from: 'large', changes: { [pagePath(lenny)]: lennys(), 'botshelf.json': null, 'large.bin': null } },
    );
    const takenAway = await check(repo);
    ok(!takenAway.passes);
    deepStrictEqual(takenAway.found, [
      `${pagePath(lenny)} file-size error`,
      'botshelf.json file-size error',
      'large.bin file-size error',
    ]);
    match(takenAway.messages[2] ?? '', /^the file has more than 10 MiB: .+ \(commit [0-9a-f]{10} adds it: /);
    const { found, messages } = await check(repo, 'large');
    deepStrictEqual([...new Set(found)], takenAway.found);
    match(messages.join('\n'), /^the file has more than 262144 bytes: shorten the page$/m);
  });

  it('with a path that has a newline or control characters', async () => {
    const { text } = await checkChange({
      'bots/001/1.en.md\n::error::x': mainPage(),
      'a\n::error::b': '',
      'c\u001b[2J': '',
      'd\u202e': '',
    });
    deepStrictEqual(
      text
        .split('\n')
        .slice(0, 4)
        .map((line) => line.split(' ', 2).join(' ')),
      [
        './a\\u000a::error::b:1:1 file-name',
        'bots/001/1.en.md\\u000a::error::x:1:1 stray-file',
        './c\\u001b[2J:1:1 file-name',
        './d\\u202e:1:1 file-name',
      ],
    );
  });

  it('with a name that no disk can hold, and a path that is too long @slow', async () => {
    const names = `${'ü'.repeat(127)}x/`.repeat(4);
    strictEqual(Buffer.byteLength(names), 1024);
    const paths = [
      'n'.repeat(256),
      `${names}y`,
      `bots/001/${'1'.repeat(300)}.en.md`,
      `docs/${'ü'.repeat(128)}`,
      `long${'/0123456789'.repeat(400)}`,
    ];
    const fine = ['f'.repeat(255), `ä${names.slice(1, -2)}/y`];
    const { found, messages } = await checkChange(
      Object.fromEntries([...paths, ...fine].map((path) => [path, ''])),
    );
    deepStrictEqual(
      found.filter((line) => line.endsWith('file-name error')),
      paths.toSorted().map((path) => `${path.slice(0, 60)}… file-name error`),
    );
    match(messages.join('\n'), /^the path is too long for some disks: keep each name to 255 bytes/m);
  });

  it('with a file that becomes a folder, or a folder that becomes a file', async () => {
    const long = 'd'.repeat(100);
    const before = { 'notes/a': 'a', 'docs/deep/b': 'b', plain: 'c', 'moved/d': long, 'bots/007': '' };
    const repo = catalogueOfTwo(before);
    const after = { notes: 'a', 'docs/deep': 'b', 'plain/deeper/c': 'c', moved: long, 'other/e': 'e' };
    pullRequest(repo, { ...after, [pagePath('7')]: newBot });
    const { found, messages } = await check(repo);
    deepStrictEqual(
      found.filter((line) => line.endsWith('error')),
      ['docs/deep', 'moved', 'notes', 'plain'].map((path) => `${path} kind-stays error`),
    );
    match(messages.join('\n'), /^this was a file and becomes a folder: choose another name/m);
  });

  it('with more than 1,000 files, and says so in one line @slow', async () => {
    const repo = catalogueOfTwo();
    const ids = Array.from({ length: 1000 }, (_, id) => `bots/${String(id % 7).padStart(3, '0')}/${id}`);
    commitTo(
      repo,
      { branch: 'smaller', changes: Object.fromEntries(ids.map((path) => [path, ''])) },
      { from: 'smaller', changes: { 'bots/006/1000': '' } },
    );
    const { passes, text } = await check(repo);
    ok(!passes);
    match(text, /^bots\/000\/0:1:1 change-size this change touches 1001 files, and at most 1000 are checked/);
    strictEqual(text.match(/:1:1 /g)?.length, 1);
    strictEqual((await check(repo, 'smaller')).found.length, 1000);
  });

  it('with commits of more than 512 MiB, of which each file may be fine', async () => {
    const repo = catalogueOfTwo();
    const blobs = Array.from({ length: 52 }, (_, i) => [
      `large${i}`,
      writeHollowBlob(repo, `b${i + 100}`, 10 * 2 ** 20),
    ]);
    pullRequest(repo, Object.fromEntries(blobs) as Changes);
    const { found, messages } = await check(repo);
    deepStrictEqual(found, ['bots change-size error', 'large0 outside-bots notice']);
    match(messages[0] ?? '', /^the files of this change are more than 512 MiB together: /);
  });

  it('with a commit that is too long, or has an author with a long name @slow', async () => {
    for (const options of [{ message: 'x'.repeat(17_000) }, { committer: `A${' '.repeat(1000)}B` }]) {
      const repo = catalogueOfTwo();
      commitTo(repo, { changes: { [pagePath('7')]: newBot }, ...options });
      const { found, messages } = await check(repo);
      deepStrictEqual(found, ['bots commit-size error']);
      match(messages[0] ?? '', /^commit [0-9a-f]{10} has more than 16 KiB, or a header line of more than/);
    }
  });

  it('with a commit that is dated after tomorrow @slow', async () => {
    const now = Math.floor(Date.now() / 1000);
    for (const [seconds, found] of [
      [now + 90_000, ['bots future error']],
      [2 ** 53, ['bots future error']],
      [now + 80_000, []],
    ] as const) {
      const repo = catalogueOfTwo();
      commitTo(repo, { changes: { [pagePath('7')]: newBot }, at: seconds });
      const result = await check(repo);
      deepStrictEqual(result.found, found);
      if (found.length > 0)
        match(result.messages[0] ?? '', /^commit [0-9a-f]{10} is dated \d{4}-\d\d-\d\d: /);
    }
    const repo = catalogueOfTwo();
    const late = [2, 3].map((days) => {
      return { changes: { [pagePath('7')]: `${newBot}${days}` }, at: now + days * 86_400 };
    });
    commitTo(repo, ...late);
    match((await check(repo)).messages.join('\n'), /commit .*, commit [0-9a-f]{10} is dated .*: set/);
  });

  it('with commits that are too many to look through @slow', async () => {
    const names = Array.from({ length: 2100 }, (_, i) => `long/${String(i).padEnd(4000, 'x')}`);
    const { found, messages } = await checkChange(Object.fromEntries(names.map((path) => [path, ''])), {
      long: null,
    });
    deepStrictEqual(found, ['bots change-size error']);
    match(messages[0] ?? '', /^this change has too many commits or file versions to look through: /);
  });
});
