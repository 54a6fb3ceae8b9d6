import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { takeInstanceLock } from '../../src/git/branch/instance-lock.ts';
import { readCases } from '../support/fixture-lines.ts';
import { cleanUp } from '../support/cleanup.ts';
import { botshelf } from '../support/command-line.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { homerKeys, mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder, writeFiles } from '../support/temp-folder.ts';
import { readPackageFile } from '../support/package-files.ts';

/** A catalogue without bots. */
function catalogue(files: Readonly<Record<string, string>> = {}): TestRepository {
  return testRepository({ 'bots/.gitkeep': '', ...files });
}

/** A folder with a list and a mapping that reads every key by its own name. */
function list(records: readonly object[], rules: object = {}): string {
  const folder = tempFolder();
  const keys = Object.keys(homerKeys).map((key) => [key, key]);
  writeFiles(folder, {
    'bots.ndjson': records.map((record) => `${JSON.stringify(record)}\n`).join(''),
    'map.json': JSON.stringify({ id: 'id', ...Object.fromEntries(keys), ...rules }),
  });
  return folder;
}

async function importFrom(folder: string, root: string, ...more: string[]): ReturnType<typeof botshelf> {
  return await botshelf(root, ['import', 'bots.ndjson', '--map', 'map.json', ...more], { cwd: folder });
}

describe('botshelf import', () => {
  it('commits the bots of a list in canonical form, and finds nothing to do the second time @slow', async () => {
    const { folder: root, ...repository } = catalogue();
    const folder = list([{ ...homerKeys, id: 7 }], { created: { from: 'none', else: 'now' } });
    const said = '1 record: 1 added, 0 replaced, 0 there already, 0 did not fit\n';
    deepStrictEqual(await importFrom(folder, root), { code: 0, stdout: said, stderr: '' });
    strictEqual(repository.git('log', '-1', '--format=%s %an'), 'Import 1 bot Botshelf');
    strictEqual(repository.status(), '');
    for (const args of [['check'], ['format', '--check']]) strictEqual((await botshelf(root, args)).code, 0);
    const { code, stdout } = await importFrom(folder, root);
    deepStrictEqual([code, stdout], [0, '1 record: 0 added, 0 replaced, 1 there already, 0 did not fit\n']);
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '2');
  });

  for (const { title, input, expected } of readCases('import-reports'))
    it(title, async () => {
      const [records, rules] = JSON.parse(input) as [object[], object];
      const filled = records.map((record) => ({ ...homerKeys, ...record }));
      const { code, stdout } = await importFrom(list(filled, rules), catalogue().folder);
      deepStrictEqual([`exit code ${code}`, ...stdout.trimEnd().split('\n')], expected);
    });

  it('leaves a bot with other pages alone, and replaces it but for created and translations where it is to @slow', async () => {
    const { folder: root, ...repository } = catalogue({
      [pagePath('7', 'de')]: mainPage({ created: 1 }),
      [pagePath('7', 'fr')]: translation('Homère', 'Répond.'),
    });
    const folder = list([{ ...homerKeys, id: '7', name: 'New' }]);
    const kept = await importFrom(folder, root);
    strictEqual(kept.code, 1);
    match(kept.stdout, /^bots\.ndjson:1 exists the bot is there with other pages: pass --replace/);
    const dry = await importFrom(folder, root, '--replace', '--dry-run');
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '1');
    const { code, stdout } = await importFrom(folder, root, '--replace');
    deepStrictEqual([code, stdout], [0, '1 record: 0 added, 1 replaced, 0 there already, 0 did not fit\n']);
    strictEqual(dry.stdout, stdout);
    strictEqual(repository.git('ls-files', 'bots/007'), `${pagePath('7', 'en')}\n${pagePath('7', 'fr')}`);
    match(repository.read(pagePath('7')), /"name": "New",[^]*"created": 1,/);
    for (const more of [['--replace'], []])
      strictEqual(
        (await importFrom(folder, root, ...more)).stdout,
        '1 record: 0 added, 0 replaced, 1 there already, 0 did not fit\n',
      );
  });

  it('takes the categories and languages that the settings allow, and nothing of who is blocked', async () => {
    const settings = { name: 'A', language: 'de', languages: ['de'], categories: { cats: { en: 'Cats' } } };
    const blocked = { accounts: { 5: {} }, hosts: { 'bad.example': { reason: 'scam' } } };
    const { folder: root, ...repository } = catalogue({
      'botshelf.json': JSON.stringify(settings),
      'blocked.json': JSON.stringify(blocked),
    });
    const cats = { ...homerKeys, category: 'cats' };
    const records = [
      { ...cats, id: '7' },
      { ...homerKeys, id: '8' },
      { ...cats, id: '9', authors: ['5'] },
      { ...cats, id: '10', invite: 'https://a.bad.example/' },
    ];
    const { code, stdout } = await importFrom(list(records), root);
    strictEqual(code, 1);
    match(stdout, /^bots\.ndjson:2 enum category: "fun" .*\n.*:3 blocked the account 5 is blocked/);
    match(stdout, /^bots\.ndjson:4 blocked the host bad\.example is blocked \(scam\)/m);
    strictEqual(repository.git('ls-files', 'bots/007', 'bots/008'), pagePath('7', 'de'));
  });

  it('reports every line of a table, and what it skipped', async () => {
    const folder = tempFolder();
    const head = 'id,name,description,authors,category,created,invite,page';
    const row = (id: number, page: string): string =>
      `${id},A,"Answers, often.",5,fun,1700000000000,https://a.example/,${page}`;
    writeFiles(folder, {
      'map.json': JSON.stringify(Object.fromEntries(head.split(',').map((key) => [key, key]))),
      'bots.csv': [head, row(1, '"not closed'), row(2, 'b'), row(3, '"c"'), ',,', row(4, 'd')].join('\n'),
    });
    const { folder: root } = catalogue();
    const { code, stdout } = await botshelf(root, ['import', 'bots.csv', '--map', 'map.json'], {
      cwd: folder,
    });
    strictEqual(code, 1);
    match(stdout, /^bots\.csv:2 record there is a quote that is not closed/);
    match(stdout, /^4 records: [12] added, .* [23] did not fit$/m);
    match(stdout, /^ {7}1 blank rows were skipped \(first: bots\.csv:5\)$/m);
  });

  it('makes a further record of a bot in another language one of its pages, also after a commit @long', async () => {
    const translation = { id: '7', locale: 'fr', name: 'Homère', description: 'Répond.', category: 'x' };
    const others = Array.from({ length: 1000 }, (_, i) => ({ ...homerKeys, id: `${100 + i}` }));
    const records = [{ ...homerKeys, id: '7', locale: 'en' }, translation, ...others];
    const late = { ...translation, locale: 'de' };
    const broken = { id: '7', locale: 'es', name: 'Homero' };
    const folder = list([...records, late, broken, late], { locale: { from: 'locale', else: 'en' } });
    const { folder: root, ...repository } = catalogue();
    const dry = await importFrom(folder, root, '--dry-run');
    const { stdout } = await importFrom(folder, root);
    strictEqual(stdout, dry.stdout);
    match(stdout, /^bots\.ndjson:1004 required "description" is missing: add it$/m);
    match(stdout, /^bots\.ndjson:1005 twice id: the bot is at bots\.ndjson:1 already/m);
    match(stdout, /^1,?005 records: 1,?003 added, 0 replaced, 0 there already, 2 did not fit$/m);
    const pages = ['de', 'en', 'fr'].map((locale) => pagePath('7', locale));
    strictEqual(repository.git('ls-files', 'bots/007/7.*'), pages.join('\n'));
    strictEqual((await botshelf(root, ['check'])).code, 0);
    match((await importFrom(folder, root, '--replace')).stdout, /: 0 added, /);
  });

  it('takes an object around a list for no bot, whose people could then manage it', async () => {
    const bots = ['7', '8'].map((id) => ({ ...homerKeys, id, owners: [{ id: '5' }, { id: '6' }] }));
    const { folder: root, ...repository } = catalogue();
    const folder = list(
      [{ data: { bots } }, { name: 'No id', owners: [{ id: '9' }] }, { id: '1', similar: bots }],
      { authors: 'owners[].id' },
    );
    const { stdout } = await importFrom(folder, root);
    match(stdout, /^bots\.ndjson:2 id id: "" is not an id: write 1 to 20 digits$/m);
    match(stdout, /^bots\.ndjson:3 required "authors" is missing: add it$/m);
    match(stdout, /^4 records: 2 added, 0 replaced, 0 there already, 2 did not fit$/m);
    const files = ['bots/.gitkeep', pagePath('7'), pagePath('8')];
    strictEqual(repository.git('ls-files', 'bots'), files.join('\n'));
    const map = { id: 'data.bots[0].id', authors: 'data.bots[].authors[0]' };
    writeFiles(folder, { 'map.json': JSON.stringify(map) });
    const { code, stdout: refused } = await importFrom(folder, root);
    strictEqual(code, 1);
    match(refused, /^bots\.ndjson:1 id id: data\.bots\[0\]\.id leads to several objects in one record: /);
  });

  it('brings back an export whose names look like entities or as if they had no value', async () => {
    const website = 'https://exämple.org/';
    const codehost = { owner: 'a/b', repo: 'c' };
    const exact = { ...homerKeys, name: 'Tom &amp; NULL', description: 'NULL', website, codehost };
    const { folder: root } = catalogue({ [pagePath('7')]: mainPage(exact) });
    const { stdout: table } = await botshelf(root, ['export', '--format', 'csv']);
    const { folder: copy, read } = catalogue();
    const folder = tempFolder({ 'bots.csv': table });
    const { stdout } = await botshelf(copy, ['import', 'bots.csv'], { cwd: folder });
    strictEqual(stdout, '1 record: 1 added, 0 replaced, 0 there already, 0 did not fit\n');
    const { name, description, ...rest } = frontMatter(read(pagePath('7')));
    deepStrictEqual([name, description, rest['website']], [exact.name, exact.description, website]);
    deepStrictEqual(rest['codehost'], codehost);
  });

  it('reports what is imported already where a later commit of it is refused @slow', async () => {
    const path = pagePath('2001');
    const { folder: root, git } = catalogue({ [path]: mainPage() });
    git('rm', '-q', '--cached', path);
    git('commit', '-qm', 'Remove');
    git('add', path);
    rmSync(join(root, path));
    const records = Array.from({ length: 1001 }, (_, i) => ({ ...homerKeys, id: String(1001 + i) }));
    deepStrictEqual(await importFrom(list(records), root), {
      code: 2,
      stdout: '1000 records: 1000 added, 0 replaced, 0 there already, 0 did not fit\n',
      stderr: `${path} has uncommitted edits: commit or discard them\nThis change was not made.\n`,
    });
    strictEqual(git('log', '-1', '--format=%s'), 'Import 1000 bots');
  });

  it('says what it cannot do, with exit code 2', async () => {
    const { folder: root } = catalogue();
    const folder = list([{ id: 1 }], { nmae: 'name' });
    const cases = [
      [root, ['bots.ndjson', '--map', 'map.json'], /map\.json:1:\d+ nmae: "nmae" is not a key: write "name"/],
      [root, ['none.csv'], /none\.csv/],
      [root, ['map.txt'], /map\.txt/],
      [tempFolder(), ['bots.ndjson'], /is in no Git repository/],
    ] as const;
    for (const [catalogue, args, message] of cases) {
      const { code, stdout, stderr } = await botshelf(catalogue, ['import', ...args], { cwd: folder });
      deepStrictEqual([code, stdout], [2, '']);
      match(stderr, message);
    }
    const { code, stdout } = await botshelf(root, ['import', 'bots.ndjson'], { cwd: folder });
    strictEqual(code, 1);
    match(stdout, /^bots\.ndjson:1 record this is no line of an export: pass a mapping with --map/);
  });

  it('fetches the pictures of the bots where that is asked for, and leaves it to a service that runs @slow', async () => {
    const pictures = { avatar: 'https://127.0.0.1/a.png', previews: ['https://[::1]/b.png'] };
    const rules = { 'images.avatar': 'avatar', 'images.preview': 'previews' };
    const folder = list([{ ...homerKeys, ...pictures, id: '7' }], rules);
    const alone = await importFrom(folder, catalogue().folder, '--images');
    match(alone.stdout, /1 added, .*\n0 of 2 images in .*\n2 could not be fetched: .*\n.*not public\n/);
    strictEqual(alone.code, 1);
    const { folder: root } = catalogue();
    const lock = await takeInstanceLock(join(root, 'var'));
    cleanUp(lock.release);
    const { code, stdout } = await importFrom(folder, root, '--images');
    strictEqual(code, 0);
    match(stdout, /1 added, .*\nthe images are fetched by the service that runs here\n$/);
  });
});

/** Imports a list with the mapping that is suggested for it, as it is. */
async function importUnseen(name: string, text: string): Promise<Unseen> {
  const cwd = tempFolder();
  const { folder: root, read } = catalogue();
  writeFiles(cwd, { [name]: text });
  const { stdout: map, stderr: remarks } = await botshelf(root, ['import', name, '--suggest'], { cwd });
  writeFiles(cwd, { 'map.json': map });
  const { stdout: report } = await botshelf(root, ['import', name, '--map', 'map.json'], { cwd });
  return { map: JSON.parse(map) as Unseen['map'], remarks, report, read };
}

interface Unseen {
  readonly map: Readonly<Record<string, unknown>>;
  readonly remarks: string;
  readonly report: string;
  readonly read: (path: string) => string;
}

/** The front matter of a page file. */
function frontMatter(page: string): Record<string, unknown> {
  return JSON.parse(page.split('\n---\n')[0]?.slice(4) ?? '') as Record<string, unknown>;
}

const snowflake = (i: number): string => String(190_519_304_972_000_000n + BigInt(i) * 7919n);
const invite = (i: number): string =>
  `https://discord.com/oauth2/authorize?client_id=${snowflake(i)}&scope=bot&permissions=0`;

describe('a suggested mapping that nobody has edited', () => {
  it('imports four of five of a list with prefixed authors, ids in invites only, and dates in several forms', async () => {
    const bots = Array.from({ length: 329 }, (_, i) => ({
      slug: `bot-${i}`,
      name: `Bot ${i}`,
      description: i % 20 === 1 ? 'Long. '.repeat(50) : `Does ${i} things &amp; more.`,
      authors: [
        ...(i % 20 === 2 ? [] : [`discord:${snowflake(1000 + i)}`]),
        ...(i % 3 === 2 ? [`github:user${i}`] : []),
      ],
      invite: i % 30 === 3 ? {} : { discord: invite(i), telegram: `https://t.me/bot${i}` },
      links: {
        web: i % 10 === 4 ? 'none' : `https://bot${i}.exämple.org/`,
        chat: `https://discord.gg/bot${i}`,
        code: i % 10 === 5 ? `https://gitlab.com/a/b${i}` : `https://github.com/user${i}/bot${i}`,
      },
      tags: ['moderation', 'fun'],
      added: ['2023-04-05T06:07:08Z', 1_680_674_828, 'Apr 5, 2023', '4/5/2023'][i % 4],
    }));
    const { map, remarks, report, read } = await importUnseen(
      'bots.json',
      JSON.stringify({ version: 2, data: { bots }, contributors: [{ id: snowflake(5), name: 'Ada' }] }),
    );
    deepStrictEqual(map['id'], 'invite.discord');
    deepStrictEqual(map['authors'], { from: 'authors[]', strip: 'discord:', invalid: 'leave out' });
    match(
      remarks,
      /^authors: authors\[\]: 109 of \d+ values are no ids, first "github:user2": what is not allowed is left out$/m,
    );
    match(report, /^329 records: 284 added, 0 replaced, 0 there already, 45 did not fit$/m);
    match(report, /^ {6}\d\d left-out authors$/m);
    match(
      report,
      /^bots\.json\[0\] converted description: "Does 0 .* &amp; .* is "Does 0 .* & more\." here$/m,
    );
    const { created, ...rest } = frontMatter(read(pagePath(snowflake(8))));
    strictEqual(created, Date.parse('2023-04-05T06:07:08Z'));
    deepStrictEqual(rest, {
      name: 'Bot 8',
      description: 'Does 8 things & more.',
      authors: [snowflake(1008)],
      category: 'moderation',
      codehost: { owner: 'user8', repo: 'bot8' },
      invite: invite(8),
      support: 'https://discord.gg/bot8',
      website: 'https://bot8.xn--exmple-cua.org/',
    });
  });

  it('imports a table with arrays in its cells, and cells that a database has filled in', async () => {
    const rows = [1, 2, 3, 4].map((i) =>
      [
        snowflake(i),
        `Bot ${i}`,
        `Does ${i} things.`,
        i % 2 === 0 ? `{${snowflake(51)},${snowflake(52)}}` : `"[""${snowflake(51)}"",${snowflake(52)}]"`,
        '"{""Role Management"",Music}"'.replace(i === 3 ? 'Music' : '', i === 3 ? 'Fun' : ''),
        i === 2 ? 'NULL' : 'https://a.example/',
        i === 1 ? '\\N' : '!',
      ].join('\t'),
    );
    const { report, read } = await importUnseen(
      'bots.tsv',
      ['bot_id\tname\tsummary\towners\ttags\twebsite\tprefix', ...rows].join('\n'),
    );
    strictEqual(report, '4 records: 4 added, 0 replaced, 0 there already, 0 did not fit\n');
    const [first, second] = [1, 2].map((i) => frontMatter(read(pagePath(snowflake(i)))));
    deepStrictEqual(first?.['authors'], [snowflake(51), snowflake(52)]);
    deepStrictEqual(second?.['authors'], first?.['authors']);
    deepStrictEqual([first?.['trigger'], second?.['trigger']], [undefined, { prefix: ['!'] }]);
    deepStrictEqual([first?.['website'], second?.['website']], ['https://a.example/', undefined]);
  });
});

describe('the document about lists', () => {
  const text = readPackageFile('docs/import.md');

  it('has examples that print what it says', async () => {
    const folder = tempFolder();
    for (const [, name = '', content = ''] of text.matchAll(
      /^`([\w./]+)`[^`]*(?:`[^`]*`)?[^`]*:\n\n```\w+\n([^]*?)```$/gm,
    ))
      writeFiles(folder, { [name]: content });
    const commands = [...text.matchAll(/^`botshelf (.*)` prints\n\n```text\n([^]*?)```$/gm)];
    strictEqual(commands.length, 2);
    for (const [, args = '', output] of commands) {
      const { folder: root } = catalogue();
      const { stdout, stderr } = await botshelf(root, args.split(' '), { cwd: folder });
      strictEqual(stdout, output, stderr);
      strictEqual((await botshelf(root, ['check'])).code, 0);
      rmSync(root, { recursive: true });
    }
  });
});
