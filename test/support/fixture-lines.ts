import { readPackageFile } from './package-files.ts';

/** The lines of a list in test/fixtures/, without the end of the last one. */
export function fixtureLines(name: string): string[] {
  return readPackageFile(`test/fixtures/${name}`).replace(/\n$/, '').split('\n');
}

/** An input and the result that is expected. */
export interface Case {
  /** The comment above the input, or the input. */
  readonly title: string;
  readonly input: string;
  readonly expected: readonly string[];
}

/** The cases of a list in test/fixtures/cases/: an input is a line, and the lines below it that are indented are expected of it. */
export function readCases(name: string): Case[] {
  const cases: (Case & { expected: string[] })[] = [];
  let title: string | undefined;
  for (const line of fixtureLines(`cases/${name}.txt`))
    if (line.startsWith('# ')) title = line.slice(2);
    else if (line.startsWith('  ')) cases.at(-1)?.expected.push(line.slice(2));
    else if (line !== '') {
      cases.push({ title: title ?? line, input: line, expected: [] });
      title = undefined;
    }
  return cases;
}

/** Returns the text of an input, which is in quotes, as JSON, where it has several lines. */
export function unquote(input: string): string {
  return input.startsWith('"') ? (JSON.parse(input) as string) : input;
}
