import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { readSettings, type SettingsReading } from '../../src/catalogue/settings/settings.ts';
import { checkOutside, checkPath, checkSettingsChange, checkSwaps } from '../../src/check/change-rules.ts';
import type { ChangedFile } from '../../src/check/changed-files.ts';
import { readCases } from '../support/fixture-lines.ts';
import { saysWhatToDo } from '../support/pull-request.ts';

/** A change of a file, which is new where nothing else is said. */
function change(path: string, values: Partial<ChangedFile> = {}): ChangedFile {
  return { path, previousPath: null, kind: 'file', blob: null, ...values };
}

/** Returns `rule severity` of each finding, after its path where it is another one. */
function findIn(changed: ChangedFile): string[] {
  return [...checkPath(changed), ...checkOutside([changed])].map(({ path, rule, severity, message }) => {
    match(message, saysWhatToDo);
    return `${path === changed.path ? '' : `${path} `}${rule} ${severity}`;
  });
}

describe('a changed path', () => {
  for (const { input, expected } of readCases('changed-paths'))
    it(`${input} has ${expected.join(', ') || 'nothing to report'}`, () => {
      const [path, values] = input.split(' ← ').map((json) => JSON.parse(json) as unknown);
      deepStrictEqual(findIn(change(String(path), values as Partial<ChangedFile>)), expected);
    });

  it('has at most 1,024 bytes, and 255 in each name', () => {
    const names = `${'ü'.repeat(127)}x/`.repeat(4);
    strictEqual(Buffer.byteLength(names), 1024);
    for (const path of [names.slice(0, -1), `${names.slice(0, -2)}/y`, 'n'.repeat(255)])
      deepStrictEqual(checkPath(change(path)), []);
    for (const path of [`${names}y`, 'n'.repeat(256), `a/${'ü'.repeat(128)}`])
      deepStrictEqual(findIn(change(path)), [`${path.slice(0, 60)}… file-name error`]);
  });

  it('is refused where a file becomes a folder or a folder a file, at any depth, and not below bots/', () => {
    for (const [before, now, expected] of [
      ['a', 'a/b/c', ['a kind-stays this was a file and becomes a folder']],
      ['a/b', 'a/b/c', ['a/b kind-stays this was a file and becomes a folder']],
      ['a/b/c', 'a/b', ['a/b kind-stays this was a folder and becomes a file']],
      ['a/b', 'c', []],
      ['a/b', 'a/c', []],
      ['bots/007', 'bots/007/7.en.md', []],
    ] as const) {
      const found = checkSwaps([change(before, { previousPath: before, kind: 'gone' }), change(now)]);
      deepStrictEqual(
        found.map(({ path, rule, message }) => `${path} ${rule} ${message.split(':')[0]}`),
        expected,
      );
    }
  });
});

describe('a change of the settings', () => {
  const read = async (json: string): Promise<SettingsReading> => {
    const settings = JSON.parse(json) as unknown;
    const text = settings === null ? undefined : Buffer.from(JSON.stringify(settings, null, 2));
    return await readSettings(async () => await Promise.resolve(text));
  };

  for (const { input, expected } of readCases('settings-changes'))
    it(`${input} has ${expected.length} findings`, async () => {
      const [before = '', now = ''] = input.split(' → ');
      deepStrictEqual(
        checkSettingsChange(await read(now), (await read(before)).settings).map(
          ({ line, column, rule, severity, message }) => `${line}:${column} ${rule} ${severity}: ${message}`,
        ),
        expected,
      );
    });
});
