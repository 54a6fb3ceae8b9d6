import { deepStrictEqual, ok } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { type Arbitrary, array, constant, constantFrom, oneof, sample, tuple } from 'fast-check';
import { findingsOfAttributes } from '../../src/check/attribute-rules.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';

const dangerous = ['filter', 'diff', 'merge', 'working-tree-encoding', 'ident'];

describe('a .gitattributes is read as Git reads it', () => {
  it('so that no special character hides what rewrites files', async () => {
    const lines = [
      '*.m[!#\u2028#] text working-tree-encoding=UTF-16',
      '*.m[!#\u2029#] filter=x',
      '\u00A0# *.md ident',
      '*.md filter=\u2028',
      '"*.md"ident',
      '"*.\\155d"\tmerge=x',
      '*.md ident\0x',
      '*.md working-tree-encoding',
      '\uFEFF"*.md"ident',
      '# a comment\n\r*.md\tident\r',
    ];
    deepStrictEqual(await refusedOf(lines), lines);
  });

  it('and what it does not apply is not refused', async () => {
    const lines = [
      '*.md text eol=lf -diff !filter -ident',
      '\t# *.md ident',
      '\r#*.md filter=x',
      'ident text',
      '*.md ident=x',
      '*.md text\0 ident',
      '*.md\fident',
      '*.md ident\u00A0',
      'a\n',
      '',
    ];
    deepStrictEqual(await refusedOf(lines), []);
  });

  it('of a work tree, where one that cannot be read is left out and one of more than 64 KiB is refused', async () => {
    const { folder, write } = withFiles([]);
    const [path, size] = ['a/.gitattributes', 64 * 1024];
    const check = async (): Promise<string[]> =>
      (await findingsOfAttributes(folder, [{ path, kind: 'file', blob: null }])).map(({ rule }) => rule);
    deepStrictEqual(await check(), []);
    write(path, '#'.repeat(size));
    deepStrictEqual(await check(), []);
    write(path, '#'.repeat(size + 1));
    deepStrictEqual(await check(), ['git-attributes']);
  });

  it('in a thousand generated lines, of which none that Git applies passes', async () => {
    const lines = sample(line, { numRuns: 1000, seed: 22 });
    const repo = withFiles(lines);
    // As `git add` does, but unchanged: some of them make it fail.
    const ids = run(
      repo.folder,
      ['hash-object', '-w', '--no-filters', '--stdin-paths'],
      pathsOf(lines).join('\n'),
    );
    const entries = ids
      .trim()
      .split('\n')
      .map((id, index) => `100644 ${id} 0\t${index}/.gitattributes\n`);
    run(repo.folder, ['update-index', '--index-info'], entries.join(''));
    const asked = lines.map((_, index) => `${index}/x.md\0`).join('');
    const applied = new Set<string>();
    for (const source of [[], ['--cached']])
      for (const path of applies(
        repo.folder,
        ['check-attr', '-z', '--stdin', ...source, ...dangerous],
        asked,
      ))
        applied.add(lines[Number.parseInt(path, 10)] ?? '');
    // Only the file at the top of a repository may have macros.
    for (const [index, text] of lines.entries()) {
      if (!text.includes('[attr]')) continue;
      const file = join(repo.folder, `${index}/.gitattributes`);
      const options = ['-c', `core.attributesFile=${file}`, 'check-attr', '-z', '--stdin', ...dangerous];
      if (applies(repo.folder, options, 'x.md\0').length > 0) applied.add(text);
    }
    const refused = new Set(await refusedOf(lines));
    deepStrictEqual(
      [...applied].filter((text) => !refused.has(text)),
      [],
    );
    const passed = new Set(lines).size - refused.size;
    ok(applied.size > 100 && passed > 100, `${applied.size} apply, ${passed} pass`);
  });
});

/** Returns those of these texts of files that are refused. */
async function refusedOf(texts: readonly string[]): Promise<string[]> {
  const changes = pathsOf(texts).map((path) => ({ path, kind: 'file' as const, blob: null }));
  const findings = await findingsOfAttributes(withFiles(texts).folder, changes);
  return findings.map(({ path }) => texts[Number.parseInt(path, 10)] ?? '');
}

/** Returns a repository whose work tree has each of these texts as the file of a folder. */
function withFiles(texts: readonly string[]): TestRepository {
  const repo = testRepository();
  for (const [index, path] of pathsOf(texts).entries()) repo.write(path, texts[index] ?? '');
  return repo;
}

function pathsOf(texts: readonly string[]): string[] {
  return texts.map((_, index) => `${index}/.gitattributes`);
}

function run(cwd: string, args: readonly string[], input: string): string {
  return execFileSync('git', args, { cwd, input, encoding: 'utf8', stdio: 'pipe', maxBuffer: 2 ** 28 });
}

/** Returns the paths that have an attribute with which Git runs a program, rewrites a file or fails. */
function applies(folder: string, args: readonly string[], input: string): string[] {
  return [...run(folder, args, input).matchAll(/([^\0]*)\0([^\0]*)\0([^\0]*)\0/g)]
    .filter(([, , attribute = '', value = '']) => isDangerous(attribute, value))
    .map(([, path = '']) => path);
}

function isDangerous(attribute: string, value: string): boolean {
  if (value === 'unspecified' || value === 'unset') return false;
  if (attribute === 'ident') return value === 'set';
  // A value of no characters names no driver and no encoding.
  return value !== '' && (value !== 'set' || attribute === 'working-tree-encoding');
}

const odd = constantFrom(...'\u2028 \u2029 \u00A0 \r \f \v \0 " # \uFEFF \\ \n'.split(' '));
const blank = constantFrom(' ', ' ', ' ', '\t', '\r', '  ');
const pattern = constantFrom(
  ...'* *.md x.md "*.md" "*.\\155d" "* *.m[!#] [attr]m [attr]filter "[attr]m" # !*'.split(' '),
);
const rewriting = 'filter=x diff=x merge=union working-tree-encoding=UTF-16 working-tree-encoding ident';
const harmless = 'text -text eol=lf m binary !ident -ident ident=x filter diff -merge -merge';
const attribute = constantFrom(...rewriting.split(' '), ...harmless.split(' '));
const seldom = (arb: Arbitrary<string>): Arbitrary<string> =>
  oneof({ weight: 6, arbitrary: constant('') }, { weight: 1, arbitrary: arb });

/** A line of the file, or two: the second uses a macro that the first may define. */
const line = tuple(
  tuple(seldom(odd), seldom(blank), pattern, seldom(odd)),
  array(
    tuple(oneof({ weight: 8, arbitrary: blank }, { weight: 1, arbitrary: odd }), attribute, seldom(odd)),
    { minLength: 1, maxLength: 3 },
  ),
  constantFrom('', '\n', '\n*.md m'),
).map(([start, attributes, end]) => start.join('') + attributes.flat().join('') + end);
