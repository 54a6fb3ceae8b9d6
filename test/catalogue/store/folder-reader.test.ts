import { noLimits } from '../../../src/catalogue/page/rules.ts';
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FolderReading } from '../../../src/catalogue/store/folder-reader.ts';
import { readFolders } from '../../../src/catalogue/store/folder-reader.ts';
import { unpackFolder } from '../../../src/catalogue/store/packed-folder.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';

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

  it('hands over each folder once, with every file in it, and one that is gone without files @long', async () => {
    const readings: FolderReading[] = [];
    const task = { root, hash: 'sha1', limits: noLimits, folders: [...folders, 'gone'] } as const;
    await readFolders(task, (reading) => readings.push(reading));
    deepStrictEqual(readings.map(({ folder }) => folder).toSorted(), [...folders, 'gone']);
    const files = readings
      .filter(({ folder }) => folder !== 'gone')
      .map((reading) => unpackFolder(reading).stats.size);
    deepStrictEqual(
      files,
      folders.map(() => 100),
    );
  });
});

describe('reading a catalogue of few files', () => {
  it('lets the event loop go round between folders, so that requests get a response meanwhile', async () => {
    const root = tempFolder();
    const folders = Array.from({ length: 40 }, (_, i) => String(i).padStart(3, '0'));
    const pages = folders.flatMap((folder) => [0, 1, 2, 3, 4].map((i) => pagePath(`${i}${folder}`)));
    writeFiles(root, Object.fromEntries(pages.map((path) => [path, mainPage()])));
    let read = 0;
    const readBetween = new Set<number>();
    const look = (): void => {
      if (read > 0) readBetween.add(read);
      if (read < folders.length) setImmediate(look);
    };
    setImmediate(look);
    await readFolders({ root, hash: 'sha1', limits: noLimits, folders }, () => (read += 1));
    strictEqual(read, folders.length);
    readBetween.delete(folders.length);
    ok(readBetween.size > 0);
  });
});
