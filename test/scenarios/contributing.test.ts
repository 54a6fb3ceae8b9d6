import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { defaultCategories, readSchema } from '../../src/bot/schemas.ts';
import { parsePage } from '../../src/catalogue/page/page.ts';
import { parseSettings } from '../../src/catalogue/settings/settings.ts';
import { checkCatalogue, parseSideFiles, createFolderSource } from '../../src/check/check.ts';
import { printReport } from '../../src/commands/check.ts';
import { pagePath } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { packageFolder, readPackageFile } from '../support/package-files.ts';

describe('CONTRIBUTING.md', () => {
  const text = readPackageFile('CONTRIBUTING.md');

  const blockIn = (heading: string, block: RegExp): string =>
    block.exec(text.slice(text.indexOf(`\n${heading}`)))?.[1] ?? '';

  it('has an example that keeps every rule', async () => {
    const example = exampleIn(text);
    const catalogue = tempFolder({ [pagePath('123456789012345678')]: example });
    deepStrictEqual(await checkCatalogue(createFolderSource(catalogue), 'everything'), {
      files: 1,
      findings: [],
    });
  });

  it('shows what the checker prints', async () => {
    const shown = /^```text\n(bots\/[^]*?)^```$/m.exec(text)?.[1]?.trim().split('\n') ?? [];
    const example = exampleIn(text)
      .replace('"234567890123456789"', '234567890123456789')
      .replace('"education"', '"books"')
      .replace('https://example.com', 'http://example.com');
    const catalogue = tempFolder({ [pagePath('123456789012345678')]: example });
    const report = await checkCatalogue(createFolderSource(catalogue), 'everything');
    const printed = printReport(report, 'text').trim().split('\n');
    strictEqual(printed.length, shown.length);
    for (const [i, line] of shown.entries()) ok(printed[i]?.startsWith(line.replace(/…$/, '')), printed[i]);
  });

  it('has examples of a profile and of a collection that keep every rule', () => {
    const profile = blockIn('## Say who you are', /^```json\n([^]*?)^```$/m);
    const collection = blockIn('## Add a collection', /^```\w+\n(---\n[^]*?)^```$/m);
    const contents = new Map([
      ['people/5.json', profile],
      ['collections/small.en.md', collection],
    ]);
    deepStrictEqual(parseSideFiles(contents).faults, []);
  });

  it('explains every key and every category', () => {
    for (const word of [...keys(), ...defaultCategories]) ok(text.includes(`\`${word}\``), word);
  });
});

describe('docs/settings.md', () => {
  it('explains every key, with an example that keeps every rule', () => {
    const text = readPackageFile('docs/settings.md');
    for (const key of Object.keys(readSchema('settings')['properties'] as object))
      ok(text.includes(`- \`${key}\`: `), key);
    const example = /^```json\n([^]*?)^```$/m.exec(text)?.[1] ?? '';
    deepStrictEqual(parseSettings(Buffer.from(example)).faults, []);
  });
});

describe('the sample catalogue', () => {
  it('keeps every rule', async () => {
    deepStrictEqual((await checkCatalogue(createFolderSource(packageFolder), 'everything')).findings, []);
  });

  it('shows every key and every category', () => {
    const mains = mainPages();
    ok(mains.length >= 10);
    const shown = new Set(mains.flatMap((data) => Object.keys(data)));
    deepStrictEqual(
      keys().filter((key) => !shown.has(key)),
      [],
    );
    deepStrictEqual(
      defaultCategories.filter((category) => mains.every((data) => data['category'] !== category)),
      [],
    );
  });
});

function exampleIn(text: string): string {
  return /^```\w+\n(---\n[^]*?)^```$/m.exec(text)?.[1] ?? '';
}

function keys(): string[] {
  return Object.keys(readSchema('main-page')['properties'] as object);
}

function mainPages(): Record<string, unknown>[] {
  return readdirSync(`${packageFolder}/bots`, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.md'))
    .map((path) => parsePage(path, readFileSync(`${packageFolder}/bots/${path}`)).page?.data ?? {})
    .filter((data) => 'category' in data);
}
