import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { readCases } from '../support/fixture-lines.ts';
import { botshelf } from '../support/command-line.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const homer = '190519304972663312';
const good = { [pagePath(homer)]: mainPage(), [pagePath(homer, 'fr')]: translation('Homère', 'Répond.') };

function catalogue(files: Readonly<Record<string, string | Buffer>>): string {
  return tempFolder(files);
}

describe('botshelf check', () => {
  it('names every fault of every file with line, column, rule and fix, by path @slow', async () => {
    const root = catalogue({
      ...good,
      'bots/313/1313.en.md': mainPage({ category: 'fnu', nsfw: 'no' }),
      'bots/007/7.en.md': '---\n{\n  "name": "Lenny",,\n}\n---\n',
    });
    const { code, stdout } = await botshelf(root, ['check']);
    strictEqual(code, 1);
    const lines = [
      /^bots\/007\/7\.en\.md:3:19 json .+: .+/,
      /^bots\/313\/1313\.en\.md:8:15 enum category: "fnu" .+: choose moderation, /,
      /^bots\/313\/1313\.en\.md:11:11 type nsfw: .+: write true or false/,
      /^4 files, 3 faults$/,
    ];
    for (const [i, line] of stdout.trimEnd().split('\n').entries()) match(line, lines[i] ?? /^$/);
  });

  it('checks the settings with the whole catalogue, and where they are named', async () => {
    const root = catalogue({ ...good, 'botshelf.json': '{\n  "nmae": "Homers",\n  "language": "eo"\n}\n' });
    const fault = './botshelf.json:2:3 additionalProperties nmae: "nmae" is not a key: write "name"';
    for (const paths of [[], [join(root, 'botshelf.json')]]) {
      const { code, stdout } = await botshelf(root, ['check', ...paths]);
      deepStrictEqual([code, stdout], [1, `${fault}\n3 files, 1 fault\n`]);
    }
    strictEqual((await botshelf(root, ['check', join(root, 'bots')])).code, 1);
    const { stdout } = await botshelf(root, ['check', '--format=github']);
    match(stdout, /^::error file=botshelf\.json,line=2,col=3,title=additionalProperties::nmae: /);
  });

  it('names what several files do wrong together, or by their names or kinds', async () => {
    const root = catalogue({
      'bots/001/1.en.md': mainPage(),
      'bots/001/1.fr.md': mainPage(),
      'bots/002/2.en.md': translation('A', 'B'),
      'bots/002/2.fr.md': translation('A', 'B'),
      'bots/003/notes.txt': '',
      'bots/003/4.en.md': mainPage(),
      'bots/003/3.EN.md': mainPage(),
      'bots/README.md': '',
      'bots/004/deeper/4.en.md': mainPage(),
      'bots/.gitkeep/x': '',
      'bots/.gitattributes': '*.md filter=run',
      'bots/005/.gitattributes': '*.md filter=run',
      'bots/006/module/.git': 'gitdir: ../x',
    });
    mkdirSync(join(root, 'bots/008'));
    symlinkSync('/etc/passwd', join(root, 'bots/008/8.en.md'));
    symlinkSync('/etc', join(root, 'bots/009'));
    execFileSync('mkfifo', [join(root, 'bots/008/1008.en.md')]);
    const { stdout } = await botshelf(root, ['check']);
    deepStrictEqual(stdout.match(/^bots\S+ \S+/gm), [
      'bots/.gitattributes:1:1 git-attributes',
      'bots/.gitkeep:1:1 stray-file',
      'bots/001/1.en.md:1:1 one-main-page',
      'bots/001/1.fr.md:1:1 one-main-page',
      'bots/002/2.en.md:1:1 one-main-page',
      'bots/003/3.EN.md:1:1 wrong-locale',
      'bots/003/4.en.md:1:1 wrong-folder',
      'bots/003/notes.txt:1:1 stray-file',
      'bots/004/deeper:1:1 stray-file',
      'bots/005/.gitattributes:1:1 git-attributes',
      'bots/006/module:1:1 submodule',
      'bots/008/1008.en.md:1:1 regular-file',
      'bots/008/8.en.md:1:1 regular-file',
      'bots/009:1:1 regular-file',
      'bots/README.md:1:1 stray-file',
    ]);
  });

  it('looks at the files and folders it is given, and at a bot as a whole', async () => {
    const root = catalogue({
      ...good,
      'bots/001/1.en.md': 'no page',
      'bots/001/1001.en.md': 'no page',
      'bots/002/2.en.md': 'no page',
    });
    const files = async (paths: string[], cwd = root): Promise<string[]> =>
      (await botshelf(root, ['check', ...paths], { cwd })).stdout.match(/(?<=bots\/\d+\/)\d+(?=.*:1:1)/g) ??
      [];
    deepStrictEqual(await files(['bots/001']), ['1', '1001']);
    deepStrictEqual(await files(['bots/001/1001.en.md', 'bots/002']), ['1001', '2']);
    deepStrictEqual(await files([join(root, 'bots/001/1.en.md')], tempFolder()), ['1']);
    deepStrictEqual(await files(['1.en.md'], join(root, 'bots/001')), ['1']);
    deepStrictEqual(await files(['.']), ['1', '1001', '2']);
    const { stdout } = await botshelf(root, ['check', pagePath(homer, 'fr')]);
    strictEqual(stdout, '2 files, 0 faults\n');
  });

  it('shares a large catalogue out among the processors and reports it as one @slow', async () => {
    const ids = Array.from({ length: 450 }, (_, i) => String(1000 + i));
    const files = ids.map((id, i) => [pagePath(id), i % 10 === 0 ? 'no page' : mainPage()]);
    const { code, stdout } = await botshelf(catalogue(Object.fromEntries(files)), ['check']);
    strictEqual(code, 1);
    deepStrictEqual(
      stdout.split('\n').map((line) => line.split(':', 1)[0]),
      [...ids.filter((_, i) => i % 10 === 0).map((id) => pagePath(id)), '450 files, 45 faults', ''],
    );
  });

  it('prints GitHub annotations, escaped as GitHub wants it', async () => {
    const root = catalogue({ 'bots/001/a,b:c%.md': '', 'bots/001/1.en.md': mainPage({ category: '50%' }) });
    const { code, stdout } = await botshelf(root, ['check', '--format', 'github']);
    const lines = stdout.split('\n');
    strictEqual(code, 1);
    match(lines[0] ?? '', /^::error file=bots\/001\/1\.en\.md,line=8,col=15,title=enum::category: "50%25" /);
    match(lines[1] ?? '', /^::error file=bots\/001\/a%2Cb%3Ac%25\.md,line=1,col=1,title=stray-file::/);
    strictEqual(lines[2], '2 files, 2 faults');
  });

  it('prints one JSON document', async () => {
    const root = catalogue({ ...good, 'bots/001/x.md': '' });
    const { code, stdout } = await botshelf(root, ['check', '--format=json']);
    const { files, faults } = JSON.parse(stdout) as { files: number; faults: Record<string, unknown>[] };
    strictEqual(code, 1);
    strictEqual(files, 3);
    deepStrictEqual(Object.keys(faults[0] ?? {}), ['path', 'line', 'column', 'rule', 'severity', 'message']);
    deepStrictEqual([faults[0]?.['path'], faults[0]?.['severity']], ['bots/001/x.md', 'error']);
  });

  /** A fault within a file, and one of a file whose name is no address. */
  const faulty = { 'bots/001/a b%.md': '', 'bots/001/1.en.md': mainPage({ category: 'fnu' }) };
  const faults = [
    { path: 'bots/001/1.en.md', line: 8, column: 15, rule: 'enum', message: /^category: "fnu" / },
    { path: 'bots/001/a b%.md', line: 1, column: 1, rule: 'stray-file', message: /: / },
  ];

  it('prints SARIF 2.1.0', async () => {
    const { code, stdout } = await botshelf(catalogue(faulty), ['check', '--format=sarif']);
    const { version, runs } = JSON.parse(stdout) as Sarif;
    deepStrictEqual([code, version, runs.length], [1, '2.1.0', 1]);
    const [{ tool, columnKind, results }] = runs;
    deepStrictEqual(tool.driver, { name: 'botshelf', rules: faults.map(({ rule }) => ({ id: rule })) });
    strictEqual(columnKind, 'utf16CodeUnits');
    strictEqual(results.length, 2);
    for (const [i, { path, line, column, rule, message }] of faults.entries()) {
      const { message: shown, ...result } = results[i] ?? { message: { text: '' } };
      match(shown.text, message);
      const artifactLocation = { uri: encodeURI(path) };
      const region = { startLine: line, startColumn: column };
      const locations = [{ physicalLocation: { artifactLocation, region } }];
      deepStrictEqual(result, { ruleId: rule, level: 'error', locations });
    }
  });

  it('prints what GitLab shows as code quality', async () => {
    const root = catalogue(faulty);
    const { code, stdout } = await botshelf(root, ['check', '--format=gitlab']);
    const entries = JSON.parse(stdout) as CodeQuality[];
    deepStrictEqual([code, entries.length], [1, 2]);
    for (const [i, { path, line, rule, message }] of faults.entries()) {
      const { description, fingerprint, ...entry } = entries[i] ?? { description: '', fingerprint: '' };
      match(description, message);
      match(fingerprint, /^[0-9a-f]{40}$/);
      const location = { path, lines: { begin: line } };
      deepStrictEqual(entry, { check_name: rule, severity: 'major', location });
    }
    strictEqual(new Set(entries.map(({ fingerprint }) => fingerprint)).size, 2);
    strictEqual((await botshelf(root, ['check', '--format=gitlab'])).stdout, stdout);
    strictEqual((await botshelf(catalogue(good), ['check', '--format=gitlab'])).stdout, '[]\n');
  });

  it('ends with 2 and one line that says what to do when it cannot check', async () => {
    const root = catalogue(good);
    for (const { input, expected } of readCases('check-refusals')) {
      const [args, env] = JSON.parse(input.replaceAll('ROOT', root)) as [string[], Record<string, string>];
      const run = await botshelf(root, ['check', ...args], { env });
      const stderr = `${expected.join('\n')}\n`.replaceAll('ROOT', root);
      deepStrictEqual(run, { code: 2, stdout: '', stderr });
    }
  });
});

interface Sarif {
  readonly version: string;
  readonly runs: readonly [SarifRun];
}

interface SarifRun {
  readonly tool: { readonly driver: object };
  readonly columnKind: string;
  readonly results: readonly { readonly message: { readonly text: string } }[];
}

type CodeQuality = Readonly<Record<'description' | 'fingerprint', string>>;
