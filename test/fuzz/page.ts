import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { toCanonicalForm, editPage, parsePage } from '../../src/catalogue/page/page.ts';
import type { Fault } from '../../src/catalogue/page/fault.ts';
import { parsePageFile } from '../../src/catalogue/page/page-file.ts';
import { checkFiles, noLimits } from '../../src/catalogue/page/rules.ts';
import { path } from '../support/page-file.ts';
import { botId } from '../support/sample.ts';
import type { Locale } from '../../src/bot/locale.ts';
import type { Target } from './fuzzer.ts';
import { jsonWords, schemaWords, split } from './words.ts';

/**
 * A file of a bot is read as JSON.parse reads what is between its first two lines `---`, or every fault has a place in it,
 * a rule and a fix. What is read is the same after it was written, and nothing but the keys that an edit names changes.
 */
export const page: Target = {
  words: [
    ...split('--- \n---\n \r\n \r <<<<<<< ======= >>>>>>> ---js'),
    ...jsonWords,
    ...schemaWords('main-page'),
  ],
  libraries: ['gray-matter', 'jsonc-parser'],
  test: (input) => {
    const { page, faults } = parsePage(path, input);
    strictEqual(page === undefined, faults.length > 0);
    for (const fault of [...faults, ...checkFiles([parsePageFile(place, input)], noLimits).faults])
      ensureSound(fault, path, input);
    deepStrictEqual(Reflect.ownKeys(Object.prototype), keysOfObjects);
    if (page === undefined) return;
    const text = input.toString();
    const [, json = '', rest = ''] = /^[^\n]*\n([^]*?)(?<=\n)---(?:\r?\n|\r?$)([^]*)$/.exec(text) ?? [];
    deepStrictEqual(page.data, JSON.parse(json));
    strictEqual(
      page.page,
      rest
        .replaceAll('\r\n', '\n')
        .replace(/^(?:[ \t]*\n)+/, '')
        .trimEnd(),
    );
    for (const written of [toCanonicalForm(text), editPage(text, {})]) {
      const again = parsePage(path, Buffer.from(written));
      deepStrictEqual(again.page?.data, page.data);
      strictEqual(again.page?.page, page.page);
    }
    strictEqual(toCanonicalForm(toCanonicalForm(text)), toCanonicalForm(text));
    const edited = parsePage(path, Buffer.from(editPage(text, edits)));
    deepStrictEqual(edited.page?.data, { ...page.data, ...edits });
  },
};

const place = { id: botId('190519304972663312'), locale: 'en' as Locale };
const edits = { name: 'Marge', website: null };
const keysOfObjects = Reflect.ownKeys(Object.prototype);

/** Ensures that a fault has a place in its file, a rule and a fix. */
export function ensureSound(
  { path: at, line, column, rule, message }: Fault,
  path: string,
  bytes: Buffer,
): void {
  strictEqual(at, path);
  match(rule, /^[A-Za-z0-9-]+$/);
  match(message, /^[^\n]+: [^\n]+$/);
  const lines = bytes.toString('utf8').split('\n');
  ok(line >= 1 && line <= lines.length, `line ${line} of ${lines.length}`);
  ok(column >= 1 && column <= (lines[line - 1]?.length ?? 0) + 1, `column ${column} of line ${line}`);
}
