import { deepStrictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { checkAttributes } from '../../src/check/history-rules.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import type { Target } from './fuzzer.ts';
import { split } from './words.ts';

const dangerous = ['filter', 'diff', 'merge', 'working-tree-encoding', 'ident'];

/** A `.gitattributes` that makes Git run a program, rewrite a file or fail is refused: the whole input, and each of its lines. */
export function openAttributes(): Target {
  const repo = testRepository();
  return {
    words: split(
      '* *.md x.md "*.md" "*.\\155d" *.m[!#] [attr]m [attr]filter "[attr]m" # ! !* - = filter=x diff=x merge=union working-tree-encoding=UTF-16 working-tree-encoding ident text -text eol=lf m binary !ident -ident ident=x filter diff -merge set unset unspecified \u2028 \u2029 \u00a0 \f \v \0 \r \\',
    ).flatMap((word) => [word, ` ${word}`, `\t${word} `, `\n*.md ${word}`]),
    maxLength: 3000,
    test: (input) => {
      const text = input.toString();
      const texts = [text, ...text.split('\n')];
      const applied = findApplied(repo, texts);
      deepStrictEqual(
        applied.filter((one) => checkAttributes('.gitattributes', Buffer.from(one)).length === 0),
        [],
      );
    },
  };
}

/** Returns those of these texts of files that do something dangerous to a page next to them. */
function findApplied(repo: TestRepository, texts: readonly string[]): string[] {
  const [first = ''] = write(repo, texts);
  const asked = texts.map((_, index) => `${index}/x.md\0`).join('');
  const applied = applies(repo.folder, ['check-attr', '-z', '--stdin', ...dangerous], asked);
  // Only the file at the top of a repository may have macros.
  const options = [
    '-c',
    `core.attributesFile=${join(repo.folder, first)}`,
    'check-attr',
    '-z',
    '--stdin',
    ...dangerous,
  ];
  const atTop =
    texts[0]?.includes('[attr]') === true ? applies(repo.folder, options, 'top/x.md\0').map(() => 0) : [];
  return [...applied.map((path) => Number.parseInt(path, 10)), ...atTop].map((index) => texts[index] ?? '');
}

/** Writes each of these texts as the file of a folder, and returns the paths. */
function write(repo: TestRepository, texts: readonly string[]): string[] {
  return texts.map((text, index) => {
    const path = `${index}/.gitattributes`;
    repo.write(path, text);
    return path;
  });
}

/** Returns the paths that have an attribute with which Git runs a program, rewrites a file or fails. */
function applies(folder: string, args: readonly string[], input: string): string[] {
  const output = execFileSync('git', args, {
    cwd: folder,
    input,
    encoding: 'utf8',
    stdio: 'pipe',
    maxBuffer: 2 ** 28,
  });
  return [...output.matchAll(/([^\0]*)\0([^\0]*)\0([^\0]*)\0/g)]
    .filter(([, , attribute = '', value = '']) => isDangerous(attribute, value))
    .map(([, path = '']) => path);
}

function isDangerous(attribute: string, value: string): boolean {
  if (value === 'unspecified' || value === 'unset') return false;
  if (attribute === 'ident') return value === 'set';
  // A value of no characters names no driver and no encoding.
  return value !== '' && (value !== 'set' || attribute === 'working-tree-encoding');
}
