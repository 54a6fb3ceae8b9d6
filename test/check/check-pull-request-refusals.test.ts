import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { deflateSync } from 'node:zlib';
import type { TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import {
  catalogueOfTwo,
  type Changes,
  check,
  checkChange,
  commitTo,
  lenny,
  lennys,
  pullRequest,
} from '../support/pull-request.ts';

const newBot = mainPage({ name: 'Seven', invite: 'https://example.org/7' });
const someId = '1'.repeat(40);

interface Case {
  /** What each commit changes. */
  readonly commits: readonly Changes[];
  readonly found: readonly string[];
  /** The beginnings of some messages, by the place of the finding. */
  readonly messages?: Readonly<Record<number, RegExp>>;
}

const cases: Readonly<Record<string, Case>> = {
  'a symbolic link, in bots/ and outside': {
    commits: [
      { [pagePath(lenny)]: { link: '/etc/passwd' }, 'bots/005': { link: '/etc' }, docs: { link: '/etc' } },
    ],
    found: ['bots/005 regular-file', `${pagePath(lenny)} regular-file`, 'docs regular-file'],
  },
  'a link in the place of bots/': {
    commits: [{ bots: { link: '/etc' } }],
    found: ['bots regular-file'],
  },
  'a submodule, in bots/, in the place of a page and outside': {
    commits: [
      {
        'bots/005/module': { module: someId },
        [pagePath('6')]: { module: someId },
        module: { module: someId },
        '.gitmodules': '[submodule "module"]\n\tpath = module\n\turl = https://example.org/x\n',
      },
    ],
    found: [
      '.gitmodules submodule',
      'bots/005/module submodule',
      `${pagePath('6')} submodule`,
      'module submodule',
    ],
  },
  'a .gitattributes that sets filters, drivers or an encoding, but not with one that sets none': {
    commits: [
      {
        '.gitattributes': '# filter=x\n* text=auto\n*.md filter=lfs diff=lfs -text\n',
        'a/.gitattributes': '*.md working-tree-encoding=UTF-16\n',
        'b/.gitattributes': '*.md merge=ours',
        'c/.gitattributes': '*.md text eol=lf\n*.png binary -diff\n',
        'd/.gitattributes': `${'#'.repeat(70_000)}\n`,
        'bots/.gitattributes': '*.md text\n',
        'bots/312/.gitattributes': '*.md text\n',
      },
    ],
    found: ['.', 'a/.', 'b/.', 'bots/.', 'bots/312/.', 'c/.', 'd/.'].map(
      (path) => `${path}gitattributes ${path === 'c/.' ? 'outside-bots notice' : 'git-attributes'}`,
    ),
    messages: { 0: /^"filter=lfs" makes Git run a program or rewrite files: remove it/ },
  },
  'a folder of files as bots/.gitkeep': {
    commits: [
      {
        'bots/.gitkeep/.gitattributes': '* filter=lfs\n',
        'bots/.gitkeep/large': 'x'.repeat(300_000),
        'bots/.gitkeep/passwd': { link: '/etc/passwd' },
      },
    ],
    found: [
      'bots/.gitkeep stray-file',
      'bots/.gitkeep/.gitattributes git-attributes',
      'bots/.gitkeep/passwd regular-file',
    ],
  },
  'a bots/.gitkeep that is not empty': {
    commits: [{ 'bots/.gitkeep': 'x'.repeat(300_000) }],
    found: ['bots/.gitkeep stray-file'],
  },
  'a link as bots/.gitkeep': {
    commits: [{ 'bots/.gitkeep': { link: '/dev/null' } }],
    found: ['bots/.gitkeep regular-file'],
  },
  'a folder botshelf.json, or a twin of bots/, of the settings or of var/ that differs only in case': {
    commits: [
      {
        ...Object.fromEntries(
          ['Bots/312/1.en.md', 'BotShelf.json', 'VAR/x', 'bot\u017F/x', 'a/Bots/x'].map((path) => [
            path,
            'x',
          ]),
        ),
        'botshelf.json/x': 'x',
      },
    ],
    found: [
      'BotShelf.json file-name',
      'Bots/312/1.en.md file-name',
      'VAR/x file-name',
      'a/Bots/x outside-bots notice',
      'botshelf.json/x regular-file',
      'bot\u017F/x file-name',
    ],
    messages: {
      1: /^"Bots" differs from bots only in case, .+: choose another name/,
      4: /^botshelf\.json is a file of the catalogue: remove the folder/,
    },
  },
  'files of the service’s own folder': {
    commits: [{ 'var/journal/1.ndjson': '{}\n' }],
    found: ['var/journal/1.ndjson service-folder'],
  },
};

/** Writes a blob that has its size by its header only, so that Git fails when anything reads it whole. */
function writeHollowBlob({ write }: TestRepository, start: string, size: number): { readonly blob: string } {
  const blob = start.padEnd(40, '0');
  write(`.git/objects/${blob.slice(0, 2)}/${blob.slice(2)}`, deflateSync(`blob ${size}\0begun`));
  return { blob };
}

describe('a pull request is refused', () => {
  for (const [what, { commits, found, messages = {} }] of Object.entries(cases))
    it(`with ${what}`, async () => {
      const checked = await checkChange(...commits);
      const toLine = (line: string): string => (line.endsWith(' notice') ? line : `${line} error`);
      deepStrictEqual(checked.found, found.map(toLine));
      strictEqual(checked.passes, false);
      for (const [at, message] of Object.entries(messages))
        match(checked.messages[Number(at)] ?? '', message);
    });

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

  it('with a file larger than a string can be, also one that a later commit takes away', async () => {
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
    match(takenAway.messages[2] ?? '', /^commit [0-9a-f]{10} adds a file of more than 10 MiB here: /);
    const { found, messages } = await check(repo, 'large');
    deepStrictEqual([...new Set(found)], takenAway.found);
    match(messages.join('\n'), /^the file has more than 262144 bytes: shorten the page$/m);
  });

  it('with a path that has a newline or control characters', async () => {
    const { print } = await checkChange({
      'bots/001/1.en.md\n::error::x': mainPage(),
      'a\n::error::b': '',
      'c\u001b[2J': '',
      'd\u202e': '',
    });
    deepStrictEqual(
      print('text')
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

  it('with a name that no disk can hold, and a path that is too long', async () => {
    const paths = [
      'n'.repeat(256),
      `bots/001/${'1'.repeat(300)}.en.md`,
      `docs/${'ü'.repeat(128)}`,
      `long${'/0123456789'.repeat(400)}`,
    ];
    const fine = ['f'.repeat(255), `deep${'/0123456789'.repeat(80)}`];
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
    const repo = catalogueOfTwo({ 'notes/a': 'a', 'docs/deep/b': 'b', plain: 'c', 'moved/d': long });
    pullRequest(repo, { notes: 'a', 'docs/deep': 'b', 'plain/deeper/c': 'c', moved: long, 'other/e': 'e' });
    const { found, messages } = await check(repo);
    deepStrictEqual(
      found.filter((line) => line.endsWith('error')),
      ['docs/deep', 'moved', 'notes', 'plain'].map((path) => `${path} kind-stays error`),
    );
    match(messages.join('\n'), /^this was a file and becomes a folder: choose another name/m);
  });

  it('with more than 1,000 files, and says so in one line', async () => {
    const repo = catalogueOfTwo();
    const ids = Array.from({ length: 1000 }, (_, id) => `bots/${String(id % 7).padStart(3, '0')}/${id}`);
    commitTo(
      repo,
      { branch: 'smaller', changes: Object.fromEntries(ids.map((path) => [path, ''])) },
      { from: 'smaller', changes: { 'bots/006/1000': '' } },
    );
    const { passes, print } = await check(repo);
    ok(!passes);
    match(
      print('text'),
      /^bots\/000\/0:1:1 change-size this change touches 1001 files, and at most 1000 are checked: split it/,
    );
    strictEqual(print('text').match(/:1:1 /g)?.length, 1);
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
    deepStrictEqual(found.slice(0, 2), ['bots change-size error', 'large0 outside-bots notice']);
    strictEqual(found.length, 53);
    match(messages[0] ?? '', /^the files of this change are more than 512 MiB together: /);
  });

  it('with commits that are too many to look through', async () => {
    const names = Array.from({ length: 2100 }, (_, i) => `long/${String(i).padEnd(4000, 'x')}`);
    const { found, messages } = await checkChange(Object.fromEntries(names.map((path) => [path, ''])), {
      long: null,
    });
    deepStrictEqual(found, ['bots change-size error']);
    match(messages[0] ?? '', /^this change has too many commits or file versions to look through: /);
  });
});
