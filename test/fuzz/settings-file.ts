import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportMap } from '../../schemas/types.ts';
import { toCanonicalForm, toCanonicalJson } from '../../src/catalogue/page/page.ts';
import { parseJsonFile } from '../../src/catalogue/page/side-file.ts';
import { parseBlocked, printBlocked, readBlocked } from '../../src/catalogue/settings/blocked.ts';
import { parseSettings } from '../../src/catalogue/settings/settings.ts';
import { parseSideFile, parseSideFiles } from '../../src/check/check.ts';
import { tempFolder } from '../support/temp-folder.ts';
import type { Target } from './fuzzer.ts';
import { cut } from './import-file.ts';
import { ensureSound } from './page.ts';
import { jsonWords, schemaWords, split } from './words.ts';

/** A file next to `bots/` is valid, and the same once it is formatted, or has faults with a place, a rule and a fix. */
export function openSettingsFile(): Target {
  const folder = tempFolder();
  /** The result of reading a file: its faults, or null. */
  const readers: Readonly<
    Record<string, (content: Buffer, path: string) => Promise<object[] | null> | object[] | null>
  > = {
    'botshelf.json': (content) => {
      const { settings, faults } = parseSettings(content, () => content);
      if (faults.length > 0) return [...faults];
      const written = toCanonicalJson(content.toString(), 'settings');
      strictEqual(toCanonicalJson(written, 'settings'), written);
      deepStrictEqual(parseSettings(Buffer.from(written), () => content).settings, settings);
      return null;
    },
    'blocked.json': (content) => {
      const file = join(folder, 'private.json');
      writeFileSync(file, content);
      const [parsed, hidden] = [parseBlocked(content), readBlocked(folder, file)];
      strictEqual('value' in parsed, 'value' in hidden);
      if ('faults' in hidden)
        for (const { message } of hidden.faults)
          match(message, /^the file that BOTSHELF_BLOCKED names breaks this rule: correct it$/);
      if ('faults' in parsed) return [...parsed.faults];
      const written = printBlocked(parsed.value);
      deepStrictEqual(parseBlocked(Buffer.from(written)), parsed);
      deepStrictEqual(
        { accounts: {}, bots: {}, hosts: {}, ...(JSON.parse(content.toString()) as object) },
        parsed.value,
      );
      return null;
    },
    'map.json': (content, path) => {
      const parsed = parseJsonFile<ImportMap>('import-map', path, content, { maxSize: 65_536 });
      if ('faults' in parsed) return [...parsed.faults];
      deepStrictEqual(parsed.value.data, JSON.parse(content.toString()));
      return null;
    },
    'people/7.json': readSideFile,
    'collections/a.en.md': readSideFile,
  };
  return {
    words: [
      ...jsonWords,
      ...schemaWords('settings', 'blocked', 'collection', 'profile', 'import-map'),
      ...Object.keys(readers).map((name) => `${name}\n`),
      ...split('\n---\n "#00ff7f" "https://a.example/" "example.org":{} "2026-01-02"'),
    ],
    libraries: ['jsonc-parser'],
    test: async (input) => {
      const [name, content] = cut(input);
      const faults = Object.hasOwn(readers, name) ? await readers[name]?.(content, name) : undefined;
      for (const fault of faults ?? [])
        ensureSound(fault as Parameters<typeof ensureSound>[0], name, content);
      ok(faults?.length !== 0);
    },
  };
}

function readSideFile(content: Buffer, path: string): object[] | null {
  const text = content.toString();
  const [parsed, beside] = [parseSideFile(path, content), parseSideFiles(new Map([[path, content]]))];
  if ('faults' in parsed) return [...parsed.faults, ...beside.faults];
  const written = path.endsWith('.md')
    ? toCanonicalForm(text, 'collection')
    : toCanonicalJson(text, 'profile');
  const again = parseSideFile(path, written);
  ok('value' in again);
  strictEqual(JSON.stringify(again.value), JSON.stringify(parsed.value));
  return null;
}
