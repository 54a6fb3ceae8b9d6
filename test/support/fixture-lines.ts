import { readFileSync } from 'node:fs';

/** The lines of a list in test/fixtures/, without the end of the last one. */
export function fixtureLines(name: string): string[] {
  const url = new URL(`./test/fixtures/${name}`, import.meta.resolve('#package'));
  return readFileSync(url, 'utf8').replace(/\n$/, '').split('\n');
}
