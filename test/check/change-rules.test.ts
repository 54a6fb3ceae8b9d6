import { deepStrictEqual, match } from 'node:assert/strict';
import { readSettings, type SettingsReading } from '../../src/catalogue/settings/settings.ts';
import { checkOutside, checkPath, checkSettingsChange } from '../../src/check/change-rules.ts';
import type { ChangedFile } from '../../src/check/changed-files.ts';
import { readCases } from '../support/fixture-lines.ts';
import { saysWhatToDo } from '../support/pull-request.ts';

/** A change of a file, which is new where nothing else is said. */
function change(path: string, values: Partial<ChangedFile> = {}): ChangedFile {
  return { path, previousPath: null, kind: 'file', blob: null, ...values };
}

/** Returns `rule severity` of each finding, after its path where it is another one. */
function findIn(changed: ChangedFile): string[] {
  return [...checkPath(changed), ...checkOutside([changed], new Set())].map(
    ({ path, rule, severity, message }) => {
      match(message, saysWhatToDo);
      return `${path === changed.path ? '' : `${path} `}${rule} ${severity}`;
    },
  );
}

describe('a changed path', () => {
  for (const { input, expected } of readCases('changed-paths'))
    it(`${input} has ${expected.join(', ') || 'nothing to report'}`, () => {
      const [path, values] = input.split(' ← ').map((json) => JSON.parse(json) as unknown);
      deepStrictEqual(findIn(change(String(path), values as Partial<ChangedFile>)), expected);
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
