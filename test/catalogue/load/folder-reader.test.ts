import { noLimits } from '../../../src/catalogue/page/rules.ts';
import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FolderReading } from '../../../src/catalogue/load/folder-reader.ts';
import { readFingerprints, readFolders } from '../../../src/catalogue/load/folder-reader.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('reading a catalogue of more than 10,000 files in threads', () => {
  const root = tempFolder();
  const folders = Array.from({ length: 101 }, (_, i) => String(i).padStart(3, '0'));
  before(() => {
    for (const folder of folders) {
      mkdirSync(join(root, 'bots', folder), { recursive: true });
      for (let i = 0; i < 100; i++)
        writeFileSync(join(root, 'bots', folder, `${i}${folder}.en.md`), 'no page');
    }
  });

  it('hands over each folder once, with every file in it, and one that is gone without files', async () => {
    const readings: FolderReading[] = [];
    await readFolders(root, 'sha1', [...folders, 'gone'], noLimits, (reading) => readings.push(reading));
    deepStrictEqual(readings.map(({ folder }) => folder).toSorted(), [...folders, 'gone']);
    const files = readings.filter(({ folder }) => folder !== 'gone').map(({ stats }) => stats.size);
    deepStrictEqual(
      files,
      folders.map(() => 100),
    );
  });

  it('takes the fingerprint of each folder', async () => {
    const fingerprints = await readFingerprints(root);
    deepStrictEqual([...fingerprints.keys()], folders);
    strictEqual(new Set(fingerprints.values()).size, folders.length);
  });
});
